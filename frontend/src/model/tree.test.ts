import { expect, test } from "vitest";
import type { Project, Task } from "../gen/verbs";
import { rowsOf } from "./tree";

const project = (id: string): Project => ({ id, name: `name-${id}`, path: "/", default_branch: "main", tasks: 0 });
const task = (id: string, creator?: string, p = "p"): Task => ({
  id, name: `task ${id}`, project: p, project_name: `name-${p}`, branch: `termic/${id}`, base: "", path: "", agent: "claude", cage: "off", mcp: false,
  live: false, archived: false, state: "idle", signal: "osc", created: "", tabs: [], ...(creator === undefined ? {} : { creator }),
});
const show = (projects: Project[], tasks: Task[], filter = "", folded: string[] = []) =>
  rowsOf(projects, tasks, { filter, folded: new Set(folded) }).map((r) => (r.kind === "project" ? `${r.id}(${r.count})` : `${"-".repeat(r.depth)}${r.id}${r.last ? "." : ""}`));

test.each<[string, string[], string[]]>([
  ["children stand below their creator", ["a", "b<a", "c", "d<b", "e<a"], ["p(5)", "a", "-b", "--d.", "-e.", "c."]],
  ["a child whose creator is gone stands with the others", ["a", "b<gone"], ["p(2)", "a", "b."]],
  ["tasks that name each other are both there", ["a<b", "b<a"], ["p(2)", "a", "-b."]],
  ["a task that names itself is there", ["a<a"], ["p(1)", "a."]],
])("%s", (_, specs, want) => {
  const tasks = specs.map((s) => { const [id, creator] = s.split("<"); return task(id!, creator); });
  expect(show([project("p")], tasks)).toEqual(want);
});

test("a folded project shows its count alone, and a filter looks into it", () => {
  const tasks = [task("a"), task("b")];
  expect(show([project("p")], tasks, "", ["p"])).toEqual(["p(2)"]);
  expect(show([project("p")], tasks, "task B", ["p"])).toEqual(["p(2)", "b."]);
});

test("a filter hides projects with nothing that fits", () => {
  expect(show([project("p"), project("q")], [task("a"), task("b", undefined, "q")], "name-q")).toEqual(["q(1)", "b."]);
});

test("a child that fits is shown without its creator", () => {
  expect(show([project("p")], [task("a"), task("b", "a")], "task b")).toEqual(["p(2)", "b."]);
});
