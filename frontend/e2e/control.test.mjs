// Who may do what, in the page: cages, calls that wait, outside clients, tabs outside. Effects are looked for outside of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, screen } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";
import { freePort } from "./webdriver.mjs";

let rig, browser, url, page;
before(async () => {
  rig = new Rig();
  url = await rig.page();
  browser = await launch();
  page = await open(browser, url);
  rig.termic("project", "add", rig.repo);
  rig.termic("settings", "set", "mcp.enabled", "true");
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const task = (name) => rig.termic("list").tasks.find((t) => t.name === name);
const row = (name) => page.getByRole("treeitem", { name: new RegExp(name) });
/** Leaves dialogs and settings. */
const leave = () => until("the tasks are shown", async () => {
  if ((await page.locator(".dialog, .settings").count()) === 0) return true;
  await page.keyboard.press("Escape");
  return false;
});
const act = async (word) => {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Task or action" }).fill(word);
  await page.keyboard.press("Enter");
};
const callAs = (...args) => rig.callAs(...args);
/** Presses Tab until the control with this label has the focus. */
const tabTo = async (label, key = "Tab") => {
  for (let i = 0; i < 150; i++) {
    if ((await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent.trim())) === label) return;
    await page.keyboard.press(key);
  }
  assert.fail(`Tab does not reach ${label}`);
};
/** The control with the focus shows a ring. */
const ringed = () => page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none" || Boolean(document.activeElement.closest(".field, label")));

test("more terminals at once than a browser has connections to a host all get their keys", async () => {
  rig.termic("new", "many", "--agent", "shell");
  await row("many").click();
  for (let n = 2; n <= 8; n++) {
    await page.keyboard.press("Control+Shift+T");
    await until(`${n} tabs`, () => task("many").tabs.length === n);
    await until("it has the keys", async () => (await page.locator(".group.focused .tab").count()) === n && (await page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea"))));
  }
  await until("a prompt", async () => /[$#]/.test(await screen(page)));
  await page.keyboard.type("echo last-$((6*7))\n");
  await until("its output", async () => (await screen(page)).includes("last-42"));
  rig.termic("settings", "set", "appearance.theme", "light");
  await until("light", () => page.evaluate(() => document.documentElement.dataset.theme === "light"));
  rig.termic("settings", "set", "appearance.theme", "system");
});

test("a client is registered and removed with the mouse; its configuration is then as it was, and never held a token", async () => {
  const file = join(rig.home, ".config/zed/settings.json");
  const before = '// mine\n{\n  "theme": "One Dark", // keep\n}\n';
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, before);
  await act("control plane settings");
  await page.getByRole("button", { name: "Register Zed" }).click();
  const dialog = page.getByRole("dialog");
  await until("the change is shown first", async () => /mcp-stdio/.test(await dialog.getByLabel(/^Change of/).innerText()));
  assert.equal(readFileSync(file, "utf8"), before, "something was written before the person agreed");
  await dialog.getByRole("radio", { name: "Read", exact: true }).click();
  await dialog.getByRole("button", { name: "Register Zed" }).click();
  await until("it is registered", () => rig.termic("client", "list").clients.find((c) => c.name === "zed").registered);
  const written = readFileSync(file, "utf8");
  assert.match(written, /termic/);
  await until("its token", () => existsSync(join(rig.data, "clients/zed.token")));
  assert.ok(!written.includes(rig.secret("clients/zed.token")), "the configuration holds the token");
  assert.equal(rig.termic("client", "list").clients.find((c) => c.name === "zed").ceiling, "read");
  await page.keyboard.press("Escape");
  await act("control plane settings");
  await page.getByLabel("Ceiling of Zed").selectOption("write");
  await until("its ceiling is another", () => rig.termic("client", "list").clients.find((c) => c.name === "zed").ceiling === "write");
  await page.getByRole("button", { name: "Remove Zed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove Zed" }).click();
  // Its token ends first, then its entry goes.
  await until("its configuration is as it was", () => readFileSync(file, "utf8") === before);
  assert.ok(!rig.termic("client", "list").clients.find((c) => c.name === "zed").registered);
  assert.ok(!existsSync(join(rig.data, "clients/zed.token")));
});

test("a client is registered and removed with the keyboard alone, and the focus is seen and comes back", async () => {
  await page.keyboard.press("Escape");
  await until("no dialog", async () => (await page.getByRole("dialog").count()) === 0);
  await act("control plane settings");
  await tabTo("Register Cursor");
  assert.ok(await ringed(), "the focus is not seen");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Register Cursor" }).waitFor();
  await until("the plan", async () => (await page.getByRole("dialog").getByLabel(/^Change of/).count()) === 1);
  await page.keyboard.press("Escape");
  await until("the focus is back", () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "Register Cursor"));
  await page.keyboard.press("Enter");
  await until("the plan", async () => (await page.getByRole("dialog").getByLabel(/^Change of/).count()) === 1);
  await tabTo("Register Cursor");
  await page.keyboard.press("Enter");
  await until("it is registered", () => rig.termic("client", "list").clients.find((c) => c.name === "cursor").registered);
  await page.keyboard.press("Escape");
  await until("no dialog", async () => (await page.getByRole("dialog").count()) === 0);
  if (!(await page.locator(".settings").count())) await act("control plane settings");
  await tabTo("Remove Cursor");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Remove Cursor" }).waitFor();
  await tabTo("Remove Cursor");
  await page.keyboard.press("Enter");
  await until("it is removed", () => !rig.termic("client", "list").clients.find((c) => c.name === "cursor").registered);
  await until("the file that was made for the entry is gone", () => !existsSync(join(rig.home, ".cursor/mcp.json")));
  await page.keyboard.press("Escape");
});

test("stale entries are marked, and one button brings them up to date", async () => {
  await leave();
  const file = join(rig.home, ".codex/config.toml");
  rig.termic("client", "add", "codex");
  const entry = () => rig.termic("client", "list").clients.find((c) => c.name === "codex").entry;
  const port = await freePort();
  const old = page;
  await rig.stop();
  rig.setPortInFile(port);
  url = await rig.page();
  page = await open(browser, url);
  await old.context().close();
  await until("it is stale", () => entry() === "stale");
  await act("control plane settings");
  await page.getByText("Entry points to an old port or place").waitFor();
  await page.getByRole("button", { name: "Update 1 entry" }).click();
  await until("it is up to date", () => entry() === "current");
  assert.match(readFileSync(file, "utf8"), new RegExp(`127\\.0\\.0\\.1:${port}/mcp`));
  await until("nothing is left to update", async () => (await page.getByRole("button", { name: /^Update / }).count()) === 0);
  rig.termic("client", "remove", "codex");
  await leave();
});

test("a client of an older revision is named with what to do, until such clients are served", async () => {
  const token = rig.secret("mcp-token");
  const opens = () => fetch(`http://127.0.0.1:${rig.secret("mcp-port")}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old-one", version: "1" } } }),
  });
  assert.equal((await opens()).status, 400);
  await act("control plane settings");
  const told = page.getByText("old-one 1 speaks an older revision of MCP (2025-06-18) and was refused");
  await told.waitFor();
  await page.getByRole("switch", { name: "Serve older clients" }).click();
  await until("it is no longer named", async () => (await told.count()) === 0);
  assert.equal((await opens()).status, 200);
  await page.getByRole("switch", { name: "Serve older clients" }).click();
  await until("older clients are not served", async () => (await opens()).status === 400);
  await leave();
});

test("a destructive call of an outside client waits, takes no key of the terminal, and is denied with one", async () => {
  rig.termic("client", "add", "bot", "--other");
  rig.termic("new", "victim", "--agent", "shell");
  await leave();
  await row("victim").click();
  await until("the terminal has the keys", () => page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea")));
  const answer = callAs("bot", "task_archive", { task: "victim" });
  const sheet = page.getByRole("alertdialog");
  await sheet.waitFor();
  assert.match(await sheet.innerText(), /Archive “victim”\?[\s\S]*bot[\s\S]*task_archive, destructive/);
  assert.equal(await sheet.getByRole("button", { name: /Always/ }).count(), 0, "Always is offered for a destructive call");
  await until("a prompt", async () => /[$#]/.test(await screen(page)));
  await page.keyboard.type("echo dad-$((1+1))\n");
  await until("the keys went to the terminal", async () => (await screen(page)).includes("dad-2"));
  assert.equal(await sheet.count(), 1);
  assert.equal(rig.termic("holds").calls.length, 1);
  await page.keyboard.press("Control+Shift+H");
  await until("Deny has the focus", () => page.evaluate(() => document.activeElement?.hasAttribute("data-deny")));
  assert.ok(await ringed());
  await until("it is answered", async () => {
    await page.keyboard.press("d"); // counts once the sheet has been there for half a second
    return (await sheet.count()) === 0;
  });
  assert.match(JSON.stringify(await answer), /the person said no/);
  assert.ok(task("victim"));
  await until("the keys go to the terminal again", () => page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea")));
});

test("always is remembered, shown, and taken back", async () => {
  await page.evaluate(() => fetch("/call/hold_policy", { method: "POST", body: JSON.stringify({ holder: "bot", verb: "task_rename", policy: "ask" }) }));
  const first = callAs("bot", "task_rename", { task: "victim", name: "renamed" });
  const sheet = page.getByRole("alertdialog");
  await sheet.waitFor();
  await until("it is answered", async () => {
    if (await sheet.count()) await sheet.getByRole("button", { name: /Always for this client/ }).click({ timeout: 1000 }).catch(() => {});
    return (await sheet.count()) === 0;
  });
  await first;
  assert.ok(task("renamed"));
  const again = await callAs("bot", "task_rename", { task: "renamed", name: "victim" });
  assert.ok(!again.isError, JSON.stringify(again));
  await act("control plane settings");
  const rules = page.getByRole("table", { name: /Remembered answers/ });
  await rules.getByText("Allowed").waitFor();
  const kept = rig.termic("holds").rules.length;
  await rules.getByRole("row", { name: /Allowed/ }).getByRole("button").click();
  await until("it is forgotten", () => rig.termic("holds").rules.length === kept - 1);
  await page.keyboard.press("Escape");
});

test("a cage edit says what it ends and what the task could then touch, and starts the tab again in the new cage", async () => {
  await leave();
  rig.termic("new", "caged", "--agent", "shell", "--cage", "enforce-fs");
  await row("caged").click();
  await until("a prompt", async () => /[$#]/.test(await screen(page)));
  await page.keyboard.type(`ls ${rig.repo}/README.md; echo looked-$((3*3))\n`);
  await until("it was looked", async () => (await screen(page)).includes("looked-9"));
  await act("change the cage");
  const dialog = page.getByRole("dialog", { name: "Cage of caged" });
  await until("what it can now", async () => /Works in a checkout of its own/.test(await dialog.innerText()));
  const save = dialog.getByRole("button", { name: /^Save/ });
  assert.ok(await save.isDisabled(), "nothing is changed and can be saved");
  const more = join(rig.base, "shared");
  mkdirSync(more);
  await dialog.getByLabel("Further folders it may read").fill(more);
  await page.keyboard.press("Enter");
  await until("what it ends", async () => /Saving ends 1 terminal: shell/.test(await dialog.innerText()));
  assert.match(await dialog.innerText(), new RegExp(`shared[\\s\\S]*Now: `));
  assert.deepEqual(task("caged").read ?? [], [], "something was changed before it was saved");
  await dialog.getByLabel("Further folders it may read").press("Control+Enter");
  await until("it is saved", () => (task("caged").read ?? []).includes(more));
  await until("the dialog is gone", async () => (await dialog.count()) === 0);
  await until("a new terminal", async () => !(await screen(page)).includes("looked-9") && /[$#]/.test(await screen(page)));
  await page.locator(".group.focused .xterm-helper-textarea").focus();
  await page.keyboard.type(`ls -d ${more} && echo seen-$((4*4))\n`);
  await until("the folder can be read in it", async () => (await screen(page)).includes("seen-16"));
});

test("a tab outside the cage is opened after its risk was shown, and is marked", async () => {
  writeFileSync(join(task("caged").path, ".envrc"), "true\n");
  await act("open a tab outside");
  const dialog = page.getByRole("dialog", { name: "Open a tab outside the cage" });
  await dialog.getByLabel("Name").fill("mine");
  await page.keyboard.press("Enter");
  await until("the file is named", async () => /\.envrc/.test(await dialog.innerText()));
  assert.equal(task("caged").tabs.filter((t) => t.outside).length, 0, "it was opened before the person had seen");
  await dialog.getByRole("button", { name: /I have seen them/ }).click();
  await until("it is open", () => task("caged").tabs.some((t) => t.outside && t.name === "mine"));
  await page.getByText("No cage: this tab is yours").waitFor();
  await page.getByRole("tab", { name: /mine/ }).getByRole("img", { name: "No cage" }).waitFor();
});

test("commits are listed with the changes", async () => {
  const { path } = task("victim");
  writeFileSync(join(path, "more.txt"), "x\n");
  execFileSync("git", ["-C", path, "add", "."], { env: rig.env });
  execFileSync("git", ["-C", path, "commit", "-q", "-m", "say more 🚀"], { env: rig.env });
  await row("victim").click();
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByRole("list", { name: "Commits" }).getByText("say more 🚀").waitFor();
});

test("a task's work lands in the project's checkout after it was shown, and is taken back", async () => {
  await act("apply to the project");
  const dialog = page.getByRole("dialog", { name: /^Apply victim/ });
  await until("what would land", async () => /1 file changes/.test(await dialog.innerText()));
  assert.ok(!existsSync(join(rig.repo, "more.txt")), "it landed before it was agreed to");
  await dialog.getByRole("button", { name: "Apply 1 file" }).click();
  await until("it landed", () => existsSync(join(rig.repo, "more.txt")));
  await until("the dialog is gone", async () => (await dialog.count()) === 0);
  await act("take the last landing back");
  await page.getByRole("dialog").getByRole("button", { name: "Take it back" }).click();
  await until("it is taken back", () => !existsSync(join(rig.repo, "more.txt")));
  await until("no dialog", async () => (await page.getByRole("dialog").count()) === 0);
});

test("a new task's effective capability is said before it is made, and a wish that cannot be is refused there", async () => {
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByRole("radio", { name: /^Files/ }).check();
  await until("the machine's answer", async () => /This machine can hold it/.test(await dialog.innerText()));
  await dialog.getByLabel("Further folders it may write").fill("not-absolute");
  await page.keyboard.press("Enter");
  await until("the refusal", async () => (await dialog.locator(".can .problem").count()) === 1);
  await page.keyboard.press("Escape");
});

test("the diagnostics of About are copied as a text that names each check as doctor does, and no token", async () => {
  await leave();
  await page.evaluate(() => navigator.clipboard.writeText("before"));
  await act("control plane settings");
  await page.getByRole("navigation").getByRole("button", { name: "About" }).click();
  const copy = page.getByRole("button", { name: "Copy diagnostics" });
  await until("the checks are there", () => copy.isEnabled());
  await copy.click();
  const text = await until("they are copied", async () => {
    const clip = await page.evaluate(() => navigator.clipboard.readText());
    return clip !== "before" && clip;
  });
  assert.match(text, /^termic \S+, contract \S+\n/);
  const { checks } = rig.termic("doctor");
  assert.ok(checks.length > 3);
  for (const { name } of checks) assert.match(text, new RegExp(`^(ok|warning|failed|off) +${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}: `, "m"));
  assert.ok(!text.includes(rig.secret("mcp-token")), "a token is in it");
  await page.getByText("Diagnostics copied. They name directories of this machine.").waitFor();
  await leave();
});

test("the page had nothing to complain about", () => assert.deepEqual(page.complaints, []));
