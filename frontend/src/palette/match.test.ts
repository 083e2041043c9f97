import { expect, test } from "vitest";
import { match } from "./match";

test.each([
  ["", "anything", true],
  ["re", "Restore a task", true],
  ["rat", "Restore a task", true],
  ["task re", "Restore a task", true],
  ["est", "Restore a task", true],
  ["xq", "Restore a task", false],
  ["eat", "Restore a task", false],
])("%j fits %j: %s", (query, text, fits) => expect(match(query, text) !== undefined).toBe(fits));

test("the beginning of the text wins over the beginning of a word, and that over the middle", () => {
  const order = ["Core", "A recent one", "Recent"].sort((a, b) => match("re", b)!.score - match("re", a)!.score);
  expect(order).toEqual(["Recent", "A recent one", "Core"]);
});

test("the letters that fit are told", () => expect(match("rt", "Restore task")?.at).toEqual([0, 3]));
