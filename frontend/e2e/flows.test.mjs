// The main job in the page, with its effects looked for outside of it: in git, in files, in the audit log, in processes.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, screen } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

let rig, browser, url, page;
before(async () => {
  rig = new Rig();
  url = await rig.page();
  browser = await launch();
  page = await open(browser, url);
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const task = (name) => rig.termic("list").tasks.find((t) => t.name === name);
const row = (name) => page.getByRole("treeitem", { name: new RegExp(name) });
const shows = (text) => until(`terminal shows ${text}`, async () => (await screen(page)).includes(text));

test("first run: from nothing to an agent that works, in three steps", async () => {
  assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /Put an agent to work/);
  await page.getByLabel("Directory of a git repository").fill("/nowhere");
  await page.getByRole("button", { name: "Add repository" }).click();
  assert.match(await page.getByRole("alert").innerText(), /\.$/);
  await page.getByRole("button", { name: "Choose…" }).click(); // the window's dialog answers with the repository
  await page.locator(".first .tick").waitFor();
  await page.getByLabel("First task").fill("say hello from the agent");
  await page.getByRole("button", { name: /^Start/ }).click();
  await shows("hello from the agent");
  assert.match(rig.git("branch", "--list", "termic/*"), /termic\/say-hello-from-agent/);
  await row("say-hello-from-agent").waitFor();
  await until("the state is shown", async () => /Done/.test((await row("say-hello-from-agent").getAttribute("title")) ?? ""));
});

test("a split opens a shell; keys arrive in order, however fast", async () => {
  await page.keyboard.press("Control+Shift+D");
  await until("two groups", async () => (await page.locator(".group").count()) === 2);
  await until("a prompt", async () => /[$#]$/m.test(await screen(page)));
  const word = Array.from({ length: 300 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
  await page.keyboard.type(`printf %s ${word} > typed; echo typed-$((6*7))\n`);
  await shows("typed-42");
  assert.equal(readFileSync(join(task("say-hello-from-agent").path, "typed"), "utf8"), word);
});

test("after a reload everything is there again, the terminals' text too", async () => {
  await page.reload();
  await until("two groups", async () => (await page.locator(".group").count()) === 2);
  await shows("typed-42");
  await page.locator(".group.focused .xterm-helper-textarea").focus();
  await page.keyboard.type("echo again-$((1+1))\n");
  await shows("again-2");
});

test("a terminal can be searched", async () => {
  await page.keyboard.press("Control+Shift+F");
  await page.getByLabel("Find in terminal").fill("again-2");
  await until("a hit", async () => /1 of 1/.test(await page.locator(".find [role=status]").innerText()));
  await page.getByLabel("Find in terminal").fill("nothing of this");
  await until("no hit", async () => (await page.locator(".find [role=status]").innerText()) === "none");
  await page.keyboard.press("Escape");
  await until("the keys go to the terminal again", () => page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea")));
});

test("a program that wants the clipboard is asked about, gets no answer, and can be silenced", async () => {
  const clip = () => page.evaluate(() => navigator.clipboard.readText());
  const type = (text) => page.keyboard.type(text);
  const bar = page.getByRole("status", { name: "Clipboard" });
  const osc = (text) => `printf '\\033]52;c;%s\\a' $(printf '${text}' | base64)`;
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  await page.locator(".group.focused .xterm-helper-textarea").focus();
  await type(`${osc("one\\033[201~")}; ${osc("two")}; printf '\\033]52;c;?\\a'; echo asked-$((6*7))\n`);
  await shows("asked-42");
  await bar.waitFor();
  assert.match(await bar.innerText(), /wants to put 8 characters on the clipboard:\s+one\[201~/); // the first, and harmless
  assert.equal(await clip(), "mine");
  await type("echo still-$((1+1))\n"); // it has taken no key
  await shows("still-2");
  await bar.getByRole("button", { name: "Not now" }).click();
  await bar.waitFor({ state: "detached" });
  assert.equal(await clip(), "mine");
  await type(`${osc("three")}\n`);
  await bar.getByRole("button", { name: "Copy" }).click();
  await until("it is copied", async () => (await clip()) === "three");
  await type(`${osc("four")}\n`);
  await bar.getByRole("button", { name: "Never for this tab" }).click();
  await type(`${osc("five")}; echo five-$((2+3))\n`);
  await shows("five-5");
  assert.equal(await bar.count(), 0);
  assert.equal(await clip(), "three");
});

test("what a program offers to the clipboard while its tab is hidden is asked about when the tab is shown, once", async () => {
  const name = "say-hello-from-agent";
  const bar = page.getByRole("status", { name: "Clipboard" });
  const tabs = page.locator(".group.focused .tab");
  const shown = (mark) => until(`the tab has shown ${mark}`, () => rig.termic("log", name, "--tab", "offers").text.includes(mark));
  const offer = async (text, mark) => {
    rig.termic("send", name, `printf '\\033]52;c;%s\\a' $(printf '${text}' | base64); echo ${mark}''-said`, "--tab", "offers");
    await shown(`${mark}-said`);
  };
  const look = (at) => page.locator(".group.focused .tab .pick").nth(at).click();
  rig.termic("tab", name, "--name", "offers");
  await until("another tab", async () => (await tabs.count()) === 2);
  // Its terminal was never on the page: the app has kept the last offer.
  await look(0);
  await until("the first tab is shown", async () => (await page.locator('.group.focused .tab.on').count()) === 1 && (await bar.count()) === 0);
  await page.reload();
  await until("two groups", async () => (await page.locator(".group").count()) === 2);
  await offer("earlier", "a");
  await offer("kept by the app", "b");
  assert.equal(await bar.count(), 0, "asked although its tab is hidden");
  await look(1);
  await bar.waitFor();
  assert.match(await bar.innerText(), /wants to put 15 characters on the clipboard:\s+kept by the app/);
  await bar.getByRole("button", { name: "Not now" }).click();
  await bar.waitFor({ state: "detached" });
  // Now the page has a terminal for it, which is out of view: it keeps the last one itself.
  await look(0);
  await offer("earlier", "c");
  await offer("kept by the page", "d");
  assert.equal(await bar.count(), 0, "asked although its tab is hidden");
  await look(1);
  await bar.waitFor();
  assert.match(await bar.innerText(), /kept by the page/);
  await bar.getByRole("button", { name: "Copy" }).click();
  await until("it is copied", async () => (await page.evaluate(() => navigator.clipboard.readText())) === "kept by the page");
  // The twin: nothing was offered since, and what was answered is not asked again, by no page.
  await look(0);
  await look(1);
  await shows("d-said");
  assert.equal(await bar.count(), 0, "asked again");
  await page.reload();
  await shows("d-said");
  assert.equal(await bar.count(), 0, "asked again by the next page");
  await look(1);
  await page.keyboard.press("Control+Shift+W");
  await until("one tab less", () => task(name).tabs.every((tab) => tab.name !== "offers"));
});

test("a paste of control characters is asked about, and can be taken without them", async () => {
  const paste = (text) => page.evaluate((t) => navigator.clipboard.writeText(t), text).then(() => page.keyboard.press("Control+Shift+V"));
  await paste("echo pasted-\u001b[31m1\n");
  const dialog = page.getByRole("dialog", { name: "Paste this?" });
  await dialog.waitFor();
  assert.match(await dialog.locator("pre").innerText(), /␛\[31m/);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await paste("echo pasted-\u001b[31m1\n");
  await dialog.getByRole("button", { name: "Paste without control characters" }).click();
  await shows("pasted-[31m1");
  await page.keyboard.press("Control+C");
  await paste("echo plain-$((2+3))");
  await page.keyboard.press("Enter");
  await shows("plain-5"); // one line needs no question
});

test("what the agent changed is listed and shown, side by side and unified", async () => {
  const { path } = task("say-hello-from-agent");
  writeFileSync(join(path, "code.ts"), readFileSync(join(path, "code.ts"), "utf8").replace("line5 = 5;", "line5 = 555;"));
  writeFileSync(join(path, "new file.txt"), "<b>new</b>\n");
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByRole("button", { name: /new file\.txt/ }).waitFor();
  await page.locator(".file", { hasText: "code.ts" }).click();
  await page.locator(".review .cm-content").first().waitFor();
  await until("the change is shown", async () => /line5 = 555/.test(await page.locator(".review").innerText()));
  await page.getByRole("button", { name: "Next file (J)" }).click();
  await until("the file's text is text", async () => /<b>new<\/b>|# shop/.test(await page.locator(".review").innerText()));
  await page.keyboard.press("Control+Shift+W");
  await until("the review is closed", async () => (await page.locator(".review").count()) === 0);
});

test("a new task by dialog: its name is suggested, its branch is made", async () => {
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What should it do?").fill("say Fix the flaky test");
  assert.equal(await dialog.getByLabel("Name", { exact: false }).first().inputValue(), "say-fix-flaky-test");
  await dialog.getByLabel("Name", { exact: false }).first().fill("flaky");
  await page.keyboard.press("Control+Enter");
  await shows("Fix the flaky test");
  assert.equal(task("flaky").branch, "termic/flaky");
  assert.match(rig.git("worktree", "list"), /flaky/);
});

test("a taken name is said beside the name, and nothing is made", async () => {
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Name", { exact: false }).first().fill("flaky");
  await dialog.getByRole("button", { name: /Create task/ }).click();
  await until("the refusal", async () => /flaky/.test(await dialog.getByRole("alert").innerText()));
  assert.equal(rig.termic("list").tasks.length, 2);
  await page.keyboard.press("Escape");
  await until("the dialog is gone", async () => (await dialog.count()) === 0);
});

test("the control plane is switched on; an agent makes a task, which appears below its own", async () => {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox").fill("control plane settings");
  await page.keyboard.press("Enter");
  await page.getByRole("switch", { name: "Endpoint" }).click();
  await until("the endpoint serves", () => rig.termic("doctor").checks.some((c) => c.name === "endpoint" && c.state === "ok"));
  await until("its address is shown", async () => /127\.0\.0\.1:\d+/.test(await page.locator(".status").innerText()));
  assert.match(rig.secret("mcp-port"), /^\d+$/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+N");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What should it do?").fill('call task_new {"name": "child", "agent": "shell"}');
  await dialog.getByLabel("Name", { exact: false }).first().fill("parent");
  await dialog.getByRole("button", { name: /Create task/ }).click();
  await row("child").waitFor();
  assert.equal(await row("child").getAttribute("aria-level"), "3");
  assert.equal(task("child").creator, task("parent").id);
  await page.getByRole("tab", { name: "Control" }).click();
  await until("the call is told", async () => /task_new/.test(await page.locator(".calls").innerText()));
  await page.locator(".calls .line").first().click();
  assert.match(await page.locator(".facts").innerText(), /Audit id\s+r-/);
});

test("the command line brings a task to the front", async () => {
  const shown = (name) => until(`${name} is shown`, async () => (await page.getByRole("heading", { level: 1 }).innerText()) === name);
  rig.termic("open", "flaky");
  await shown("flaky");
  // One that was made a moment ago, of which the page may not have been told yet.
  for (const name of ["fresh", "newest"]) {
    rig.termic("new", name, "--agent", "shell");
    rig.termic("open", name);
    await shown(name);
    rig.termic("archive", name, "--force");
  }
});

test("a task is renamed with F2 in the list", async () => {
  await page.getByRole("tree").focus();
  await page.keyboard.type("flaky");
  await page.keyboard.press("F2");
  const dialog = page.getByRole("dialog", { name: "Rename task" });
  await dialog.getByLabel("Name").fill("sturdy");
  await page.keyboard.press("Enter");
  await row("sturdy").waitFor();
  assert.ok(task("sturdy"));
});

test("archiving says what is kept, keeps it, and restoring brings it back", async () => {
  const { path } = task("sturdy");
  writeFileSync(join(path, "precious.txt"), "not committed\n");
  await row("sturdy").click();
  await page.getByRole("button", { name: "Archive task" }).click();
  const dialog = page.getByRole("dialog", { name: /Archive sturdy/ });
  await until("the preflight", async () => /untracked/i.test(await dialog.innerText()));
  await dialog.getByRole("button", { name: /archive/i }).last().click();
  await until("the row is gone", async () => (await row("sturdy").count()) === 0);
  assert.ok(!existsSync(path));
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox").fill("restore");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Restore sturdy" }).click();
  await row("sturdy").waitFor();
  assert.equal(readFileSync(join(path, "precious.txt"), "utf8"), "not committed\n");
});

test("a shortcut is rebound, refused where it is the terminal's, and kept by the app", async () => {
  await page.keyboard.press("Control+Shift+,");
  await page.getByRole("button", { name: "Shortcuts" }).click();
  const keys = page.getByRole("button", { name: /^Keys of New shell tab/ });
  await keys.click();
  await page.keyboard.press("Control+K");
  assert.match(await page.getByRole("alert").innerText(), /belong to the terminal/);
  await page.keyboard.press("Control+Shift+P");
  assert.match(await page.getByRole("alert").innerText(), /taken by “Command palette”/);
  await page.keyboard.press("Control+Shift+Y");
  await until("it is kept", () => rig.termic("settings", "get", "shortcuts").setting.value.includes("Ctrl+Shift+Y"));
  await page.keyboard.press("Escape");
  const before = task("sturdy").tabs.length;
  await page.keyboard.press("Control+Shift+Y");
  await until("another tab", () => task("sturdy").tabs.length === before + 1);
});

test("colours are a setting of the app, and the terminal follows", async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.querySelector(".shows")).backgroundColor);
  const dark = await ground();
  rig.termic("settings", "set", "appearance.theme", "light");
  await until("light", async () => (await ground()) !== dark);
  rig.termic("settings", "set", "appearance.theme", "system");
  await until("dark again", async () => (await ground()) === dark);
});

test("stop all ends the control plane at once", async () => {
  await page.keyboard.press("Control+Shift+F9");
  await page.getByRole("button", { name: /Stop all/ }).click();
  await until("nothing is advertised", () => !existsSync(join(rig.data, "mcp-port")));
  await page.keyboard.press("Escape");
});

test("the page had nothing to complain about, and asked nobody but the app", () => {
  assert.deepEqual(page.complaints, []);
});

test("every write stands in the audit log as the window's, and the app ends in order", async () => {
  const log = readdirSync(join(rig.data, "audit")).filter((n) => n.endsWith(".jsonl")).flatMap((n) => readFileSync(join(rig.data, "audit", n), "utf8").trim().split("\n")).map((line) => JSON.parse(line).event).filter(Boolean);
  for (const verb of ["project_add", "task_new", "task_tab", "task_archive", "task_restore", "settings_set"])
    assert.ok(log.some((e) => e.verb === verb && e.way === "window" && e.phase === "finished"), verb);
  const end = await rig.stop();
  assert.equal(end.code, 0, end.output);
});
