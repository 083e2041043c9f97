import { expect, test } from "vitest";
import { bound, shown, textOf, unusable, type Pressed } from "./keys";

const press = (key: string, code: string, more: Partial<Pressed> = {}): Pressed => ({ key, code, ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, ...more });

test.each<[string, Pressed, string]>([
  ["a letter with Ctrl and Shift", press("P", "KeyP", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+P"],
  ["a letter where the layout puts it (Dvorak)", press("L", "KeyP", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+L"],
  ["the place of a key whose character is no Latin letter (Russian)", press("З", "KeyP", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+P"],
  ["a digit, not what Shift makes of it", press("!", "Digit1", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+1"],
  ["an arrow", press("ArrowLeft", "ArrowLeft", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+Left"],
  ["a function key", press("F6", "F6", { ctrlKey: true }), "Ctrl+F6"],
  ["a modifier alone", press("Shift", "ShiftLeft", { shiftKey: true }), ""],
  ["AltGr alone", press("AltGraph", "AltRight"), ""],
  ["a composing key", press("Process", "KeyA"), ""],
])("%s", (_, event, want) => expect(textOf(event)).toBe(want));

test("on a Mac ⌘ stands for Ctrl+Shift", () => {
  expect(bound("Meta+P", true)).toBe("Ctrl+Shift+P");
  expect(bound("Shift+Meta+P".replace("Shift+Meta", "Meta+Shift"), true)).toBe("Ctrl+Shift+P");
  expect(bound("Meta+P", false)).toBe("Meta+P");
  expect(shown("Ctrl+Shift+P", true)).toBe("⌘P");
  expect(shown("Ctrl+Shift+P", false)).toBe("Ctrl+Shift+P");
});

test.each([
  ["Ctrl+Shift+K", true], ["Ctrl+Alt+K", true], ["Ctrl+PageUp", true], ["Ctrl+F6", true],
  ["K", false], ["Ctrl+K", false], ["Alt+K", false], ["Shift+K", false], ["F5", false], ["Shift+F5", false],
])("%s may be bound: %s", (keys, ok) => expect(unusable(keys) === undefined).toBe(ok));
