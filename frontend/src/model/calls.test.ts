import { expect, test } from "vitest";
import type { Called } from "../gen/verbs";
import { joined, together } from "./calls";

const call = (request: string, phase: Called["phase"] = "finished"): Called => ({ request, phase, time: `at-${phase}`, verb: "task_send", class: "write", way: "mcp", caller: "task", allow: true });
const names = (calls: Called[]) => calls.map((c) => c.request).join(" ");

test("an outcome takes the place of its decision, and keeps when it was asked", () => {
  const list = joined([call("a", "decided"), call("b", "decided")], [call("a"), call("c")]);
  expect(names(list)).toBe("a b c");
  expect(list[0]).toMatchObject({ phase: "finished", time: "at-decided" });
});

test("only the newest thousand are kept", () => {
  const list = joined(Array.from({ length: 1000 }, (_, i) => call(`n${i}`)), [call("newest")]);
  expect([list.length, list[0]?.request, list.at(-1)?.request]).toEqual([1000, "n1", "newest"]);
});

test.each([
  ["others pushed the first ones out", ["a", "b", "c"], ["c", "d"], "a b c d"],
  ["the page saw earlier ones than were kept", ["b", "c"], ["a", "b", "c", "d"], "a b c d"],
  ["nothing was kept", [], ["a"], "a"],
  ["the page saw none", ["a"], [], "a"],
  ["all is newer than what was kept", ["a"], ["b"], "a b"],
])("two lists of one task become one, in order: %s", (_, kept, seen, want) => {
  expect(names(together(kept.map((r) => call(r)), seen.map((r) => call(r))))).toBe(want);
});
