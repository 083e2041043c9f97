// Generated from registry/verbs. Change the verbs, then: go generate ./registry/...

/** Version of the verbs' contract. */
export const version = 1;

export interface TaskNewIn {
  /** name of the task: letters, digits, dot, underscore, hyphen */
  name: string;
  /** project to work in (name, unique prefix or id); may be left out by a task's own agent, and where there is only one */
  project?: string;
  /** branch, tag or commit to start from; default: the project's default branch */
  base?: string;
  /** agent to start; default: the setting agents.default */
  agent?: string;
  /** mode of the cage; default: off */
  cage?: "off" | "monitor" | "enforce-fs" | "enforce";
  /** let a caged agent use the control plane */
  mcp?: boolean;
  /** projects that its agent may create tasks in, besides its own */
  projects?: string[];
  /** hosts that a cage lets through, as host, host:port or *.domain */
  hosts?: string[];
  /** paths that a cage lets be read */
  read?: string[];
  /** paths that a cage lets be written */
  write?: string[];
  /** first prompt for the agent, delivered when it is ready */
  prompt?: string;
  /** work in the project's own checkout; only the person may */
  live?: boolean;
  /** repeating the call with the same key and arguments within ten minutes returns the first outcome */
  key?: string;
}

export interface Tab {
  /** stable id of the tab */
  id: string;
  /** name of the tab, unique in its task */
  name: string;
  /** agent that runs in it; shell for a plain shell */
  agent: string;
  /** what the agent is doing */
  state: "starting" | "working" | "waiting" | "done" | "idle" | "exited" | "unknown";
  /** what the state is known by; title, screen and quiet are guesses */
  signal: "none" | "hook" | "osc" | "process" | "title" | "screen" | "quiet";
  /** since when it is in this state (RFC 3339) */
  since: string;
  /** texts that wait for the agent to be ready */
  queued: number;
  /** exit status, once exited and not zero */
  exit?: number;
}

export interface Task {
  /** stable id of the task */
  id: string;
  /** name of the task, unique among the live tasks of its project */
  name: string;
  /** id of its project */
  project: string;
  /** name of its project */
  project_name: string;
  /** git branch of the task */
  branch: string;
  /** commit that the task started from */
  base: string;
  /** directory of its checkout */
  path: string;
  /** agent that the task was made for */
  agent: string;
  /** mode of its cage */
  cage: "off" | "monitor" | "enforce-fs" | "enforce";
  /** whether a caged agent of the task may use the control plane */
  mcp: boolean;
  /** works in the project's own checkout instead of one of its own */
  live: boolean;
  /** archived: no checkout, no tabs, can be restored */
  archived: boolean;
  /** state of its first agent tab, or of its first tab; none without tabs */
  state: "none" | "starting" | "working" | "waiting" | "done" | "idle" | "exited" | "unknown";
  /** what the state is known by; title, screen and quiet are guesses */
  signal: "none" | "hook" | "osc" | "process" | "title" | "screen" | "quiet";
  /** id of the task whose agent created it */
  creator?: string;
  /** when it was created (RFC 3339) */
  created: string;
  /** its terminals, in order */
  tabs: Tab[];
}

export interface TaskNewOut {
  /** the new task */
  task: Task;
  /** what became of the prompt: none given, queued until the agent is ready, or handed over at its start */
  delivery: "none" | "queued" | "delivered";
}

export interface TaskSendIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** text to hand to the agent as one prompt; control characters but tab and newline are dropped */
  text: string;
  /** tab: name or id; default: the task's first agent tab, or its first tab */
  tab?: string;
  /** repeating the call with the same key and arguments within ten minutes returns the first outcome */
  key?: string;
}

export interface TaskSendOut {
  /** id of the task */
  task: string;
  /** id of the tab */
  tab: string;
  /** delivered: submitted at the agent's prompt; queued: the agent is busy and gets it when it is ready */
  delivery: "delivered" | "queued";
}

export interface TaskWaitIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** tab: name or id; default: the task's first agent tab, or its first tab */
  tab?: string;
  /** how long to wait at most, in milliseconds; default 60000; call again when the outcome is timed_out */
  timeoutMs?: number;
}

export interface TaskWaitOut {
  /** id of the task */
  task: string;
  /** id of the tab */
  tab: string;
  /** done: settled after the last text; idle: settled and never given one; needs_input: waits for a person; exited; timed_out: still working */
  outcome: "done" | "idle" | "needs_input" | "exited" | "timed_out";
  /** what the agent is doing now */
  state: "starting" | "working" | "waiting" | "done" | "idle" | "exited" | "unknown";
  /** what that is known by */
  signal: "none" | "hook" | "osc" | "process" | "title" | "screen" | "quiet";
  /** the signal is a guess, not a report */
  guess: boolean;
}

export interface TaskStatusIn {
  /** task: name, project/name, unique prefix, or id; a task's own agent may leave it out to mean its own */
  task?: string;
}

export interface Grant {
  /** scoped or full */
  scope: string;
  /** highest class of verb that it may call */
  ceiling: string;
  /** names of the projects that it may act on */
  projects: string[];
  /** what its task may touch, in words */
  limit: string[];
}

export interface TaskStatusOut {
  /** the task */
  task: Task;
  /** what the caller may do; only when a task asks about itself */
  grant?: Grant;
}

export interface TaskLogIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** tab: name or id; default: the task's first agent tab, or its first tab */
  tab?: string;
  /** how many of the last lines; default 200 */
  lines?: number;
}

export interface TaskLogOut {
  /** id of the tab */
  tab: string;
  /** the terminal's last lines as text, without colours */
  text: string;
  /** there are earlier lines */
  truncated: boolean;
}

export interface TaskDiffIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** only the list of files, without the patch */
  stat?: boolean;
}

export interface FileChange {
  /** path in the checkout */
  path: string;
  /** path before a rename */
  old_path?: string;
  /** added, modified, deleted, renamed, or type */
  kind: string;
  /** lines added */
  added: number;
  /** lines removed */
  removed: number;
  /** no text: lines are not counted */
  binary?: boolean;
  /** too large to be compared */
  large?: boolean;
}

export interface TaskDiffOut {
  /** commit that it is compared with */
  base: string;
  /** commits on the task's branch since then */
  commits: number;
  /** changed files, untracked ones included */
  files: FileChange[];
  /** unified diff of all of it */
  patch?: string;
  /** the patch is longer than may be returned and was cut */
  truncated: boolean;
}

export interface TaskTabIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** agent to start in it; default: shell */
  agent?: string;
  /** name of the tab; default: the agent's id, numbered if taken */
  name?: string;
}

export interface TabOut {
  /** the tab */
  tab: Tab;
}

export interface TaskTabCloseIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** tab: name or id */
  tab: string;
}

export type None = Record<string, never>;

export interface Agent {
  /** id to give to task_new and task_tab */
  id: string;
  /** name for people */
  title: string;
  /** comes with termic */
  builtin: boolean;
  /** its program was found in the PATH of new tabs */
  installed: boolean;
  /** what the program says of its version */
  version?: string;
}

export interface TaskAgentsOut {
  /** the agents that there are */
  agents: Agent[];
  /** the one that task_new starts unless told otherwise */
  default: string;
}

export interface TaskListIn {
  /** only tasks of this project */
  project?: string;
  /** archived tasks instead of live ones */
  archived?: boolean;
}

export interface TaskListOut {
  /** the tasks, oldest first */
  tasks: Task[];
}

export interface TaskAttachIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** tab: name or id; default: the task's first agent tab, or its first tab */
  tab?: string;
}

export interface TaskAttachOut {
  /** id of the tab */
  tab: string;
  /** opens the tab's stream once, on the connection's own transport, within ten seconds */
  ticket: string;
}

export interface TaskRenameIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** its new name */
  name: string;
}

export interface TaskOut {
  /** the task */
  task: Task;
}

export interface TaskArchiveIn {
  /** task: name, project/name, unique prefix, or id */
  task: string;
  /** also while an agent in it is still working */
  force?: boolean;
}

export interface TaskArchiveOut {
  /** the archived task */
  task: Task;
  /** what was kept, in words */
  kept: string[];
  /** files that git ignores, which are not kept */
  ignored_files: number;
  /** their size in bytes */
  ignored_bytes: number;
}

export interface TaskRestoreIn {
  /** archived task: name, project/name, unique prefix, or id */
  task: string;
}

export interface TaskOpenIn {
  /** task: name, project/name, unique prefix, or id; leave it out to bring only the window to the front */
  task?: string;
}

export interface ProjectAddIn {
  /** directory of the git repository; absolute */
  path: string;
  /** name of the project; default: the directory's name */
  name?: string;
}

export interface Project {
  /** stable id of the project */
  id: string;
  /** unique name of the project */
  name: string;
  /** directory of the repository */
  path: string;
  /** branch that tasks start from unless told otherwise; empty while the repository cannot be read */
  default_branch: string;
  /** number of live tasks */
  tasks: number;
}

export interface ProjectOut {
  /** the project */
  project: Project;
}

export interface ProjectListOut {
  /** the projects, by name */
  projects: Project[];
}

export interface ProjectRemoveIn {
  /** project: name, unique prefix, or id */
  project: string;
}

export interface AgentAddIn {
  /** id of the new agent: lower-case letters, digits, hyphen */
  id: string;
  /** program to run: a name in PATH or an absolute path */
  command: string;
  /** arguments of the program */
  args?: string[];
  /** name for people; default: the id */
  title?: string;
}

export interface AgentOut {
  /** the agent */
  agent: Agent;
}

export interface AgentRemoveIn {
  /** id of the agent */
  id: string;
}

export interface SettingsGetIn {
  /** name of the setting */
  key: string;
}

export interface Setting {
  /** name of the setting */
  key: string;
  /** its value now */
  value: string;
  /** its value unless set */
  default: string;
  /** what it does */
  doc: string;
}

export interface SettingOut {
  /** the setting */
  setting: Setting;
}

export interface SettingsSetIn {
  /** name of the setting */
  key: string;
  /** its new value */
  value: string;
}

export interface SettingsListOut {
  /** every setting */
  settings: Setting[];
}

export interface Check {
  /** what was looked at */
  name: string;
  /** how it is */
  state: "ok" | "warning" | "failed" | "off";
  /** what was seen */
  evidence: string;
  /** what to do about it */
  remedy?: string;
}

export interface DoctorOut {
  /** what was looked at, one by one */
  checks: Check[];
}

export interface Endpoint {
  /** the setting mcp.enabled */
  enabled: boolean;
  /** the address that it serves at */
  url?: string;
  /** why it does not serve although it should */
  why?: string;
}

export interface Called {
  /** id of the call; its decision and its outcome have the same */
  request: string;
  /** when (RFC 3339) */
  time: string;
  /** decided: before anything happened; finished: the outcome */
  phase: "decided" | "finished";
  /** what was asked */
  verb: string;
  /** how much the verb may change */
  class: "read" | "write" | "destructive";
  /** how the call came in */
  way: "none" | "window" | "cli" | "mcp";
  /** who asked, as the log names it */
  caller: string;
  /** id of the task whose agent asked */
  caller_task?: string;
  /** id of the project that it was about */
  project?: string;
  /** id of the task that it was about */
  task?: string;
  /** whether it was allowed */
  allow: boolean;
  /** code of the refusal */
  code?: string;
  /** the true reason, which the caller may not have been told */
  why?: string;
  /** how long it took, in milliseconds; finished only */
  ms?: number;
}

export interface WindowWatchOut {
  /** opens the stream of changes once, within ten seconds */
  ticket: string;
  /** of the app */
  version: string;
  /** directory of all data */
  data_dir: string;
  /** every project, by name */
  projects: Project[];
  /** every live task, oldest first */
  tasks: Task[];
  /** the MCP endpoint */
  endpoint: Endpoint;
  /** the newest calls, oldest first */
  calls: Called[];
}

/** Every verb with what goes in and what comes out. */
export interface Verbs {
  /** create a task */
  task_new: { in: TaskNewIn; out: TaskNewOut };
  /** send a prompt to a task's agent */
  task_send: { in: TaskSendIn; out: TaskSendOut };
  /** wait until a task's agent has settled */
  task_wait: { in: TaskWaitIn; out: TaskWaitOut };
  /** show a task and its tabs */
  task_status: { in: TaskStatusIn; out: TaskStatusOut };
  /** show what a tab's terminal shows */
  task_log: { in: TaskLogIn; out: TaskLogOut };
  /** show what a task changed */
  task_diff: { in: TaskDiffIn; out: TaskDiffOut };
  /** open another tab in a task */
  task_tab: { in: TaskTabIn; out: TabOut };
  /** close a tab and end what runs in it */
  task_tab_close: { in: TaskTabCloseIn; out: None };
  /** list the agents that a task can run */
  task_agents: { in: None; out: TaskAgentsOut };
  /** list tasks */
  task_list: { in: TaskListIn; out: TaskListOut };
  /** connect this terminal to a tab */
  task_attach: { in: TaskAttachIn; out: TaskAttachOut };
  /** rename a task */
  task_rename: { in: TaskRenameIn; out: TaskOut };
  /** archive a task, keeping all its work */
  task_archive: { in: TaskArchiveIn; out: TaskArchiveOut };
  /** bring an archived task back */
  task_restore: { in: TaskRestoreIn; out: TaskOut };
  /** bring the window to the front */
  task_open: { in: TaskOpenIn; out: None };
  /** register a git repository as a project */
  project_add: { in: ProjectAddIn; out: ProjectOut };
  /** list projects */
  project_list: { in: None; out: ProjectListOut };
  /** forget a project */
  project_remove: { in: ProjectRemoveIn; out: None };
  /** define an agent of your own */
  agent_add: { in: AgentAddIn; out: AgentOut };
  /** remove an agent of your own */
  agent_remove: { in: AgentRemoveIn; out: None };
  /** show one setting */
  settings_get: { in: SettingsGetIn; out: SettingOut };
  /** change a setting */
  settings_set: { in: SettingsSetIn; out: SettingOut };
  /** list all settings */
  settings_list: { in: None; out: SettingsListOut };
  /** check this machine and this app */
  doctor: { in: None; out: DoctorOut };
  /** show everything, and follow it */
  window_watch: { in: None; out: WindowWatchOut };
}

export type VerbName = keyof Verbs;

export type Class = "read" | "write" | "destructive";

/** What the page needs to know of a verb before it calls it. */
export const verbs: { readonly [K in VerbName]: { readonly summary: string; readonly class: Class } } = {
  task_new: { summary: "create a task", class: "write" },
  task_send: { summary: "send a prompt to a task's agent", class: "write" },
  task_wait: { summary: "wait until a task's agent has settled", class: "read" },
  task_status: { summary: "show a task and its tabs", class: "read" },
  task_log: { summary: "show what a tab's terminal shows", class: "read" },
  task_diff: { summary: "show what a task changed", class: "read" },
  task_tab: { summary: "open another tab in a task", class: "write" },
  task_tab_close: { summary: "close a tab and end what runs in it", class: "write" },
  task_agents: { summary: "list the agents that a task can run", class: "read" },
  task_list: { summary: "list tasks", class: "read" },
  task_attach: { summary: "connect this terminal to a tab", class: "write" },
  task_rename: { summary: "rename a task", class: "write" },
  task_archive: { summary: "archive a task, keeping all its work", class: "destructive" },
  task_restore: { summary: "bring an archived task back", class: "write" },
  task_open: { summary: "bring the window to the front", class: "write" },
  project_add: { summary: "register a git repository as a project", class: "write" },
  project_list: { summary: "list projects", class: "read" },
  project_remove: { summary: "forget a project", class: "destructive" },
  agent_add: { summary: "define an agent of your own", class: "write" },
  agent_remove: { summary: "remove an agent of your own", class: "destructive" },
  settings_get: { summary: "show one setting", class: "read" },
  settings_set: { summary: "change a setting", class: "write" },
  settings_list: { summary: "list all settings", class: "read" },
  doctor: { summary: "check this machine and this app", class: "read" },
  window_watch: { summary: "show everything, and follow it", class: "read" },
};

export type RefusalCode =
  /** termic itself failed; the cause is in its log */
  | "internal"
  /** the arguments are malformed, missing or out of range */
  | "bad_input"
  /** the agent waits for an answer that only a person may give */
  | "needs_input"
  /** this caller may not do this */
  | "not_permitted"
  /** the call would reach more than the caller's grant does */
  | "exceeds_grant"
  /** the caller's grant has ended */
  | "revoked"
  /** this machine or this version cannot do it */
  | "unsupported"
  /** no such task, tab, project or agent that this caller can see */
  | "not_found"
  /** no such verb for this caller */
  | "unknown_verb"
  /** the app is not running */
  | "not_running"
  /** the time was over first; the task goes on */
  | "timed_out"
  /** the agent's process has ended */
  | "agent_exited"
  /** the text did not reach the agent's prompt */
  | "not_delivered"
  /** the state of things forbids it: a taken name, work in progress */
  | "conflict"
  /** the name fits more than one thing */
  | "ambiguous"
  /** too much at once; try again */
  | "busy"
  /** the call waits for a person, who did not answer in time */
  | "held"
  /** the caller went away before the work began */
  | "cancelled"
  /** switched off, or not usable right now */
  | "unavailable"
  /** the disk refused: full, read-only or damaged; nothing was done */
  | "storage_failed"
  /** the app runs without a window */
  | "no_window";

/** The typed "no": what was refused, by which rule, and what to do next. */
export interface Refusal {
  /** stable: callers branch on it */
  code: RefusalCode;
  /** which rule refused, in one sentence */
  reason: string;
  /** what to do next */
  remedy?: string;
  /** id under which the audit log knows the call */
  request?: string;
}

/** What a call ends in, as the transport carries it. */
export type Answer<Out> = { result: Out; refusal?: undefined } | { result?: undefined; refusal: Refusal };

/** Carries one call to the app. It rejects only when the app could not be asked. */
export type Transport = (verb: VerbName, args: unknown) => Promise<Answer<unknown>>;

/** Thrown by a client's call when the app said no. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** Calls verbs by name. */
export interface Client {
  /** Returns the verb's result, or throws Refused. */
  call<K extends VerbName>(verb: K, args: Verbs[K]["in"]): Promise<Verbs[K]["out"]>;
}

/** Returns a client that calls through transport. */
export function newClient(transport: Transport): Client {
  return {
    async call<K extends VerbName>(verb: K, args: Verbs[K]["in"]): Promise<Verbs[K]["out"]> {
      const answer = await transport(verb, args);
      if (answer.refusal !== undefined) {
        throw new Refused(answer.refusal);
      }
      return answer.result as Verbs[K]["out"];
    },
  };
}
