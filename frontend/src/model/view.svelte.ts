// What the window shows of what there is: the current task, where its tabs stand, what is open. It outlives a reload
// of the page, and nothing outside the page depends on it.
import { SvelteMap } from "svelte/reactivity";
import type { CageDraftOut, Task } from "../gen/verbs";
import * as layouts from "./layout";
import { store } from "./store.svelte";

export type Dialog =
  | { kind: "new-task"; project?: string }
  | { kind: "add-project" }
  | { kind: "archive"; task: string }
  | { kind: "restore" }
  | { kind: "rename"; task: string }
  | { kind: "cage"; task: string; draft?: CageDraftOut }
  | { kind: "queue"; task: string; tab: string }
  | { kind: "send"; task: string; tab: string }
  | { kind: "disk"; task: string }
  | { kind: "purge"; task: Task }
  | { kind: "project"; project: string }
  | { kind: "outside"; task: string }
  | { kind: "apply"; task: string; undo: boolean }
  | { kind: "client"; client: string; act: "add" | "remove" | "show" }
  | { kind: "close-tab"; task: string; tab: string }
  | { kind: "remove-project"; project: string }
  | { kind: "palette"; only: "all" | "tasks" }
  | { kind: "paste"; text: string; paste: (text: string) => void };

export type PanelTab = "changes" | "control";
export type SettingsPage = "general" | "appearance" | "agents" | "shortcuts" | "control" | "about";

function kept(key: string): string | null {
  try {
    return localStorage.getItem(`termic.${key}`);
  } catch {
    return null; // no storage: the window then begins anew each time
  }
}

function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`termic.${key}`);
    else localStorage.setItem(`termic.${key}`, value);
  } catch {
    // As above.
  }
}

/** Width of the window in CSS pixels from which the panel stands beside the terminal. */
const panelFits = 1200;

class View {
  current = $state<string | undefined>(kept("task") ?? undefined);
  dialog = $state.raw<Dialog>();
  settings = $state<SettingsPage>();
  /** Where it would lie over the terminal, the panel is closed until it is asked for. */
  panel = $state(kept("panel") !== "closed" && window.innerWidth >= panelFits);
  panelTab = $state<PanelTab>(kept("panel-tab") === "control" ? "control" : "changes");
  folded = $state(kept("sidebar") === "folded");
  /** Width of the window in CSS pixels, which zoom makes smaller. */
  width = $state(window.innerWidth);
  /** Path of the file that the review shows, by task. */
  readonly file = new SvelteMap<string, string>();
  readonly foldedProjects = new SvelteMap<string, true>();
  /** Tasks that are being made, each with its name: they have no id yet. */
  creating = $state.raw<{ key: string; name: string; project: string }[]>([]);
  /** Keys are being chosen for a shortcut: they are no shortcuts meanwhile. */
  choosingKeys = $state(false);
  /** The one sentence that is said at the bottom when something did not work. */
  notice = $state<{ text: string; bad: boolean }>();
  private readonly byTask = new SvelteMap<string, layouts.Layout>();

  /** The rail stands for the sidebar where there is no room for it. */
  get rail(): boolean {
    return this.folded || this.width < 1000;
  }

  /** The panel lies over the terminal where it would squeeze it. */
  get panelFloats(): boolean {
    return this.width < panelFits;
  }

  get task() {
    return store.task(this.current);
  }

  open(task: string): void {
    this.settings = undefined;
    this.current = task;
    keep("task", task);
  }

  layout(task: string): layouts.Layout {
    return this.byTask.get(task) ?? layouts.parseLayout(kept(`layout.${task}`)) ?? layouts.newLayout();
  }

  setLayout(task: string, layout: layouts.Layout): void {
    this.byTask.set(task, layout);
    keep(`layout.${task}`, JSON.stringify(layout));
  }

  change(task: string, change: (layout: layouts.Layout) => layouts.Layout): void {
    const now = this.layout(task);
    const next = change(now);
    if (next !== now) this.setLayout(task, next);
  }

  forget(task: string): void {
    this.byTask.delete(task);
    this.file.delete(task);
    keep(`layout.${task}`, null);
  }

  /** The item that has the focus in the current task. */
  get activeItem(): string | undefined {
    return this.current === undefined ? undefined : layouts.focused(this.layout(this.current)).active;
  }

  togglePanel(tab?: PanelTab): void {
    if (tab !== undefined && (!this.panel || this.panelTab !== tab)) {
      this.panel = true;
      this.panelTab = tab;
    } else {
      this.panel = !this.panel;
    }
    this.keepPanel();
  }

  showPanel(tab: PanelTab): void {
    this.panel = true;
    this.panelTab = tab;
    this.keepPanel();
  }

  private keepPanel(): void {
    keep("panel", this.panel ? null : "closed");
    keep("panel-tab", this.panelTab);
  }

  toggleSidebar(): void {
    this.folded = !this.folded;
    keep("sidebar", this.folded ? "folded" : null);
  }

  say(text: string, bad = false): void {
    this.notice = { text, bad };
  }
}

export const view = new View();
