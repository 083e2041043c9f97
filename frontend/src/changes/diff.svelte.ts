// What a task changed, asked from the app when it is shown, and again when its agent has come to rest.
import { app, explain } from "../bridge/transport";
import type { TaskDiffOut } from "../gen/verbs";
import { parsePatch, type PatchFile } from "./patch";

export class Diff {
  out = $state.raw<TaskDiffOut>();
  files = $state.raw<ReadonlyMap<string, PatchFile>>(new Map());
  loading = $state(false);
  problem = $state<string>();
  private again = false;

  constructor(readonly task: string) {}

  /** Asks the app. A call that is made meanwhile is made once more afterwards. */
  async load(): Promise<void> {
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      this.out = await app.call("task_diff", { task: this.task });
      this.files = new Map(parsePatch(this.out.patch ?? "").map((f) => [f.path, f]));
      this.problem = undefined;
    } catch (error) {
      this.problem = explain(error);
    } finally {
      this.loading = false;
    }
    if (this.again) {
      this.again = false;
      await this.load();
    }
  }
}

const diffs = new Map<string, Diff>();

/** The diff of a task; panel and review show the same one. */
export function diffOf(task: string): Diff {
  let diff = diffs.get(task);
  if (!diff) {
    diff = new Diff(task);
    diffs.set(task, diff);
  }
  return diff;
}
