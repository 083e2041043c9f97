// What a task changed, asked from the app when it is shown, and again when its agent has come to rest.
import { app, explain } from "../bridge/transport";
import type { Commit, Discard, TaskDiffIn, TaskDiffOut } from "../gen/verbs";
import { parsePatch, plainPath, type PatchFile } from "./patch";

export type Against = "base" | "tip";

export class Diff {
  out = $state.raw<TaskDiffOut>();
  files = $state.raw<ReadonlyMap<string, PatchFile>>(new Map());
  problem = $state<string>();
  /** What it is compared with. */
  against = $state<Against>("base");
  /** The commit that is looked at instead of all changes. */
  commit = $state.raw<Commit>();
  /** The last discard that can be undone, once one was made or looked for. */
  discard = $state.raw<Discard>();
  private again = false;
  private running: Promise<void> | undefined;

  constructor(readonly task: string) {}

  private ask(more: Partial<TaskDiffIn> = {}): Promise<TaskDiffOut> {
    const what: TaskDiffIn = { task: this.task, ...more };
    if (this.commit) what.commit = this.commit.id;
    else if (this.against === "tip") what.against = "tip";
    return app.call("task_diff", what);
  }

  /** Asks the app. A call that is made meanwhile has it asked once more, and ends with that. */
  load(): Promise<void> {
    this.again = this.running !== undefined;
    this.running ??= this.loop().finally(() => (this.running = undefined));
    return this.running;
  }

  private async loop(): Promise<void> {
    do {
      this.again = false;
      try {
        const out = await this.ask();
        this.files = new Map(parsePatch(out.patch ?? "").map((f) => [f.path, f]));
        this.out = out;
        this.problem = undefined;
      } catch (error) {
        this.problem = explain(error);
      }
    } while (this.again);
  }

  async show(what: { against?: Against; commit?: Commit | undefined }): Promise<void> {
    if (what.against) this.against = what.against;
    this.commit = what.commit;
    await this.load();
  }

  /** The text of one file's change; undefined where there is none. */
  patch(path: string): PatchFile | undefined {
    return this.files.get(plainPath(path));
  }

  /** Asks for a file's text where the whole was cut before it. */
  async need(path: string): Promise<void> {
    if (this.patch(path) || !this.out?.truncated) return;
    const whole = this.out;
    try {
      const found = parsePatch((await this.ask({ path })).patch ?? "");
      if (this.out === whole) this.files = new Map([...this.files, ...found.map((f): [string, PatchFile] => [f.path, f])]);
    } catch (error) {
      this.problem = explain(error);
    }
  }

  async lookForDiscards(): Promise<void> {
    try {
      this.discard = (await app.call("task_discards", { task: this.task })).discards[0];
    } catch {
      this.discard = undefined; // there is nothing to offer then
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
