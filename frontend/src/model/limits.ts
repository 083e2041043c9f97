// What a task's cage may take of the machine: words for what holds, and what a form comes to.
import type { CageEditIn, TaskLimit } from "../gen/verbs";

/** What stands in the fields: nothing is as the settings say, 0 is any amount. */
export type Chosen = Partial<Record<TaskLimit["name"], number | null>>;

/** The fields as a task has them. */
export function chosenOf(limits: readonly TaskLimit[]): Chosen {
  return Object.fromEntries(limits.filter((l) => l.own).map((l) => [l.name, l.max]));
}

/** Those that differ from what the task has, as the verb takes them. */
export function limitEdit(limits: readonly TaskLimit[], chosen: Chosen): Pick<CageEditIn, "memory" | "processes" | "cpu_weight"> {
  const had = chosenOf(limits);
  const edit: Pick<CageEditIn, "memory" | "processes" | "cpu_weight"> = {};
  for (const name of ["memory", "processes", "cpu_weight"] as const) {
    const wants = chosen[name] ?? -1;
    if (wants !== (had[name] ?? -1)) edit[name] = wants;
  }
  return edit;
}

/** Whether the running cage is held to a limit, and what it takes. */
export function limitWords(limit: TaskLimit | undefined): string {
  if (!limit) return "";
  const takes = limit.uses === undefined ? "" : `takes ${limit.uses} now`;
  if (limit.max === 0) return takes === "" ? "Not limited." : `Not limited; it ${takes}.`;
  if (limit.held) return `Held to ${limit.max}${takes === "" ? "" : `; it ${takes}`}.`;
  return `Not held: ${limit.why ?? "it is not known why"}.`;
}
