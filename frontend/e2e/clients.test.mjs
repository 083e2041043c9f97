// Outside clients in the real window: registered and removed with the mouse and with the keyboard, and their entries brought
// up to date when the port has moved. What is written is looked at outside of the window.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { Rig, root, until } from "./rig.mjs";
import { Display, Window, freePort, keys } from "./webdriver.mjs";

let rig, display, window;
const start = async () => {
  window = await Window.open(process.env.TERMIC_APP_E2E ?? join(root, "build/bin/termic-app-e2e"), display, rig.env);
  await until("it answers", () => { try { return rig.termic("doctor"); } catch { return undefined; } }, seconds);
};
before(async () => {
  rig = new Rig();
  display = await Display.open();
  await start();
  rig.termic("project", "add", rig.repo);
  rig.termic("settings", "set", "mcp.enabled", "true");
  // A client's token is made when the endpoint binds.
  await until("the endpoint serves", () => existsSync(join(rig.data, "mcp-port")), seconds);
});
after(async () => {
  await window?.close();
  display?.close();
  await rig?.close();
});

const seconds = 30_000;
const client = (name) => rig.termic("client", "list").clients.find((c) => c.name === name);
const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return text;
};
/** Opens the page of the control plane, by the palette, and so with the keyboard alone. */
const settings = async () => {
  await until("the palette", async () => {
    await window.chord(keys.control, keys.shift, "p");
    return window.js('return document.activeElement?.getAttribute("role") === "combobox"');
  }, seconds);
  await window.keys(`control plane settings${keys.enter}`);
  await until("the clients", () => window.js("return document.querySelector('[aria-label=\"How to tell Zed by hand\"]') !== null"), seconds);
};
const plan = () => until("what will be changed", () => window.js("return document.querySelector('[role=dialog] [aria-label^=\"Change of\"]')?.innerText"), seconds);
/** Leaves the dialog once it is done: it stays where it has something to say. */
const leave = async () => {
  const is = () => window.js("const d = document.querySelector('[role=dialog]'); return d === null ? 'gone' : d.querySelector('button[type=submit]') === null ? 'done' : ''");
  if ((await until("the dialog is done", is, seconds)) === "done") await window.keys(keys.escape);
  await until("no dialog", async () => (await is()) === "gone", seconds);
};
/** Presses Tab until the control with this name has the focus. */
const tabTo = (name) => until(`the focus on ${name}`, async () => {
  if ((await window.js('const at = document.activeElement; return at?.getAttribute("aria-label") ?? at?.textContent.trim()')) === name) return true;
  await window.keys(keys.tab);
  return false;
}, seconds);

test("with the mouse: what will be written is shown, then written, and taken out without a trace", async () => {
  const file = join(rig.home, ".config/zed/settings.json");
  const before = write(file, '// mine\r\n{\r\n  "theme": "One Dark", // keep\r\n}\r\n');
  await settings();
  await window.click('[aria-label="Register Zed"]');
  assert.match(await plan(), /mcp-stdio/);
  assert.equal(readFileSync(file, "utf8"), before, "something was written before the person agreed");
  await window.click("[role=dialog] button[type=submit]");
  await until("it is registered", () => client("zed").registered, seconds);
  const written = await until("its entry", () => readFileSync(file, "utf8") !== before && readFileSync(file, "utf8"), seconds);
  await until("its token", () => existsSync(join(rig.data, "clients/zed.token")), seconds);
  assert.ok(written.includes("mcp-stdio") && !written.includes(rig.secret("clients/zed.token")), written);
  await leave();
  await window.click('[aria-label="Remove Zed"]');
  await plan();
  await window.click("[role=dialog] button[type=submit]");
  // Its token ends first, then its entry goes.
  await until("its configuration is as it was", () => readFileSync(file, "utf8") === before, seconds);
  assert.ok(!client("zed").registered);
  assert.ok(!existsSync(join(rig.data, "clients/zed.token")), "its token is left");
  await leave();
  await window.keys(keys.escape);
});

test("with the keyboard alone", async () => {
  await settings();
  await tabTo("Register Cursor");
  await window.keys(keys.enter);
  await plan();
  await tabTo("Register Cursor");
  await window.keys(keys.enter);
  await until("it is registered", () => client("cursor").registered, seconds);
  await leave();
  await tabTo("Remove Cursor");
  await window.keys(keys.enter);
  await plan();
  await tabTo("Remove Cursor");
  await window.keys(keys.enter);
  await until("it is removed", () => !client("cursor").registered, seconds);
  await until("the file that was made for the entry is gone", () => !existsSync(join(rig.home, ".cursor/mcp.json")), seconds);
  await leave();
  await window.keys(keys.escape);
});

test("an entry that points to an old port is marked, and one button brings it up to date", async () => {
  const file = join(rig.home, ".codex/config.toml");
  write(file, '# mine\nmodel = "x"\n');
  rig.termic("client", "add", "codex");
  const port = String(await freePort());
  display.closeFront();
  await until("the app has ended", () => !existsSync(join(rig.data, "ctl.sock")), seconds);
  await window.close();
  rig.setPortInFile(port);
  await start();
  await until("it is stale", () => client("codex").entry === "stale", seconds);
  assert.ok(!readFileSync(file, "utf8").includes(`:${port}/`));
  await settings();
  await window.press("Update 1 entry");
  await until("it is up to date", () => client("codex").entry === "current", seconds);
  assert.ok(readFileSync(file, "utf8").includes(`127.0.0.1:${port}/mcp`), readFileSync(file, "utf8"));
  await until("the button is gone", () => window.js('return ![...document.querySelectorAll("button")].some((b) => b.innerText.includes("Update 1 entry"))'), seconds);
});
