// Everything that the page shows, and what changes of it: window_watch answers with the whole and with a ticket for
// the changes. A feed that ends, or that skips a number, begins again with the whole.
import type { Called, Endpoint, HeldCall, Project, Task, WindowWatchOut } from "../gen/verbs";
import { Lines } from "./lines";
import { app, stream } from "./transport";

/** One line of the feed (app/gui/feed.go). */
export interface Change {
  seq: number;
  projects?: Project[];
  forgot?: string[];
  tasks?: Task[];
  gone?: string[];
  endpoint?: Endpoint;
  calls?: Called[];
  /** Every call that waits for the person, when that has changed. */
  held?: HeldCall[];
  /** Id of the task to show, or "" to show only the window. */
  show?: string;
  /** How many agents work while the person wants to quit. */
  quit?: number;
}

export interface Listener {
  /** The whole, at first and after each gap. page names this load of the page to the app. */
  whole(state: WindowWatchOut, page: string): void;
  change(change: Change): void;
  /** The app does not answer, and why; undefined when it does again. */
  trouble(why: string | undefined): void;
}

const retryFirst = 250; // ms
const retryMost = 4000; // ms
/** The app sends a line every 5 s; three missed mean that the stream is dead. */
const silence = 16_000; // ms

/** Follows the app until signal ends. */
export async function follow(listener: Listener, signal: AbortSignal): Promise<void> {
  let pause = retryFirst;
  while (!signal.aborted) {
    try {
      await once(listener, signal, () => {
        pause = retryFirst;
        listener.trouble(undefined);
      });
    } catch (error) {
      if (signal.aborted) return;
      listener.trouble(error instanceof Error ? error.message : String(error));
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, retryMost);
  }
}

async function once(listener: Listener, signal: AbortSignal, opened: () => void): Promise<void> {
  const state = await app.call("window_watch", {});
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop, { once: true });
  let watchdog = setTimeout(stop, silence);
  try {
    const reader = await stream(`/feed/${state.ticket}`, own.signal);
    listener.whole(state, state.ticket);
    opened();
    const lines = new Lines();
    let last = 0;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, silence);
      for (const line of lines.push(value)) {
        const change = JSON.parse(line) as Change;
        if (change.seq === last) continue; // a sign of life
        if (change.seq !== last + 1) return; // something was missed: begin again
        last = change.seq;
        listener.change(change);
      }
    }
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", stop);
    own.abort();
  }
}
