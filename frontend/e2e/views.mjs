// Every view and dialog in some looks: nothing that axe finds wrong, nothing that does not fit, and, where a look says so, the
// picture that its reference has. PICTURES=DIR keeps a picture of each, for whoever looks.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe, launch, open } from "./browser.mjs";
import { compare } from "./pictures.mjs";
import { Rig } from "./rig.mjs";
import { leave, populate, scenes } from "./scenes.mjs";

/** Returns what sticks out of the window or out of its row, one line each. */
const unfit = (page) => page.evaluate(() => {
  const out = [];
  const say = (what, element) => out.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  if (document.scrollingElement.scrollWidth > innerWidth) out.push(`the page is ${document.scrollingElement.scrollWidth} px wide, the window ${innerWidth}`);
  for (const row of document.querySelectorAll("[role=treeitem]")) if (row.getBoundingClientRect().height !== 28) say("a row of another height", row);
  const over = document.querySelectorAll(".dialog");
  for (const part of over.length > 0 ? over : document.querySelectorAll("[role=alertdialog], .panel, .settings, main")) {
    const box = part.getBoundingClientRect();
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("it leaves the window", part);
    // Whatever can be pressed must be reachable: inside its part, or in something of it that scrolls.
    for (const control of part.querySelectorAll("button, input, select, textarea")) {
      const at = control.getBoundingClientRect();
      if (at.width === 0 || control.closest(".xterm, .cm-editor, .tabs, [role=menu]")) continue;
      if (at.left < box.left - 1 || at.right > box.right + 1) say("a control sticks out of its part", control);
    }
  }
  return out;
});

/** Declares the tests of one file: every look is { name, pictures?, and what open takes }. */
export function everyView(looks) {
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
  const looked = async (page, scene, { name, pictures }) =>
    [...(await axe(page)), ...(await unfit(page)), ...(pictures ? await compare(page, `${scene}-${name}`) : [])].map((line) => `${scene}, ${name}: ${line}`);

  test("first run", async () => {
    const wrong = [];
    for (const look of looks) {
      const page = await open(browser, url, look);
      await page.getByText("Claude Code", { exact: true }).waitFor();
      wrong.push(...(await looked(page, "first-run", look)));
      await page.context().close();
    }
    assert.equal(wrong.join("\n"), "");
  });

  test("tasks come into every state, with names that are long", () => populate(rig));

  for (const look of looks)
    test(`every view, ${look.name}`, async () => {
      const page = await open(browser, url, look);
      const wrong = [];
      for (const { name, show, close = leave } of scenes(rig)) {
        await show(page).catch((error) => assert.fail(`${name}: ${error.message}`));
        wrong.push(...(await looked(page, name, look)));
        await close(page);
      }
      assert.equal([...wrong, ...page.complaints].join("\n"), "");
      await page.context().close();
    });
}
