// Every view and dialog: nothing that axe finds wrong, dark and light. PICTURES=DIR keeps a
// picture of each, for whoever looks.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open } from "./browser.mjs";
import { Rig } from "./rig.mjs";
import { leave, populate, scenes } from "./scenes.mjs";

let rig, browser, url;
before(async () => {
  rig = new Rig();
  url = await rig.page();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const looks = [
  { name: "dark", colorScheme: "dark" },
  { name: "light", colorScheme: "light" },
];

const kept = process.env.PICTURES;
async function picture(page, name) {
  if (!kept) return;
  mkdirSync(kept, { recursive: true });
  await page.screenshot({ path: join(kept, `${name}.png`), animations: "disabled", caret: "hide" });
}

test("first run, in every look", async () => {
  const wrong = [];
  for (const { name, ...look } of looks) {
    const page = await open(browser, url, look);
    await page.getByText("Claude Code", { exact: true }).waitFor();
    wrong.push(...(await axe(page)).map((line) => `${name}: ${line}`));
    await picture(page, `first-run-${name}`);
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});

test("tasks come into every state, with names that are long", () => populate(rig));

for (const { name: look, ...options } of looks)
  test(`every view, ${look}`, async () => {
    const page = await open(browser, url, options);
    const wrong = [];
    for (const { name, show, close = leave } of scenes(rig)) {
      await show(page).catch((error) => assert.fail(`${name}: ${error.message}`));
      wrong.push(...(await axe(page)).map((line) => `${name}: ${line}`));
      await picture(page, `${name}-${look}`);
      await close(page);
    }
    assert.deepEqual([...wrong, ...page.complaints], []);
    await page.context().close();
  });
