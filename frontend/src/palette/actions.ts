// Everything that the window can do, each with its name and its keys. Menus, palette and keys all come from here.
import { app, explain } from "../bridge/transport";
import * as layouts from "../model/layout";
import { prefs } from "../model/prefs.svelte";
import { store } from "../model/store.svelte";
import { view } from "../model/view.svelte";
import { count, mainTab } from "../model/words";
import { pool } from "../terminal/pool";

export interface Action {
  id: string;
  title: string;
  icon: string;
  /** Built-in keys; "" for none. */
  keys: string;
  /** Whether it needs a current task. */
  needsTask?: boolean;
  run(): void | Promise<void>;
}

/** Opens another tab in a task: a shell unless an agent is named. */
export async function openTab(task: string, agent = "shell", split?: layouts.Split["direction"]): Promise<void> {
  try {
    const { tab } = await app.call("task_tab", { task, agent });
    store.takeTab(task, tab);
    view.change(task, (l) => (split ? layouts.split(l, split, tab.id) : layouts.add(l, tab.id)));
    view.open(task);
  } catch (error) {
    view.say(explain(error), true);
  }
}

/** Closes what the focused group shows, asking first where something still runs. */
export async function closeItem(task: string, item: string): Promise<void> {
  if (item === layouts.review) {
    view.change(task, (l) => layouts.remove(l, item));
    return;
  }
  const tab = store.task(task)?.tabs.find((t) => t.id === item);
  if (tab && (tab.state === "working" || tab.state === "waiting" || (tab.state === "starting" && tab.agent !== "shell"))) {
    view.dialog = { kind: "close-tab", task, tab: item };
    return;
  }
  await endTab(task, item);
}

export async function endTab(task: string, tab: string): Promise<void> {
  try {
    await app.call("task_tab_close", { task, tab });
    pool.drop(tab);
  } catch (error) {
    view.say(explain(error), true);
  }
}

export function showReview(task: string, file?: string): void {
  if (file !== undefined) view.file.set(task, file);
  view.change(task, (l) => layouts.add(l, layouts.review));
}

/** Shows the next task that waits for the person. */
function nextWaiting(): void {
  const { waiting } = store;
  if (waiting.length === 0) return store.held.length > 0 ? answerHeld() : view.say("Nothing waits for you.");
  const at = waiting.findIndex((t) => t.id === view.current);
  const next = waiting[(at + 1) % waiting.length]!;
  view.open(next.id);
  const tab = next.tabs.find((t) => t.state === "waiting") ?? mainTab(next);
  if (tab) view.change(next.id, (l) => layouts.activate(l, tab.id));
  focusTerminal();
}

/** Gives the keys to the call that waits for the person. */
function answerHeld(): void {
  if (store.held.length === 0) view.say("No call waits for you.");
  else dispatchEvent(new CustomEvent("termic:held"));
}

/** A task without a cage has no outside: every tab of it is there. */
export function outside(task: string): void {
  const cage = store.task(task)?.cage;
  if (cage === "enforce" || cage === "enforce-fs") view.dialog = { kind: "outside", task };
  else view.say("This task has no cage that a tab could be outside of.");
}

/** Gives the keys to the current terminal, once it is on the page. */
export function focusTerminal(): void {
  requestAnimationFrame(() => pool.get(view.activeItem)?.focus());
}

function onTask(run: (task: string) => void | Promise<void>): () => void | Promise<void> {
  return () => (view.task ? run(view.task.id) : view.say("No task is open."));
}

/** Runs on the tab in view where that is an agent's, else on the task's first. */
function onAgent(run: (task: string, tab: string) => void): () => void | Promise<void> {
  return onTask((id) => {
    const task = store.task(id)!;
    const tab = task.tabs.find((t) => t.id === view.activeItem && t.agent !== "shell") ?? mainTab(task);
    if (tab) run(id, tab.id);
    else view.say("No tab is open in this task.");
  });
}

function moveTab(by: number): () => void | Promise<void> {
  return onTask((task) => {
    const item = layouts.beside(view.layout(task), by);
    if (item) view.change(task, (l) => layouts.activate(l, item));
    focusTerminal();
  });
}

function moveGroup(by: number): () => void | Promise<void> {
  return onTask((task) => {
    view.change(task, (l) => layouts.focus(l, layouts.groupBeside(l, by).id));
    focusTerminal();
  });
}

function moveTask(by: number): () => void {
  return () => {
    const tasks = store.tasks;
    if (tasks.length === 0) return;
    const at = tasks.findIndex((t) => t.id === view.current);
    view.open(tasks[(at + by + tasks.length) % tasks.length]!.id);
    focusTerminal();
  };
}

function fontSize(by: number): () => Promise<void> {
  return async () => {
    const size = by === 0 ? 13 : Math.min(32, Math.max(9, prefs.fontSize + by));
    try {
      await prefs.set("terminal.font_size", String(size));
    } catch (error) {
      view.say(explain(error), true);
    }
  };
}

/** Regions that Ctrl+F6 walks, in reading order. */
function moveRegion(by: number): () => void {
  return () => {
    const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter((r) => r.offsetParent !== null);
    if (regions.length === 0) return;
    const at = regions.findIndex((r) => r.contains(document.activeElement));
    const next = regions[(at + by + regions.length) % regions.length]!;
    if (next.dataset["region"] === "main" && pool.get(view.activeItem)) return pool.get(view.activeItem)!.focus();
    const inside = next.querySelector<HTMLElement>('[data-entry], [tabindex="0"], button:not([disabled]), input, a[href]');
    (inside ?? next).focus();
  };
}

export async function copySelection(): Promise<void> {
  const text = pool.get(view.activeItem)?.xterm.getSelection() || String(getSelection() ?? "");
  if (text === "") return;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    view.say("The clipboard did not take it.", true);
  }
}

async function paste(): Promise<void> {
  const term = pool.get(view.activeItem);
  if (!term) return;
  try {
    term.paste(await navigator.clipboard.readText());
  } catch {
    view.say("The clipboard cannot be read; paste with the mouse or the menu.", true);
  }
}

/** Turns the control plane off at once: no new call, every token ends. */
export async function stopControl(): Promise<void> {
  try {
    const { ended, saved } = await app.call("control_stop", {});
    view.say(`Control plane off. ${count(ended, "token")} ended; terminals go on.${saved ? "" : " The setting could not be written: it may come back with a restart."}`, !saved);
  } catch (error) {
    view.say(explain(error), true);
  }
}

export const actions: readonly Action[] = [
  { id: "palette", title: "Command palette", icon: "search", keys: "Ctrl+Shift+P", run: () => void (view.dialog = { kind: "palette", only: "all" }) },
  { id: "switch-task", title: "Switch task", icon: "arrow", keys: "Ctrl+Shift+O", run: () => void (view.dialog = { kind: "palette", only: "tasks" }) },
  { id: "new-task", title: "New task…", icon: "plus", keys: "Ctrl+Shift+N", run: newTask },
  { id: "add-project", title: "Add project…", icon: "folder", keys: "", run: () => void (view.dialog = { kind: "add-project" }) },
  { id: "next-waiting", title: "Next that needs you", icon: "g-perm", keys: "Ctrl+Shift+J", run: nextWaiting },
  { id: "answer-held", title: "Answer the call that waits", icon: "pause", keys: "Ctrl+Shift+H", run: answerHeld },
  { id: "next-task", title: "Next task", icon: "arrow", keys: "Ctrl+Shift+Down", run: moveTask(1) },
  { id: "previous-task", title: "Previous task", icon: "arrowl", keys: "Ctrl+Shift+Up", run: moveTask(-1) },
  { id: "new-tab", title: "New shell tab", icon: "a-shell", keys: "Ctrl+Shift+T", needsTask: true, run: onTask((task) => openTab(task)) },
  { id: "close-tab", title: "Close tab", icon: "close", keys: "Ctrl+Shift+W", needsTask: true, run: onTask((task) => { const item = view.activeItem; return item ? closeItem(task, item) : undefined; }) },
  { id: "split-right", title: "Split right", icon: "splitv", keys: "Ctrl+Shift+D", needsTask: true, run: onTask((task) => openTab(task, "shell", "row")) },
  { id: "split-down", title: "Split down", icon: "splith", keys: "Ctrl+Shift+E", needsTask: true, run: onTask((task) => openTab(task, "shell", "column")) },
  { id: "next-tab", title: "Next tab", icon: "arrow", keys: "Ctrl+PageDown", needsTask: true, run: moveTab(1) },
  { id: "previous-tab", title: "Previous tab", icon: "arrowl", keys: "Ctrl+PageUp", needsTask: true, run: moveTab(-1) },
  { id: "next-group", title: "Next group", icon: "arrow", keys: "Ctrl+Shift+Right", needsTask: true, run: moveGroup(1) },
  { id: "previous-group", title: "Previous group", icon: "arrowl", keys: "Ctrl+Shift+Left", needsTask: true, run: moveGroup(-1) },
  { id: "review", title: "Review changes", icon: "file", keys: "", needsTask: true, run: onTask((task) => { view.showPanel("changes"); showReview(task); }) },
  { id: "changes", title: "Show changes", icon: "file", keys: "Ctrl+Shift+G", run: () => view.togglePanel("changes") },
  { id: "calls", title: "Show calls", icon: "broadcast", keys: "Ctrl+Shift+X", run: () => view.togglePanel("control") },
  { id: "apply", title: "Apply to the project…", icon: "arrow", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "apply", task, undo: false })) },
  { id: "unapply", title: "Take the last landing back…", icon: "arrowl", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "apply", task, undo: true })) },
  { id: "cage", title: "Change the cage…", icon: "c-enforce", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "cage", task })) },
  { id: "outside", title: "Open a tab outside the cage…", icon: "c-off", keys: "", needsTask: true, run: onTask(outside) },
  { id: "rename", title: "Rename task…", icon: "pencil", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "rename", task })) },
  { id: "archive", title: "Archive task…", icon: "archive", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "archive", task })) },
  { id: "restore", title: "Restore an archived task…", icon: "refresh", keys: "", run: () => void (view.dialog = { kind: "restore" }) },
  { id: "send", title: "Send a prompt…", icon: "comment", keys: "Ctrl+Shift+Enter", needsTask: true, run: onAgent((task, tab) => void (view.dialog = { kind: "send", task, tab })) },
  { id: "queue", title: "Texts that wait…", icon: "comment", keys: "", needsTask: true, run: onAgent((task, tab) => void (view.dialog = { kind: "queue", task, tab })) },
  { id: "disk", title: "Disk use of the task…", icon: "info", keys: "", needsTask: true, run: onTask((task) => void (view.dialog = { kind: "disk", task })) },
  { id: "project-settings", title: "Settings of the project…", icon: "folder", keys: "", needsTask: true, run: () => { if (view.task) view.dialog = { kind: "project", project: view.task.project }; } },
  { id: "find", title: "Find in terminal", icon: "search", keys: "Ctrl+Shift+F", needsTask: true, run: onTask(() => { dispatchEvent(new CustomEvent("termic:find")); }) },
  { id: "copy", title: "Copy", icon: "copy", keys: "Ctrl+Shift+C", run: copySelection },
  { id: "paste", title: "Paste", icon: "comment", keys: "Ctrl+Shift+V", needsTask: true, run: paste },
  { id: "sidebar", title: "Fold or unfold the sidebar", icon: "sidebar", keys: "Ctrl+Shift+B", run: () => view.toggleSidebar() },
  { id: "panel", title: "Show or hide the panel", icon: "panel", keys: "Ctrl+Shift+R", run: () => view.togglePanel() },
  { id: "next-region", title: "Go to the next region", icon: "arrow", keys: "Ctrl+F6", run: moveRegion(1) },
  { id: "previous-region", title: "Go to the previous region", icon: "arrowl", keys: "Ctrl+Shift+F6", run: moveRegion(-1) },
  { id: "larger", title: "Larger terminal text", icon: "plus", keys: "Ctrl+Shift+Plus", run: fontSize(1) },
  { id: "smaller", title: "Smaller terminal text", icon: "chev-d", keys: "Ctrl+Shift+_", run: fontSize(-1) },
  { id: "normal-size", title: "Normal terminal text", icon: "refresh", keys: "Ctrl+Shift+0", run: fontSize(0) },
  { id: "settings", title: "Settings", icon: "gear", keys: "Ctrl+Shift+,", run: () => void (view.settings = view.settings ? undefined : "general") },
  { id: "control-plane", title: "Control plane settings", icon: "port", keys: "", run: () => void (view.settings = "control") },
  { id: "shortcuts", title: "Rebind a shortcut…", icon: "gear", keys: "", run: () => void (view.settings = "shortcuts") },
  { id: "stop-control", title: "Stop all control", icon: "stop", keys: "Ctrl+Shift+F9", run: () => void (view.settings = "control") },
];

function newTask(): void {
  const project = view.task?.project;
  view.dialog = store.projects.length === 0 ? { kind: "add-project" } : { kind: "new-task", ...(project === undefined ? {} : { project }) };
}

export function actionById(id: string): Action {
  const action = actions.find((a) => a.id === id);
  if (!action) throw new Error(`no action ${id}`);
  return action;
}

/** The keys of an action: the person's, else the built-in ones; "" for none. */
export function keysOf(action: Action): string {
  return prefs.shortcuts[action.id] ?? action.keys;
}

/** The action that has these keys. */
export function actionFor(keys: string): Action | undefined {
  return keys === "" ? undefined : actions.find((a) => keysOf(a) === keys);
}
