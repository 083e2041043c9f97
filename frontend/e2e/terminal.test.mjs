// Terminals in the page: what a person does with one besides typing, and that it shows what the app's own screen holds.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, screen } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";
import { pick } from "./scenes.mjs";

let rig, browser, page;
before(async () => {
  rig = new Rig();
  const url = await rig.page();
  browser = await launch();
  rig.termic("project", "add", rig.repo);
  for (const name of ["one", "other"]) rig.termic("new", name, "--agent", "shell");
  page = await open(browser, url);
  await pick(page, "one");
  await ready();
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const checkout = (name) => rig.termic("list").tasks.find((t) => t.name === name).path;
const ready = () => until("a prompt that has the keys", async () =>
  /[$#]/.test(await screen(page)) && (await page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea"))));
const shows = (text) => until(`the terminal shows ${text}`, async () => (await screen(page)).includes(text));

test("an input method composes, and only what it commits is typed", async () => {
  await page.keyboard.type("cat > composed\n");
  await until("cat runs", () => existsSync(join(checkout("one"), "composed")));
  const cdp = await page.context().newCDPSession(page);
  for (const text of ["に", "にほ", "にほん"]) await cdp.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  await until("what is composed is shown at the cursor", () => page.evaluate(() => document.querySelector(".group.focused .composition-view.active")?.textContent === "にほん"));
  assert.doesNotMatch(rig.termic("log", "one").text, /に/, "it was typed before it was committed");
  await cdp.send("Input.insertText", { text: "日本" });
  await page.keyboard.press("Enter");
  await shows("日本");
  // One that is given up leaves nothing behind.
  await cdp.send("Input.imeSetComposition", { text: "ご", selectionStart: 1, selectionEnd: 1 });
  await cdp.send("Input.imeSetComposition", { text: "", selectionStart: 0, selectionEnd: 0 });
  await page.keyboard.type("ende\n");
  await page.keyboard.press("Control+D");
  await until("the file", () => readFileSync(join(checkout("one"), "composed"), "utf8") === "日本\nende\n");
});

/** Drops what a file manager gives on the terminal. */
const drop = (uris) => page.evaluate((list) => {
  const data = new DataTransfer();
  data.setData("text/uri-list", list);
  document.querySelector(".group.focused .term").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, uris);

test("paths that are dropped are typed as words of the shell", async () => {
  const odd = join(rig.base, "it's $(touch run) ünlike.txt");
  writeFileSync(odd, "x\n");
  await page.keyboard.type("printf '%s\\n' ");
  await drop([odd, rig.repo].map((path) => `file://${path.split("/").map(encodeURIComponent).join("/")}`).join("\r\n"));
  await page.keyboard.type("> dropped\n");
  await until("the file", () => existsSync(join(checkout("one"), "dropped")) && readFileSync(join(checkout("one"), "dropped"), "utf8") !== "");
  assert.equal(readFileSync(join(checkout("one"), "dropped"), "utf8"), `${odd}\n${rig.repo}\n`);
  assert.ok(!existsSync(join(checkout("one"), "run")), "a name ran as a command");
});

test("a tab's tooltip tells the directory that its shell reports, below the checkout only", async () => {
  const tip = () => page.locator(".group.focused [role=tab][aria-selected=true]").getAttribute("title");
  const report = (path) => page.keyboard.type(`printf '\\033]7;file://%s\\a' "${path}"\n`);
  assert.doesNotMatch(await tip(), / · in /);
  await report("$PWD/src/deep");
  await until("it is told", async () => (await tip()).endsWith(" · in src/deep"));
  await report("/etc");
  await until("one elsewhere is not", async () => !(await tip()).includes(" · in "));
});

test("a web address that is dropped is not typed", async () => {
  await drop("https://example.org/");
  await page.keyboard.type("echo clean-$((6*7))\n");
  await shows("clean-42");
  assert.doesNotMatch(await screen(page), /example\.org/);
});

let told;
/** The page shows exactly what the app's screen holds of this tab. */
const same = (name, tab) => until(`the page shows what the app has of ${name}`, async () => {
  const here = await screen(page);
  const there = rig.termic("log", name, "--tab", tab, "--lines", "12").text;
  told = `the page:\n${here}\nthe app:\n${there}`;
  const whole = (text) => text.replaceAll(/\s+/g, ""); // the app's lines are not cut where the page's are
  return whole(there) !== "" && whole(here).endsWith(whole(there));
}).catch((error) => assert.fail(`${error.message}\n${told}`));

test("a terminal that was left, hidden, written to and resized meanwhile shows all of it again", async () => {
  const text = "for i in $(seq 1 60); do echo line-$i; done";
  for (const [away, back] of [[() => pick(page, "other"), () => pick(page, "one")], [() => page.keyboard.press("Control+Shift+T"), () => page.keyboard.press("Control+PageUp")]]) {
    await pick(page, "one");
    await ready();
    await away();
    await until("it is hidden", async () => !(await page.locator(`.place[data-tab="${rig.termic("list").tasks.find((t) => t.name === "one").tabs[0].id}"]`).isVisible()));
    rig.termic("send", "one", `${text}; echo through-$((6*7))`, "--tab", "shell");
    await until("it was written", () => rig.termic("log", "one", "--tab", "shell").text.includes("through-42"));
    await page.setViewportSize({ width: 1000, height: 640 });
    await back();
    await shows("through-42");
    await same("one", "shell");
    await page.setViewportSize({ width: 1280, height: 800 });
    await same("one", "shell");
    rig.termic("send", "one", "clear", "--tab", "shell");
    await until("it is empty", async () => !(await screen(page)).includes("through-42"));
  }
});

test("a terminal that nobody looked at for a minute is let go, and comes back with its text", async () => {
  await page.clock.install();
  await page.reload(); // so that all timers of the page are the clock's
  await pick(page, "one");
  await ready();
  await page.keyboard.type("echo kept-$((6*7))\n");
  await shows("kept-42");
  await pick(page, "other");
  await page.clock.fastForward(61_000);
  rig.termic("send", "one", "echo meanwhile-$((6*7))", "--tab", "shell");
  await until("it was written", () => rig.termic("log", "one", "--tab", "shell").text.includes("meanwhile-42"));
  await pick(page, "one");
  await shows("meanwhile-42");
  await shows("kept-42");
  await same("one", "shell");
  await page.keyboard.type("echo goes-on-$((6*7))\n");
  await shows("goes-on-42");
});

test("the page had nothing to complain about", () => {
  // After the minute that was skipped the feed begins again, with a ticket that is as old as the minute.
  assert.deepEqual(page.complaints.filter((c) => !c.includes("status of 410")), []);
});
