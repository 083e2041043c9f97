import { expect, test } from "vitest";
import type { Called, Tab, Task } from "../gen/verbs";
import { ago, decision, duration, lookOf, suggestName, tipOfTab } from "./words";

const tab: Tab = { id: "b1", name: "claude", agent: "claude", state: "idle", signal: "osc", since: "2026-01-01T00:00:00Z", queued: 0 };
const task = (state: Task["state"], more: Partial<Tab> = {}): Task => ({
  id: "t1", name: "x", project: "p1", project_name: "p", branch: "termic/x", base: "0", path: "/x", agent: "claude", cage: "off", mcp: false,
  live: false, archived: false, state, signal: "osc", created: "2026-01-01T00:00:00Z", tabs: [{ ...tab, ...more }],
});

test.each([
  ["waiting", {}, false, "permission"],
  ["done", {}, false, "done"],
  ["done", {}, true, "seen"],
  ["exited", {}, false, "exited"],
  ["exited", { exit: 1 }, false, "failed"],
  ["none", {}, false, "exited"],
  ["unknown", {}, false, "unknown"],
] as const)("a task that is %s %j, seen %s, looks %s", (state, more, seen, look) => {
  expect(lookOf(task(state, more), seen)).toBe(look);
});

test.each([
  [undefined, "claude · At rest"],
  [".", "claude · At rest"],
  ["src/a b", "claude · At rest · in src/a b"],
])("the tooltip of a tab in %j", (dir, want) => {
  expect(tipOfTab({ ...tab, ...(dir === undefined ? {} : { dir }) })).toBe(want);
});

test.each([
  ["2026-01-01T00:00:00Z", 4_000, "now"],
  ["2026-01-01T00:00:00Z", 59_999, "59s"],
  ["2026-01-01T00:00:00Z", 60_000, "1m"],
  ["2026-01-01T00:00:00Z", 3_600_000, "1h"],
  ["2026-01-01T00:00:00Z", 86_400_000 * 3, "3d"],
  ["2026-01-01T00:00:10Z", 0, "now"],
  ["no time", 0, ""],
])("since %s after %d ms is %s", (since, after, want) => {
  expect(ago(since, Date.parse("2026-01-01T00:00:00Z") + after)).toBe(want);
});

test.each([
  ["Fix the flaky login test, please", "fix-flaky-login-test"],
  ["Größe der Überschrift prüfen", "gro-e-der-uberschrift"],
  ["漢字", ""],
  ["the a of", "the-a-of"],
])("a name for %j is %j", (prompt, want) => {
  expect(suggestName(prompt, new Set())).toBe(want);
});

test("a taken name is numbered", () => {
  expect(suggestName("fix login", new Set(["fix-login", "fix-login-2"]))).toBe("fix-login-3");
});

const call = (more: Partial<Called>): Called => ({
  request: "r", time: "", phase: "finished", verb: "task_new", class: "write", way: "mcp", caller: "task", allow: true, ...more,
});

test.each([
  [call({ phase: "decided" }), "Allowed. Under way."],
  [call({ phase: "held" }), "Waits for your answer."],
  [call({ ms: 1900 }), "Allowed. Took 1.9 s."],
  [call({ code: "conflict" }), "Allowed, but it ended in conflict."],
  [call({ allow: false, code: "exceeds_grant", why: "hosts" }), "Refused. It would reach more than its grant does."],
  [call({ allow: false }), "Refused."],
])("a call in words: %#", (c, want) => expect(decision(c)).toBe(want));

test("durations", () => expect([duration(12), duration(1900), duration(125_000)]).toEqual(["12 ms", "1.9 s", "2 min 5 s"]));
