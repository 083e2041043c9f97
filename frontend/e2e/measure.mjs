// measure.mjs ROUNDS: measures the real window, for build/bench, and prints one JSON object: micros maps what was measured to its times
// in microseconds, kilobytes to sizes. It needs build/bin/termic-app-e2e (build/window.sh e2e), Xvfb, openbox and WebKitWebDriver.
import { join } from "node:path";
import { pageMemory } from "./processes.mjs";
import { Rig, root, until } from "./rig.mjs";
import { seed, session } from "./session.mjs";
import { Display, Window } from "./webdriver.mjs";

const rounds = Number(process.argv[2] ?? 5);
const program = join(root, "build/bin/termic-app-e2e");
const keystrokes = 20; // a round
const tabs = 10;
const seconds = 60_000;
const out = { micros: {}, kilobytes: {} };
const keep = (kind, what, value) => (out[kind][what] ??= []).push(Math.round(value));
// Rows in the DOM are what can be read; see Renderer in window.go.
const env = { WEBKIT_DISABLE_DMABUF_RENDERER: "1" };

/** Opens a window, and tells the time from its driver's order to what can be used, in milliseconds. */
async function start(display, rig) {
  const window = await Window.open(program, display, { ...rig.env, ...env });
  const usable = await until("the window can be used", () => window.js(`
    const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
    return document.querySelector(".window") && performance.timeOrigin + Math.max(at("usable"), at("first-contentful-paint"))`), seconds);
  return { window, took: usable - window.ordered };
}

/** Types keys into the terminal with the focus, one after the other, each once the one before is on the screen; in milliseconds each. */
const typed = (window, n) => window.call("POST", `${window.session}/execute/async`, { args: [n], script: `
  const [n, done] = arguments;
  const area = document.querySelector(".group.focused .xterm-helper-textarea");
  const row = () => document.querySelector(".group.focused .xterm-rows").textContent;
  const times = [];
  const one = () => {
    if (times.length === n) return done(times);
    const was = row().split("~").length;
    const begin = performance.now();
    area.dispatchEvent(new InputEvent("input", { data: "~", inputType: "insertText", bubbles: true, composed: false }));
    const look = () => {
      if (row().split("~").length > was) { times.push(performance.now() - begin); one(); }
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  };
  one();` });

const display = await Display.open();
try {
  for (let i = 0; i < rounds; i++) {
    const rig = new Rig();
    const { window, took } = await start(display, rig);
    keep("micros", "from the start of the window to its first picture", took * 1000);
    if (i === rounds - 1) await inside(rig, window);
    await window.close();
    await rig.close();
  }
  await among();
} finally {
  display.close();
}
console.log(JSON.stringify(out));

/** What is measured of one window with 500 tasks: each request of its page, and the frames between them. */
async function among() {
  const rig = new Rig();
  await seed(rig);
  const { window } = await start(display, rig);
  const { took, gaps } = await session(rig, window, rounds);
  for (const [what, times] of Object.entries(took)) for (const ms of times) keep("micros", `page, 500 tasks: ${what}`, ms * 1000);
  for (const ms of gaps) keep("micros", "page, 500 tasks: between two frames", ms * 1000);
  await window.close();
  await rig.close();
}

/** What is measured of one window, with one task. */
async function inside(rig, window) {
  await until("it answers", () => { try { return rig.termic("doctor"); } catch { return undefined; } }, seconds);
  rig.termic("project", "add", rig.repo);
  rig.termic("new", "one", "--agent", "shell");
  rig.termic("open", "one");
  const memory = () => pageMemory(window.driver.pid);
  await until("the terminal has the keys", () => window.js('return document.activeElement?.classList.contains("xterm-helper-textarea")'), seconds);
  rig.termic("send", "one", "stty -echoctl; PS1=; clear; cat");
  await until("cat runs", () => rig.termic("log", "one").text.trim() === "" || /cat\s*$/.test(rig.termic("log", "one").text), seconds);
  await window.call("POST", `${window.session}/timeouts`, { script: seconds });
  for (let i = 0; i < rounds; i++) for (const ms of await typed(window, keystrokes)) keep("micros", "keystroke to the screen of the window, idle", ms * 1000);
  rig.termic("new", "flood", "--agent", "shell");
  rig.termic("send", "flood", "while :; do head -c 100000 /dev/zero | base64 -w 120; done");
  await until("it floods", () => rig.termic("log", "flood").text.length > 500, seconds);
  for (let i = 0; i < rounds; i++) for (const ms of await typed(window, keystrokes)) keep("micros", "keystroke to the screen of the window, while another task floods", ms * 1000);
  rig.termic("archive", "flood", "--force");
  rig.termic("new", "many", "--agent", "shell");
  rig.termic("open", "many");
  await until("its terminal", () => window.js('return document.querySelector("h1")?.textContent === "many" && document.querySelector(".xterm-rows") !== null'), seconds);
  const before = memory();
  for (let i = 2; i <= tabs + 1; i++) {
    rig.termic("tab", "many", "--agent", "shell");
    await until(`${i} tabs`, () => window.js(`const all = document.querySelectorAll(".strip .pick"); if (all.length !== ${i}) return false; all[${i - 1}].click(); return true;`), seconds);
    await until("its terminal", () => window.js(`return document.querySelectorAll(".strip .pick")[${i - 1}]?.getAttribute("aria-selected") === "true" && document.querySelector(".xterm-rows") !== null`), seconds);
  }
  keep("kilobytes", "memory of the page's process for one more tab that was looked at", (memory() - before) / tabs);
}
