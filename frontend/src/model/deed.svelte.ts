// What a dialog does when the person agrees to it. The person may leave the dialog before the answer comes, and open
// another: what comes then is said below the window, and closes nothing.
import { explain } from "../bridge/transport";
import { view, type Dialog } from "./view.svelte";

/** One deed of a dialog, made while its component is set up. */
export class Deed {
  busy = $state(false);
  problem = $state<string>();
  private gone = false;

  constructor() {
    $effect(() => () => void (this.gone = true));
  }

  /**
   * Asks once at a time, and gives the answer to ended. What ended needs of the component's properties is read before: they
   * are gone with it.
   */
  async run<T>(ask: () => Promise<T>, ended: (out: T) => void): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.problem = undefined;
    try {
      ended(await ask());
    } catch (error) {
      if (this.gone) view.say(explain(error), true);
      else this.problem = explain(error);
    } finally {
      this.busy = false;
    }
  }

  /** Leaves the dialog for the next one or none. Returns false where the person has left it already. */
  close(next?: Dialog): boolean {
    if (this.gone) return false;
    view.dialog = next;
    return true;
  }
}

/** Returns what a form does with a key: Ctrl+Enter from any field is its button. */
export function onCtrlEnter(run: (event: Event) => Promise<void>): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void run(event);
  };
}
