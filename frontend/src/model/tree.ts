// The sidebar's rows: projects, their tasks, and tasks that a task's agent made below it. Pure.
import type { Project, Task } from "../gen/verbs";

export type Row =
  | { kind: "project"; id: string; project: Project; count: number; folded: boolean }
  | { kind: "task"; id: string; task: Task; depth: number; last: boolean };

export interface Wanted {
  /** Shows what holds all of these words, in any order. */
  filter: string;
  /** Ids of projects whose tasks are hidden. A filter looks into them all the same. */
  folded: ReadonlySet<string>;
}

/** Depth beyond which rows are not indented further: the sidebar is 264 px wide. */
const maxDepth = 3;

/** Returns the rows from top to bottom. A task whose creator is not there stands where its project's own do. */
export function rowsOf(projects: readonly Project[], tasks: readonly Task[], wanted: Wanted): Row[] {
  const words = wanted.filter.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const rows: Row[] = [];
  for (const project of projects) {
    const own = tasks.filter((t) => t.project === project.id);
    const shown = words.length === 0 ? own : own.filter((t) => fits(t, words));
    if (words.length > 0 && shown.length === 0) continue;
    const folded = words.length === 0 && wanted.folded.has(project.id);
    rows.push({ kind: "project", id: project.id, project, count: own.length, folded });
    if (!folded) nest(shown, rows);
  }
  return rows;
}

function fits(task: Task, words: string[]): boolean {
  const text = `${task.name} ${task.project_name} ${task.agent} ${task.branch}`.toLowerCase();
  return words.every((w) => text.includes(w));
}

function nest(tasks: readonly Task[], rows: Row[]): void {
  const ids = new Set(tasks.map((t) => t.id));
  const children = new Map<string, Task[]>();
  for (const t of tasks) {
    const parent = t.creator !== undefined && t.creator !== t.id && ids.has(t.creator) ? t.creator : "";
    children.set(parent, [...(children.get(parent) ?? []), t]);
  }
  const placed = new Set<string>();
  const put = (list: readonly Task[], depth: number): void => {
    list.forEach((task, i) => {
      if (placed.has(task.id)) return;
      placed.add(task.id);
      rows.push({ kind: "task", id: task.id, task, depth: Math.min(depth, maxDepth), last: i === list.length - 1 });
      put(children.get(task.id) ?? [], depth + 1);
    });
  };
  put(children.get("") ?? [], 0);
  // Tasks that name each other as creators are no tree; none may vanish.
  put(tasks.filter((t) => !placed.has(t.id)), 0);
}
