// A session of a person among 500 tasks in the real window: how long each request of the page takes, as the page sees it, and how long
// the page draws nothing meanwhile. For measure.mjs.
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "./rig.mjs";
import { keys } from "./webdriver.mjs";

const seconds = 120_000;
const tasks = 500;

/** Makes the tasks: one by the app, and the others of its record and its checkout, file by file as git would make each, which takes git a while. */
export async function seed(rig) {
  await rig.page();
  rig.termic("project", "add", rig.repo);
  rig.termic("new", "task-0", "--agent", "shell");
  await rig.stop();
  const records = join(rig.data, "tasks");
  const record = JSON.parse(readFileSync(join(records, readdirSync(records)[0]), "utf8"));
  for (let i = 1; i < tasks; i++) copyTask(rig, record, i);
}

function copyTask(rig, record, i) {
  const { data } = record;
  const name = `task-${i}`;
  const branch = `termic/${name}`;
  const dir = data.dir.replace(/task-0$/, name);
  const letters = [...i.toString(26).padStart(16, "0")].map((c) => String.fromCharCode(97 + parseInt(c, 26))).join("");
  const id = `t-${letters}`;
  const created = new Date(Date.parse(data.created) - i * 1000).toISOString();
  cpSync(data.dir, dir, { recursive: true, preserveTimestamps: true });
  const admin = readFileSync(join(data.dir, ".git"), "utf8").replace("gitdir: ", "").trim();
  const own = join(dirname(admin), name);
  cpSync(admin, own, { recursive: true });
  writeFileSync(join(dir, ".git"), `gitdir: ${own}\n`);
  writeFileSync(join(own, "gitdir"), `${join(dir, ".git")}\n`);
  writeFileSync(join(own, "HEAD"), `ref: refs/heads/${branch}\n`);
  writeFileSync(join(rig.repo, ".git/refs/heads", branch), `${data.base}\n`);
  writeFileSync(join(rig.data, "tasks", `${id}.json`), JSON.stringify({ ...record, data: { ...data, id, name, branch, dir, created } }), { mode: 0o600 });
}

/** Has the page keep the time of each of its requests until the head of the answer, by what is asked for, and of each wait for a frame. */
const watch = (window) => window.js(`
  globalThis.took = {};
  globalThis.gaps = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (path, init) => {
    const begin = performance.now();
    const answer = await fetch(path, init);
    const what = String(path).split("?")[0].split("/").filter((part) => !/^[A-Z2-7]{26}$/.test(part)).join("/");
    (took[what] ??= []).push(performance.now() - begin);
    return answer;
  };
  let last = performance.now();
  const frame = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);`);

/** Runs one action of the palette. */
async function act(window, words) {
  await until(`the palette, for ${words}`, async () => {
    await window.chord(keys.control, keys.shift, "p");
    return window.js('return document.activeElement?.getAttribute("role") === "combobox"');
  }, seconds);
  await window.keys(`${words}${keys.enter}`);
}

const shows = (window, name) => until(`${name} is shown`, () => window.js('return document.querySelector("h1")?.textContent === arguments[0]', name), seconds);
const has = (window, selector) => until(selector, () => window.js("return document.querySelector(arguments[0]) !== null", selector), seconds);
const hasNot = (window, selector) => until(`no ${selector}`, () => window.js("return document.querySelector(arguments[0]) === null", selector), seconds);

/** Goes through the tasks, types, looks at changes, calls and settings; returns took and gaps in milliseconds. */
export async function session(rig, window, rounds) {
  await until("the tasks", () => window.js('return document.querySelectorAll(".task[role=treeitem]").length > 10'), seconds);
  await watch(window);
  for (let i = 0; i < rounds; i++) {
    rig.termic("tab", `task-${i}`, "--agent", "shell");
    rig.termic("open", `task-${i}`);
    await shows(window, `task-${i}`);
    await until("the terminal has the keys", () => window.js('return document.activeElement?.classList.contains("xterm-helper-textarea")'), seconds);
    await window.keys(`echo changed-$((6*7)) > README.md; echo said-$((6*7))${keys.enter}`);
    await until("the shell answers", () => rig.termic("log", `task-${i}`).text.includes("said-42"), seconds);
    await window.press("Look again");
    await has(window, ".file");
    await act(window, "archive task");
    await has(window, ".dialog");
    await window.keys(keys.escape);
    await hasNot(window, ".dialog");
    await act(window, "new task");
    await has(window, ".dialog");
    await window.keys(keys.escape);
    await hasNot(window, ".dialog");
    await act(window, "control plane settings");
    await has(window, ".settings");
    await window.keys(keys.escape);
    await hasNot(window, ".settings");
  }
  return window.js("return { took, gaps }");
}
