// Parts of the page that the first paint does without: each is a chunk of its own, fetched once the window is quiet, or at
// once when it is asked for.
import type { Component } from "svelte";
import { view } from "../model/view.svelte";

export class Late {
  /** The part, once it is there. */
  part = $state.raw<Component>();
  private asked = false;

  constructor(private readonly fetch: () => Promise<{ default: Component }>) {}

  /** Fetches the part unless that was asked before. One that does not come is said, and asked for again the next time. */
  load(): void {
    if (this.asked) return;
    this.asked = true;
    this.fetch().then(
      (got) => (this.part = got.default),
      () => {
        this.asked = false;
        view.say("A part of the window did not load. Open it again.", true);
      },
    );
  }
}
