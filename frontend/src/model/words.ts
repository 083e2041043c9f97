// States, times and cages in words. Pure.
import type { Called, HeldCall, PastText, QueueListOut, Tab, Task } from "../gen/verbs";

export type Look = "permission" | "held" | "working" | "starting" | "done" | "seen" | "idle" | "exited" | "failed" | "refused" | "unknown";

/** How a task looks: what its state is, and whether the person has seen that it is done. */
export function lookOf(task: Task, seen: boolean): Look {
  switch (task.state) {
    case "waiting":
      return "permission";
    case "working":
      return "working";
    case "starting":
      return "starting";
    case "done":
      return seen ? "seen" : "done";
    case "exited":
      return mainTab(task)?.exit ? "failed" : "exited";
    case "none":
      return "exited";
    case "idle":
      return "idle";
    case "unknown":
      return "unknown";
  }
}

export function lookOfTab(tab: Tab, seen: boolean): Look {
  if (tab.state === "exited") return tab.exit ? "failed" : "exited";
  if (tab.state === "waiting") return "permission";
  if (tab.state === "done") return seen ? "seen" : "done";
  return tab.state;
}

/** What a tab's tooltip says: its name, its state, and where below the checkout its program says it is. */
export function tipOfTab(tab: Tab): string {
  const where = tab.dir === undefined || tab.dir === "." ? "" : ` · in ${tab.dir}`;
  return `${tab.name} · ${inWords(lookOfTab(tab, false))}${where}`;
}

/** The tab that stands for the task: its first agent's, else its first. */
export function mainTab(task: Task): Tab | undefined {
  return task.tabs.find((tab) => tab.agent !== "shell") ?? task.tabs[0];
}

const looks: Record<Look, string> = {
  permission: "Waits for you",
  held: "Held call",
  working: "Working",
  starting: "Starting",
  done: "Done",
  seen: "Done, looked at",
  idle: "At rest",
  exited: "Ended",
  failed: "Ended with an error",
  refused: "Refused",
  unknown: "State not known",
};

export function inWords(look: Look): string {
  return looks[look];
}

const signals: Record<string, string> = {
  none: "no signal yet",
  hook: "reported by the agent",
  osc: "reported by the agent",
  process: "seen at the process",
  title: "guessed from the title",
  screen: "guessed from the screen",
  quiet: "guessed from silence",
};

export function signalWords(signal: string): string {
  return signals[signal] ?? signal;
}

/** Time since a moment, short enough for a row: now, 40s, 12m, 3h, 2d. */
export function ago(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

export function clock(time: string): string {
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export type Cage = Task["cage"];

export const cages: readonly { mode: Cage; name: string; means: string }[] = [
  { mode: "off", name: "Off", means: "No limits" },
  { mode: "monitor", name: "Monitor", means: "Logs only" },
  { mode: "enforce-fs", name: "Files", means: "Network open" },
  { mode: "enforce", name: "Enforce", means: "Files and network" },
];

export function cageWords(cage: Cage): string {
  switch (cage) {
    case "off":
      return "No cage";
    case "monitor":
      return "Monitored, nothing is blocked";
    case "enforce-fs":
      return "Files cage, network open";
    case "enforce":
      return "Enforced cage";
  }
}

/** One sentence for a call: the decision, then why. */
export function decision(call: Called): string {
  if (call.phase === "held") return "Waits for your answer.";
  if (call.phase === "decided" && call.allow) return "Allowed. Under way.";
  if (call.allow && !call.code) return call.ms !== undefined && call.ms > 0 ? `Allowed. Took ${duration(call.ms)}.` : "Allowed.";
  if (call.allow) return `Allowed, but it ended in ${call.code}.`;
  const why = codeWords[call.code ?? ""] ?? call.why ?? call.code ?? "";
  return why === "" ? "Refused." : `Refused. ${why}`;
}

const codeWords: Record<string, string> = {
  bad_input: "Its arguments do not fit.",
  not_permitted: "This caller may not do this.",
  exceeds_grant: "It would reach more than its grant does.",
  revoked: "Its grant has ended.",
  not_found: "It was told that no such thing exists.",
  ambiguous: "The name fits more than one thing.",
  unsupported: "This machine or this version cannot do it.",
  conflict: "The state of things forbids it.",
  needs_input: "The agent waits for an answer that only you may give.",
  held: "It waited for you, and nobody answered in time.",
  busy: "Too much at once.",
};

export function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Bytes as a person reads them. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`;
  return `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** A name for a task from its prompt: a few words as the verbs take them. Empty when nothing is left. */
export function suggestName(prompt: string, taken: ReadonlySet<string>): string {
  const small = new Set(["a", "an", "the", "to", "of", "in", "on", "and", "or", "is", "are", "be", "it", "that", "this", "with", "for", "please", "should", "so"]);
  const words = prompt
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  if (!words) return "";
  const telling = words.filter((w) => !small.has(w));
  let base = (telling.length > 0 ? telling : words).slice(0, 4).join("-").slice(0, 40).replace(/-+$/, "");
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`;
}

/** Why a text that waits is not typed now. */
export const holds: Record<NonNullable<QueueListOut["hold"]>, string> = {
  starting: "The agent is starting.",
  working: "The agent works. The next one is typed once it has settled.",
  question: "The agent asks something. Answer it in its terminal.",
  unknown: "What the agent does is not understood; nothing is typed until it is.",
  typing: "You are typing. The next one is typed once you have stopped.",
  draft: "A draft stands in its box. The next one is typed once the box is empty.",
  box: "Its box is not on its screen.",
  behind: "Other texts come first.",
  exited: "The agent has ended. They wait for the tab that takes its place.",
};

/** What became of a text. */
export const fates: Record<PastText["fate"], string> = {
  submitted: "taken",
  unconfirmed: "typed, not seen to be taken",
  failed: "not typed",
  dropped: "dropped: its sender may no longer send it",
  cancelled: "taken out",
};

/** What a call that waits would do, as a question. The names in it are not ours: show it isolated. */
export function question(call: HeldCall): string {
  const target = call.task ?? call.project;
  const said = questions[call.verb];
  if (!said) return `Call ${call.verb}${target ? ` on “${target}”` : ""}?`;
  return target ? `${said[0]} “${target}”?` : `${said[1]}?`;
}

/** What is asked, with a target and without one. */
const questions: Record<string, readonly [string, string]> = {
  task_archive: ["Archive", "Archive a task"],
  task_new: ["Create a task in", "Create a task"],
  task_send: ["Send a text to", "Send a text"],
  task_broadcast: ["Send a text to", "Send a text to several tasks"],
  task_apply: ["Apply", "Apply a task"],
  task_rename: ["Rename", "Rename a task"],
  task_tab: ["Open a tab in", "Open a tab"],
  task_tab_close: ["Close a tab of", "Close a tab"],
  task_open: ["Show", "Bring the window to the front"],
  project_add: ["Add the project", "Add a project"],
  project_remove: ["Forget the project", "Forget a project"],
};

/** The arguments of a call, one a line: their names, and their values as text. They are an agent's text. */
export function argumentsOf(call: HeldCall): { name: string; value: string }[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(call.arguments);
  } catch {
    return [{ name: "arguments", value: call.arguments }];
  }
  if (typeof parsed !== "object" || parsed === null) return [{ name: "arguments", value: call.arguments }];
  return Object.entries(parsed).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? value : Array.isArray(value) && value.every((v) => typeof v === "string") ? value.join(", ") : JSON.stringify(value),
  }));
}

/** Time that is left until a moment: 0:48, 12:05. */
export function left(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Puts names for the ids of projects that a sentence of the app quotes. */
export function named(sentence: string, projects: readonly { id: string; name: string }[]): string {
  return projects.reduce((text, p) => text.replaceAll(`"${p.id}"`, p.name), sentence);
}
