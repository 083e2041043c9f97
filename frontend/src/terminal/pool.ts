// Terminals outlive their place on the page for a while: going back to a tab shows it as it was. One that nobody
// looked at for a minute is let go, so that hidden tabs cost nothing; it comes back from the app's own picture.
import { Term, type Events, type Look } from "./term";

const linger = 60_000; // ms

interface Slot {
  term: Term;
  timer: ReturnType<typeof setTimeout> | undefined;
}

class Pool {
  private readonly slots = new Map<string, Slot>();
  /** Tabs whose programs may not ask for the clipboard any more. */
  readonly silenced = new Set<string>();

  /** Returns the terminal of a tab, for a place on the page. */
  take(task: string, tab: string, look: Look, events: Events): Term {
    let slot = this.slots.get(tab);
    if (!slot) {
      slot = { term: new Term(task, tab, look, events), timer: undefined };
      this.slots.set(tab, slot);
    }
    clearTimeout(slot.timer);
    slot.timer = undefined;
    slot.term.listen(events);
    slot.term.setLook(look);
    return slot.term;
  }

  /** Gives a terminal back when its place is gone. */
  release(tab: string): void {
    const slot = this.slots.get(tab);
    if (!slot) return;
    slot.term.unmount();
    slot.timer ??= setTimeout(() => this.drop(tab), linger);
  }

  drop(tab: string): void {
    const slot = this.slots.get(tab);
    clearTimeout(slot?.timer);
    slot?.term.dispose();
    this.slots.delete(tab);
  }

  get(tab: string | undefined): Term | undefined {
    return tab === undefined ? undefined : this.slots.get(tab)?.term;
  }

  /** Lets go of the terminals of tabs that are gone. */
  keepOnly(tabs: ReadonlySet<string>): void {
    for (const tab of [...this.slots.keys()]) if (!tabs.has(tab)) this.drop(tab);
  }

  setLook(look: Look): void {
    for (const { term } of this.slots.values()) term.setLook(look);
  }

  setColours(): void {
    for (const { term } of this.slots.values()) term.setColours();
  }
}

export const pool = new Pool();
