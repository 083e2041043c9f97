// What the page knows of the app, as it is now. Only the feed changes it.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { follow, type Change } from "../bridge/feed";
import { app, host } from "../bridge/transport";
import type { Agent, Called, Endpoint, HeldCall, Project, Tab, Task, WindowWatchOut } from "../gen/verbs";
import { joined } from "./calls";
import { lookOf, type Look } from "./words";

class Store {
  /** Names this load of the page to the app; empty until the first whole is there. */
  page = $state("");
  ready = $state(false);
  trouble = $state<string>();
  version = $state("");
  dataDir = $state("");
  projects = $state.raw<Project[]>([]);
  endpoint = $state.raw<Endpoint>({ enabled: false });
  agents = $state.raw<Agent[]>([]);
  defaultAgent = $state("claude");
  /** Every call once, newest last: the outcome replaces the decision. */
  calls = $state.raw<Called[]>([]);
  /** Calls that wait for the person, the oldest first. */
  held = $state.raw<HeldCall[]>([]);
  /** Agents that work while the person wants to quit; undefined when nobody asks. */
  quitting = $state<number>();
  /** Milliseconds since 1970, once a second while the window is visible. */
  now = $state(Date.now());

  private readonly byId = new SvelteMap<string, Task>();
  /** Tasks by id whose last "done" was looked at, as id and time. */
  private readonly looked = new SvelteSet<string>();
  private readonly order = $derived([...this.byId.values()].sort((a, b) => a.created.localeCompare(b.created) || a.id.localeCompare(b.id)));
  private onShow: (task: string) => void = () => {};
  private onSettings: () => void = () => {};

  get tasks(): Task[] {
    return this.order;
  }

  task(id: string | undefined): Task | undefined {
    return id === undefined ? undefined : this.byId.get(id);
  }

  look(task: Task): Look {
    return this.held.some((h) => h.holder === task.id) ? "held" : lookOf(task, this.looked.has(mark(task)));
  }

  /** Takes a task in that an answer told of, before the feed does. */
  take(task: Task): void {
    this.byId.set(task.id, task);
  }

  /** Takes a tab in that an answer told of, before the feed does. */
  takeTab(id: string, tab: Tab): void {
    const task = this.byId.get(id);
    if (task && !task.tabs.some((t) => t.id === tab.id)) this.byId.set(id, { ...task, tabs: [...task.tabs, tab] });
  }

  /** Takes what a task shows now as seen. */
  see(task: Task): void {
    if (task.state === "done") this.looked.add(mark(task));
  }

  /** Tasks that wait for the person, the longest wait first. */
  readonly waiting = $derived(
    this.order.filter((t) => t.state === "waiting").sort((a, b) => since(a).localeCompare(since(b))),
  );

  counts = $derived.by(() => {
    // A call of an outside client waits with no task of its own.
    const counts = { need: this.held.filter((h) => !this.byId.has(h.holder)).length, working: 0, done: 0, rest: 0 };
    for (const task of this.order) {
      const look = this.look(task);
      if (look === "permission" || look === "held") counts.need++;
      else if (look === "working" || look === "starting") counts.working++;
      else if (look === "done") counts.done++;
      else counts.rest++;
    }
    return counts;
  });

  /** Follows the app for as long as the page lives. */
  start(on: { show: (task: string) => void; settings: () => void }): void {
    this.onShow = on.show;
    this.onSettings = on.settings;
    void follow(
      {
        whole: (state, page) => this.whole(state, page),
        change: (change) => this.change(change),
        trouble: (why) => (this.trouble = why),
      },
      new AbortController().signal,
    );
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1000);
  }

  async loadAgents(): Promise<void> {
    const known = await app.call("task_agents", {});
    this.agents = known.agents;
    this.defaultAgent = known.default;
  }

  async stay(): Promise<void> {
    this.quitting = undefined;
    await host("stay");
  }

  private whole(state: WindowWatchOut, page: string): void {
    this.version = state.version;
    this.dataDir = state.data_dir;
    this.projects = state.projects;
    this.endpoint = state.endpoint;
    this.held = state.held;
    this.calls = joined([], state.calls);
    const ids = new Set(state.tasks.map((t) => t.id));
    for (const id of this.byId.keys()) if (!ids.has(id)) this.byId.delete(id);
    for (const task of state.tasks) this.byId.set(task.id, task);
    this.page = page;
    this.ready = true;
    this.onSettings();
  }

  private change(change: Change): void {
    if (change.projects) this.projects = change.projects;
    else if (change.forgot) this.projects = this.projects.filter((p) => !change.forgot!.includes(p.id));
    if (change.held) this.held = change.held;
    if (change.endpoint) this.endpoint = change.endpoint;
    for (const id of change.gone ?? []) this.byId.delete(id);
    for (const task of change.tasks ?? []) this.byId.set(task.id, task);
    if (change.calls) {
      this.calls = joined(this.calls, change.calls);
      if (change.calls.some((c) => c.verb === "settings_set" && c.phase === "finished")) this.onSettings();
      if (change.calls.some((c) => c.verb.startsWith("agent_") && c.phase === "finished")) void this.loadAgents();
    }
    if (change.quit !== undefined) this.quitting = change.quit;
    if (change.show !== undefined) this.onShow(change.show);
  }
}

function since(task: Task): string {
  return task.tabs[0]?.since ?? task.created;
}

function mark(task: Task): string {
  return `${task.id} ${task.tabs.map((t) => t.since).join(" ")}`;
}

export const store = new Store();
