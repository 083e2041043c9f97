// Keys as text: Ctrl+Shift+P. Pure but for isMac.

/** The same actions have ⌘ on a Mac where they have Ctrl+Shift elsewhere. */
export const isMac = typeof navigator !== "undefined" && /Mac/.test(navigator.platform);

export interface Pressed {
  key: string;
  code: string;
  ctrlKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

const named: Record<string, string> = {
  ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down", " ": "Space", Escape: "Esc", "+": "Plus",
};
const modifiers = ["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"];

/** Returns the pressed keys as text, or "" for modifiers alone and for what an input method is composing. */
export function textOf(event: Pressed): string {
  if (modifiers.includes(event.key)) return "";
  const parts = [];
  if (event.ctrlKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey) parts.push("Shift");
  if (event.metaKey) parts.push("Meta");
  // With Shift the key's character changes with the layout; letters, digits and punctuation are named by their place.
  const place = /^Key([A-Z])$/.exec(event.code)?.[1] ?? /^Digit(\d)$/.exec(event.code)?.[1];
  const letter = /^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : undefined;
  parts.push(letter ?? place ?? named[event.key] ?? event.key);
  return parts.join("+");
}

/** Returns keys as they are shown here. */
export function shown(keys: string, mac = isMac): string {
  return mac ? keys.replace("Ctrl+Shift+", "⌘").replace("Ctrl+", "⌃").replace("Shift+", "⇧").replace("Alt+", "⌥") : keys;
}

/** The keys that a person pressed, as they are bound: ⌘X on a Mac is Ctrl+Shift+X. */
export function bound(keys: string, mac = isMac): string {
  if (!mac || !keys.includes("Meta+")) return keys;
  const rest = keys.replace("Meta+", "");
  return rest.startsWith("Shift+") ? `Ctrl+${rest}` : `Ctrl+Shift+${rest}`;
}

/** Why keys cannot be given to an action, or undefined. Plain keys, Ctrl+letter, Alt+letter belong to the terminal. */
export function unusable(keys: string): string | undefined {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const held = new Set(parts.slice(0, -1));
  if (held.has("Meta") || (held.has("Ctrl") && (held.has("Shift") || held.has("Alt")))) return undefined;
  if (held.has("Ctrl") && /^(PageUp|PageDown|Tab|F\d+|Plus|-|0|=)$/.test(key)) return undefined;
  if (held.has("Ctrl") && key.length > 1) return undefined;
  return "Plain keys, Ctrl+letter and Alt+letter belong to the terminal. Use Ctrl+Shift.";
}
