// The real window: GTK, WebKit and all, under Xvfb. The main job in it, with its effects looked for outside; then what
// only the program that is shipped can show: that it ends in order, and how it starts where there is no display.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Rig, root, until } from "./rig.mjs";
import { Display, Window, keys } from "./webdriver.mjs";

const shipped = join(root, "build/bin/termic-app");
let rig, display, window;
before(async () => {
  rig = new Rig();
  display = await Display.open();
  window = await Window.open(process.env.TERMIC_APP_E2E ?? join(root, "build/bin/termic-app-e2e"), display, rig.env);
});
after(async () => {
  await window?.close();
  display?.close();
  await rig?.close();
});

const task = (name) => rig.termic("list").tasks.find((t) => t.name === name);
const seconds = 30_000;

test("first run: a repository, an agent, a task", async () => {
  await window.type(".first input.mono", rig.repo);
  await window.press("Add repository");
  await window.find(".first .tick");
  await window.type("#first-prompt", "say hello from the agent");
  await window.press("Start");
  await window.find(".xterm", seconds);
  assert.match(rig.git("branch", "--list", "termic/*"), /termic\/say-hello-from-agent/);
  await until("the state comes by itself", () => window.js('return /Done/.test(document.querySelector("[role=treeitem].current")?.title ?? "")'), seconds);
});

test("what is typed reaches the shell in a split, in order", async () => {
  await window.chord(keys.control, keys.shift, "d");
  await until("two groups", () => window.js('return document.querySelectorAll(".group .xterm").length === 2'), seconds);
  await until("the shell has the keys", () => window.js('return document.activeElement?.classList.contains("xterm-helper-textarea") && document.querySelector(".group.focused").contains(document.activeElement)'));
  await until("a prompt", () => /[$#]/.test(rig.termic("log", "say-hello-from-agent", "--tab", "shell").text), seconds);
  await window.keys(`printf %s abcdefghijklmnopqrstuvwxyz0123456789 > typed; echo typed-$((6*7))${keys.enter}`);
  await until("its output", () => rig.termic("log", "say-hello-from-agent", "--tab", "shell").text.includes("typed-42"), seconds);
  assert.equal(readFileSync(join(task("say-hello-from-agent").path, "typed"), "utf8"), "abcdefghijklmnopqrstuvwxyz0123456789");
});

test("the terminal shows it: it can be found in it", async () => {
  await window.chord(keys.control, keys.shift, "f");
  await window.type(".find input", "typed-42");
  await until("a hit", async () => /1 of 1/.test(await window.text(".find [role=status]")));
  await window.keys(keys.escape);
});

test("a terminal whose GPU context is lost goes on, and the GPU draws it again", async () => {
  const drawn = (after) => window.js(`
    const canvas = [...document.querySelectorAll(".group.focused .xterm-screen canvas")].find((c) => c !== globalThis.lost && c.getContext("webgl2")?.isContextLost() === false);
    if (!canvas) return false;
    if (arguments[0]) return true;
    globalThis.lost = canvas;
    canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
    return true;`, after);
  await until("the GPU draws, and its context is lost", () => drawn(false), seconds);
  await window.keys(`echo after-$((6*7))${keys.enter}`);
  await until("the shell goes on", () => rig.termic("log", "say-hello-from-agent", "--tab", "shell").text.includes("after-42"), seconds);
  await until("another context draws", () => drawn(true), seconds);
  await window.chord(keys.control, keys.shift, "f");
  await window.type(".find input", "after-42");
  await until("the terminal shows it", async () => /1 of 1/.test(await window.text(".find [role=status]")));
  await window.keys(keys.escape);
});

test("a shell has no descriptor of the window", () => {
  const shell = readdirSync("/proc").filter((p) => /^\d+$/.test(p)).find((p) => {
    try {
      return readlinkSync(`/proc/${p}/cwd`) === task("say-hello-from-agent").path && /bash/.test(readlinkSync(`/proc/${p}/exe`));
    } catch {
      return false;
    }
  });
  assert.ok(shell, "no shell runs in the checkout");
  const open = readdirSync(`/proc/${shell}/fd`).map((fd) => readlinkSync(`/proc/${shell}/fd/${fd}`)).filter((to) => !/^\/dev\/pts\//.test(to));
  assert.deepEqual(open, []);
});

test("what changed is listed, and shown as a diff", async () => {
  await window.press("Look again");
  await until("the file", () => window.js('return [...document.querySelectorAll(".file")].some((f) => f.innerText.includes("typed"))'), seconds);
  await window.js('document.querySelector(".file").click()');
  await until("the diff", async () => /abcdefghijklmnopqrstuvwxyz/.test(await window.text(".review .cm-content, .review")), seconds);
  await window.js('document.querySelector(".tab.on .pick").focus()');
  await window.chord(keys.control, keys.shift, "w");
});

test("the control plane is switched on; a call over HTTP makes a task, which appears", async () => {
  await window.press("Control plane off");
  await window.js('document.querySelector("[role=switch]").click()');
  await until("it is advertised", () => existsSync(join(rig.data, "mcp-port")) && existsSync(join(rig.data, "mcp-token")), seconds);
  await rig.callAs("", "task_new", { name: "over-http", project: "shop", agent: "shell" });
  await window.keys(keys.escape);
  await until("its row", () => window.js('return [...document.querySelectorAll("[role=treeitem]")].some((r) => r.innerText.includes("over-http"))'), seconds);
});

test("a task that an agent makes is nested below its own", async () => {
  rig.termic("new", "lead", "--agent", "claude", "--prompt", 'call task_new {"name": "below", "agent": "shell"}');
  await until("its row, one level down", () => window.js('const rows = [...document.querySelectorAll("[role=treeitem]")]; return rows.find((r) => r.innerText.includes("below"))?.getAttribute("aria-level") === "3"'), seconds);
  assert.equal(task("below").creator, task("lead").id);
});

const client = (name) => rig.termic("client", "list").clients.find((c) => c.name === name);
const settled = () => until("no dialog", () => window.js('return document.querySelector(".dialog") === null'), seconds);

test("a client is registered and removed with the mouse", async () => {
  await window.press("Control plane on");
  await window.click('[aria-label="Register Zed"]');
  await window.find('.dialog [aria-label^="Change of"]', seconds);
  await window.click(".dialog .foot .primary");
  await until("it is registered", () => client("zed").registered, seconds);
  const file = join(rig.home, ".config/zed/settings.json");
  await until("its entry and its token", () => existsSync(file) && existsSync(join(rig.data, "clients/zed.token")), seconds);
  assert.ok(!readFileSync(file, "utf8").includes(rig.secret("clients/zed.token")), "the configuration holds the token");
  if (await window.js('return document.querySelector(".dialog") !== null')) await window.click(".dialog .foot .btn");
  await settled();
  await window.click('[aria-label="Remove Zed"]');
  await window.find('.dialog [aria-label^="Change of"]', seconds);
  await window.click(".dialog .foot .primary");
  await until("it is removed", () => !client("zed").registered, seconds);
  await until("the file that was made for the entry is gone", () => !existsSync(file), seconds);
  if (await window.js('return document.querySelector(".dialog") !== null')) await window.click(".dialog .foot .btn");
  await settled();
});

test("a client is registered and removed with the keyboard", async () => {
  const focused = () => window.js('return (document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()');
  const walk = async (label) => {
    for (let i = 0; i < 120; i++) {
      if ((await focused()) === label) return;
      await window.keys(keys.tab);
    }
    assert.fail(`Tab does not reach ${label}`);
  };
  await window.js('document.querySelector(".settings nav [aria-current]").focus()');
  for (const [act, after] of [["Register Cursor", true], ["Remove Cursor", false]]) {
    await walk(act);
    await window.keys(keys.enter);
    await window.find('.dialog [aria-label^="Change of"]', seconds);
    await walk(act);
    await window.keys(keys.enter);
    await until(act, () => client("cursor").registered === after, seconds);
    if (await window.js('return document.querySelector(".dialog") !== null')) await window.keys(keys.escape);
    await settled();
  }
  await window.keys(keys.escape);
});

test("archiving takes the checkout away and keeps its work", async () => {
  const { path } = task("over-http");
  await window.js('[...document.querySelectorAll("[role=treeitem]")].find((r) => r.innerText.includes("over-http")).click()');
  await until("it is shown", async () => (await window.text("h1")) === "over-http");
  await window.press("Archive task");
  await window.find(".dialog .foot .primary:enabled", seconds); // once the preflight is there
  await window.click(".dialog .foot .primary:enabled");
  await until("it is gone", () => !existsSync(path) && task("over-http") === undefined, seconds);
  await settled();
});

test("after a reload everything is there again", async () => {
  await window.js("location.reload()");
  await until("every task", () => window.js('return document.querySelectorAll(".task[role=treeitem]").length === 3'), seconds);
});

test("buttons have names and roles for who hears them", async () => {
  const button = await window.find('[aria-label="Settings"]');
  assert.equal(await window.call("GET", `${window.session}/element/${button}/computedrole`), "button");
  assert.equal(await window.call("GET", `${window.session}/element/${button}/computedlabel`), "Settings");
});

test("closing the window while an agent works asks once and says what will happen; then it ends in order", async () => {
  rig.termic("new", "works", "--agent", "claude", "--prompt", "work 20m");
  // The question counts every agent that works or starts, whichever tab of its task it is in.
  const busy = (state) => state === "working" || state === "starting";
  await until("it works, and nothing else does", () => {
    const agents = rig.termic("list").tasks.flatMap((t) => t.tabs.filter((tab) => tab.agent !== "shell").map((tab) => ({ task: t.name, ...tab })));
    return task("works").state === "working" && agents.every((tab) => tab.task === "works" || !busy(tab.state));
  }, seconds);
  const asked = () => until("the question", async () => /1 agent is working\. Quitting stops/.test(await window.text(".dialog")), seconds);
  display.closeFront();
  await asked();
  await window.press("Cancel");
  await settled();
  assert.equal(task("works").state, "working", "it ended although the person said no");
  display.closeFront();
  await asked();
  const { path } = task("works");
  await window.press("Quit").catch(() => {}); // its answer may end with the window
  await until("the app has ended", () => !existsSync(join(rig.data, "ctl.sock")), seconds);
  assert.ok(existsSync(path), "the checkout is gone");
});

test("the shipped program opens, shows a task from the command line, is alone, and ends in order on SIGTERM", async () => {
  const own = new Rig();
  try {
    const env = { ...own.env, DISPLAY: display.name, NO_AT_BRIDGE: "1", WEBKIT_INSPECTOR_HTTP_SERVER: "127.0.0.1:45871", WEBKIT_INSPECTOR_SERVER: "127.0.0.1:45872" };
    own.app = await own.start("/bin/sh", ["-c", `echo begins; exec ${shipped}`], /begins/, env);
    await until("it serves", () => { try { return own.termic("doctor"); } catch { return undefined; } }, seconds);
    await until("its window is there", () => { try { own.termic("open"); return true; } catch { return undefined; } }, seconds);
    own.termic("project", "add", own.repo);
    own.termic("new", "one", "--agent", "shell");
    for (const port of [45871, 45872]) await assert.rejects(fetch(`http://127.0.0.1:${port}/`), `an inspector listens on ${port}`);
    const second = spawnSync(shipped, [], { env, encoding: "utf8", timeout: seconds });
    assert.equal(second.status, 0, second.stderr); // it brought the first to the front
    const end = await own.stop();
    assert.equal(end.code, 0, end.output);
    assert.ok(!existsSync(join(own.data, "ctl.sock")), "the socket is left");
  } finally {
    await own.close();
  }
});

test("where there is no display, it says what to set and runs nothing", () => {
  const own = new Rig();
  for (const [env, words] of [[{}, /DISPLAY and WAYLAND_DISPLAY are not set/], [{ DISPLAY: ":987" }, /the window does not open|termic serve/]]) {
    const got = spawnSync(shipped, [], { env: { ...own.env, ...env }, encoding: "utf8", timeout: seconds });
    assert.notEqual(got.status, 0);
    assert.match(got.stderr, words);
    assert.doesNotMatch(got.stderr, /goroutine \d+/);
  }
  return own.close();
});
