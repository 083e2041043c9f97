// Five hundred tasks: what is on the page is what is in view, so that they cost what thirty do. The app's own answer is stretched on its
// way to the page: five hundred checkouts would take minutes to make and show nothing more.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

let rig, browser, url;
before(async () => {
  rig = new Rig();
  url = await rig.page();
  browser = await launch();
  rig.termic("project", "add", rig.repo);
  rig.termic("new", "task", "--agent", "shell");
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const states = ["working", "waiting", "done", "idle", "exited", "unknown"];

/** Opens the page on this many tasks, and returns it with what the browser counts of it. */
async function counted(tasks) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ignoreHTTPSErrors: true });
  const stretched = await context.newPage();
  await stretched.route("**/call/window_watch", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    const [one] = body.result.tasks;
    for (let i = 1; i < tasks; i++)
      body.result.tasks.push({ ...one, id: `t-${String(i).padStart(16, "a")}`, name: `task-${i}`, state: states[i % states.length], created: new Date(Date.parse(one.created) - i * 1000).toISOString(), tabs: [] });
    await route.fulfill({ response: answer, json: body });
  });
  await stretched.goto(url);
  await stretched.getByRole("treeitem", { name: /task/ }).first().waitFor();
  const cdp = await context.newCDPSession(stretched);
  await cdp.send("Performance.enable");
  return { page: stretched, metrics: async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    return Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));
  } };
}

test("the page holds no more elements and listeners for 500 tasks than for 40, before and after a scroll through all", async () => {
  const few = await counted(40);
  const many = await counted(500);
  const [a, b] = [await few.metrics(), await many.metrics()];
  for (const what of ["Nodes", "JSEventListeners"]) assert.ok(b[what] < a[what] * 1.15, `${what}: ${a[what]} with 40 tasks, ${b[what]} with 500`);
  const { page } = many;
  const rows = page.getByRole("treeitem");
  assert.ok((await rows.count()) < 60, `${await rows.count()} rows are on the page`);
  await page.getByRole("tree").focus();
  for (const key of ["End", "Home", "End"]) await page.keyboard.press(key);
  await page.locator(".marked").waitFor();
  for (let i = 0; i < 40; i++) await page.keyboard.press("PageUp");
  await until("the first is in view again", () => page.evaluate(() => document.querySelector("[role=tree]").scrollTop === 0));
  await page.getByLabel("Filter tasks").fill("task-49");
  await until("eleven fit", async () => (await page.locator(".task[role=treeitem]").count()) === 11);
  await page.getByLabel("Filter tasks").fill("");
  await until("all are there", async () => (await rows.count()) > 20);
  const c = await many.metrics();
  for (const what of ["Nodes", "JSEventListeners"]) assert.ok(c[what] < b[what] * 1.3, `${what}: ${b[what]} before, ${c[what]} after`);
});

test("a key in the list of 500 is answered within a frame or two", async () => {
  const { page } = await counted(500);
  await page.getByRole("tree").focus();
  // Work of the page alone, so that a busy machine does not fail it: script and layout of one key.
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  const busy = async () => (await cdp.send("Performance.getMetrics")).metrics.filter((m) => ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].includes(m.name)).reduce((sum, m) => sum + m.value, 0);
  const before = await busy();
  for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowDown");
  const each = ((await busy()) - before) / 60 * 1000;
  assert.ok(each < 50, `${each.toFixed(1)} ms of the page's work for one key`);
});
