// Review in the page: what the person stages, commits, discards and says of lines. Effects are looked for outside of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

let rig, browser, url, page, path;
before(async () => {
  rig = new Rig();
  url = await rig.page();
  browser = await launch();
  page = await open(browser, url);
  rig.git("config", "user.name", "A Person");
  rig.git("config", "user.email", "person@example.org");
  rig.termic("project", "add", rig.repo);
  path = rig.termic("new", "fix", "--project", "shop", "--agent", "claude", "--prompt", "say ready").task.path;
  await until("it has settled", () => state() === "done");
  await page.getByRole("treeitem", { name: /fix/ }).click();
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const state = () => rig.termic("list").tasks.find((t) => t.name === "fix").state;
const git = (...args) => execFileSync("git", ["-C", path, "-c", "core.quotepath=false", ...args], { env: rig.env, encoding: "utf8" });
const status = () => git("status", "--porcelain", "-uall").trimEnd();
const put = (name, text) => writeFileSync(join(path, name), text);
const code = (at, text) => Array.from({ length: 60 }, (_, i) => (i === at ? text : `export const line${i} = ${i}; // a number`)).join("\n") + "\n";
const list = () => page.getByRole("grid", { name: "Changed files" });
/** Waits until what was clicked is done and shown: until then keys and clicks do nothing. */
const quiet = () => until("no call runs", async () => page.getByRole("button", { name: "Discard all" }).isEnabled());
const row = (name) => list().getByRole("row").filter({ has: page.getByRole("button", { name }) });
const look = () => page.getByRole("button", { name: "Look again" }).click();
const kept = process.env.PICTURES;
/** Nothing that axe finds wrong, dark and light; with a picture of each for whoever looks. */
async function right(name) {
  const wrong = [];
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    wrong.push(...(await axe(page)).map((line) => `${name} ${colorScheme}: ${line}`));
    if (kept) {
      mkdirSync(kept, { recursive: true });
      await page.screenshot({ path: join(kept, `review-${name}-${colorScheme}.png`), animations: "disabled", caret: "hide" });
    }
  }
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(wrong, []);
}

test("files are staged and unstaged, one by one and all, with the mouse and with keys", async () => {
  put("code.ts", code(5, "export const line5 = 555;"));
  put("a name that is so long that no panel has room for all of it, whatever the person makes of its width.txt", "long\n");
  put("תרגום.md", "# שלום\n");
  symlinkSync("/etc/passwd", join(path, "link"));
  await look();
  await page.getByRole("checkbox", { name: "Stage code.ts" }).click();
  await until("it is staged", () => /^M {2}code\.ts$/m.test(status()));
  await until("and shown so", async () => page.getByRole("checkbox", { name: "Stage code.ts" }).isChecked());
  put("code.ts", code(5, "export const line5 = 5555;"));
  await look();
  await until("staged in part", () => page.getByRole("checkbox", { name: "Stage code.ts" }).evaluate((box) => box.indeterminate));
  await right("changes");
  // Keys: the first row, and back.
  await list().focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await until("the first is staged", () => /^A {2}"?a name/m.test(status()));
  await quiet();
  await list().focus();
  await page.keyboard.press("Space");
  await until("the first is unstaged", () => /^\?\? "?a name/m.test(status()));
  await quiet();
  await page.getByRole("button", { name: "Stage all" }).click();
  await until("all is staged", () => !/^(.[^ ])/m.test(status()));
  await quiet();
  await page.getByRole("button", { name: "Unstage all" }).click();
  await until("nothing is staged", () => !/^[^ ?]/m.test(status()));
});

test("what is staged is committed by the person, and nothing else", async () => {
  await page.getByRole("checkbox", { name: "Stage code.ts" }).click();
  await until("it is staged", () => /^M {2}code\.ts$/m.test(status()));
  const message = page.getByLabel("Message of the commit");
  await message.fill("make line 5 larger\n\nIt was too small.");
  await page.getByRole("button", { name: "Commit 1" }).waitFor();
  await message.press("Control+Enter");
  await until("it is committed", () => git("log", "-1", "--format=%s|%b|%an").trim() === "make line 5 larger|It was too small.\n|A Person");
  assert.equal(git("show", "--name-only", "--format=").trim(), "code.ts");
  assert.match(status(), /\?\? תרגום\.md/);
  await until("the message is gone", async () => (await message.inputValue()) === "");
  await page.getByRole("list", { name: "Commits" }).getByText("make line 5 larger").waitFor();
});

test("one commit is looked at alone", async () => {
  put("code.ts", code(7, "export const line7 = 777;"));
  await look();
  await page.getByRole("list", { name: "Commits" }).getByRole("button", { name: /make line 5 larger/ }).click();
  await until("its change is shown", async () => /5555/.test(await page.locator(".review").innerText()));
  assert.doesNotMatch(await page.locator(".review").innerText(), /777/);
  assert.equal(await list().getByRole("row").count(), 1);
  assert.equal(await page.getByRole("checkbox").count(), 0);
  await right("commit");
  await page.getByRole("button", { name: "All changes" }).click();
  await until("all is listed again", async () => (await list().getByRole("row").count()) > 1);
  await page.keyboard.press("Control+Shift+W");
});

test("a file is discarded, and undoing brings it back as it was", async () => {
  const before = readFileSync(join(path, "code.ts"), "utf8");
  await row(/code\.ts/).hover();
  await page.getByRole("button", { name: "Discard code.ts" }).click();
  await until("it is as it was committed", () => !readFileSync(join(path, "code.ts"), "utf8").includes("777"));
  assert.ok(existsSync(join(path, "link")), "another file went with it");
  const bar = page.getByRole("status").filter({ hasText: "1 file discarded" });
  await bar.waitFor();
  await right("discarded");
  await bar.getByRole("button", { name: "Undo" }).click();
  await until("it is back", () => readFileSync(join(path, "code.ts"), "utf8") === before);
  await until("the bar is gone", async () => (await bar.count()) === 0);
  await quiet();
  // With keys: an untracked file, and all.
  await list().focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Delete");
  await until("the last went", () => !existsSync(join(path, "תרגום.md")));
  await quiet();
  await page.getByRole("button", { name: "Discard all" }).click();
  await until("all is discarded", () => status() === "");
  assert.equal(rig.termic("discards", "fix").discards.length, 2);
  await page.reload(); // the offer outlives it
  await page.getByRole("button", { name: "Undo" }).click();
  await until("it is back", () => existsSync(join(path, "link")) && !existsSync(join(path, "תרגום.md")));
  await quiet();
  await page.getByRole("button", { name: "Undo" }).click();
  await until("so is the other", () => existsSync(join(path, "תרגום.md")));
});

test("a refusal is said where the button is", async () => {
  const mark = join(git("rev-parse", "--absolute-git-dir").trim(), "MERGE_HEAD");
  writeFileSync(mark, git("rev-parse", "HEAD"));
  await page.getByRole("checkbox", { name: "Stage code.ts" }).click();
  await until("it is said", async () => /merge is unfinished/.test(await page.getByRole("alert").innerText()));
  execFileSync("rm", [mark]);
  await page.getByRole("checkbox", { name: "Stage code.ts" }).click();
  await until("it is staged", () => /^M {2}code\.ts$/m.test(status()));
});

test("what the project has by now is not shown against its tip", async () => {
  writeFileSync(join(rig.repo, "code.ts"), readFileSync(join(path, "code.ts")));
  rig.git("commit", "-qam", "the same, by hand");
  writeFileSync(join(rig.repo, "README.md"), "# of the project\n");
  rig.git("commit", "-qam", "something else");
  await page.getByRole("radio", { name: "Tip" }).click();
  await until("what landed is not listed", async () => (await row(/code\.ts/).count()) === 0 && (await row(/link/).count()) === 1);
  assert.equal(await row(/README/).count(), 0);
  await page.getByRole("radio", { name: "Its start" }).click();
  await row(/code\.ts/).waitFor();
});

test("comments on lines reach the agent as one text that names and quotes them", async () => {
  await row(/code\.ts/).getByRole("button").first().click();
  await page.getByRole("radio", { name: "Side by side" }).click();
  await page.locator(".cm-merge-b .cm-content").waitFor();
  // With the mouse: a line's number. With keys: C, on the line of the cursor.
  await page.locator(".cm-merge-b .cm-lineNumbers .cm-gutterElement", { hasText: /^8$/ }).click();
  await page.getByLabel("Comment on code.ts:8").last().fill("Why seven hundred?");
  await page.keyboard.press("Control+Enter");
  await page.locator(".cm-note", { hasText: "Why seven hundred?" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("c");
  await page.getByLabel("Comment on code.ts:7").last().fill("And this one?");
  await right("comment");
  await page.keyboard.press("Escape");
  await page.keyboard.press("c");
  await page.getByLabel("Comment on code.ts:7").last().fill("jk: letters are letters here");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Remove the comment on code.ts:8" }).waitFor();
  await right("comments");
  const send = page.getByRole("button", { name: "Send 2 comments to claude" });
  await send.click();
  const text = "2 comments on your changes:\n\ncode.ts:7\n> export const line6 = 6; // a number\njk: letters are letters here\n\ncode.ts:8\n> export const line7 = 777;\nWhy seven hundred?";
  // The scripted agent draws no box like claude's: what is sent waits for one, and can be read meanwhile.
  await until("they wait for the agent", () => rig.termic("queue", "fix").texts.length === 1);
  assert.equal(rig.termic("queue", "fix").texts[0].text, text);
  await until("they are gone from the page", async () => (await send.count()) === 0 && (await page.locator(".cm-note").count()) === 0);
  await until("it is said", async () => /2 comments wait/.test(await page.locator(".status").innerText()));
});

test("a comment on what was there before says so", async () => {
  await page.locator(".cm-merge-a .cm-lineNumbers .cm-gutterElement", { hasText: /^8$/ }).click();
  await page.getByLabel("Comment on code.ts:8").last().fill("Bring it back.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send 1 comment to claude" }).click();
  await until("it waits", () => rig.termic("queue", "fix").texts.length === 2);
  assert.equal(rig.termic("queue", "fix").texts[1].text, "A comment on your changes:\n\ncode.ts:8 (as it was before the change)\n> export const line7 = 7; // a number\nBring it back.");
  await page.keyboard.press("Control+Shift+W");
});

test("20,000 files are listed, with as many rows as are seen", async () => {
  for (let d = 0; d < 200; d++) {
    mkdirSync(join(path, `many/d${String(d).padStart(3, "0")}`), { recursive: true });
    for (let f = 0; f < 100; f++) put(`many/d${String(d).padStart(3, "0")}/f${String(f).padStart(2, "0")}.txt`, `${d} ${f}\n`);
  }
  await look();
  await until("they are counted", async () => /2000\d/.test(await page.getByRole("tab", { name: /^Changes/ }).first().innerText()), 120_000);
  assert.ok((await list().getByRole("row").count()) < 60, "rows that nobody sees are on the page");
  await list().focus();
  await page.keyboard.press("End");
  await page.keyboard.press("PageUp");
  await page.keyboard.press("Enter");
  // Beyond what the whole diff holds: the file is asked for by itself.
  await until("its text is shown", async () => /\d+ \d+/.test(await page.locator(".review .cm-content").last().innerText()), 120_000);
  await right("many");
});

test("the page had nothing to complain about", () => assert.deepEqual(page.complaints, []));
