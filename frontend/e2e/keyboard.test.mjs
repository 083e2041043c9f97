// Every view and dialog with the keyboard alone: all that can be pressed is reached and shows its ring, a dialog keeps the keys,
// and gives them back where they were.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";
import { act, leave, pick, populate, scenes } from "./scenes.mjs";

let rig, browser, page;
before(async () => {
  rig = new Rig();
  const url = await rig.page();
  browser = await launch();
  await populate(rig);
  page = await open(browser, url);
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const inTerminal = () => page.evaluate(() => document.activeElement?.classList.contains("xterm-helper-textarea"));

/**
 * Walks with Tab from the first control of a part until it comes round, and returns what was never reached or showed no ring, one
 * line each. Controls of one group (tabs, radios, options) are reached together: the arrows do the rest.
 */
async function walked(part) {
  await page.evaluate((part) => {
    const root = document.querySelector(part);
    globalThis.toReach = new Set([...root.querySelectorAll("button, input, select, textarea, [tabindex='0'], a[href]")].filter((e) =>
      e.checkVisibility() && !e.disabled && e.getAttribute("tabindex") !== "-1" && !e.closest("[inert]") && !(e.type === "radio" && !e.checked && root.querySelector(`[name="${e.name}"]:checked`))));
    globalThis.ringless = new Set();
    globalThis.begin = [...globalThis.toReach][0];
    globalThis.begin?.focus();
  }, part);
  await page.keyboard.press("Tab"); // a ring is shown to those who come by keyboard
  await page.evaluate(() => globalThis.begin?.focus());
  for (let n = 0; n < 250; n++) {
    const left = await page.evaluate(() => {
      const at = document.activeElement;
      globalThis.toReach.delete(at);
      // The palette's field is the only thing there that takes keys, and the tree marks the row that they act on.
      const field = at.closest(".field, label, .query") ?? at.querySelector(".marked") ?? at;
      const ring = [at, field].some((e) => { const s = getComputedStyle(e); return s.outlineStyle !== "none" || s.boxShadow !== "none" || e.matches(".query, .marked"); });
      if (!ring && at !== document.body) globalThis.ringless.add(at);
      return globalThis.toReach.size;
    });
    if (left === 0) break;
    await page.keyboard.press("Tab");
  }
  return page.evaluate(() => [...[...globalThis.toReach].map((e) => `never reached: ${e.outerHTML.slice(0, 140)}`), ...[...globalThis.ringless].map((e) => `no ring: ${e.outerHTML.slice(0, 140)}`)]);
}

test("all that a dialog or a page of the settings has is reached with Tab, which stays in it", async () => {
  const wrong = [];
  for (const { name, show, close = leave } of scenes(rig)) {
    await show(page).catch((error) => assert.fail(`${name}: ${error.message}`));
    const part = await page.evaluate(() => [".dialog", ".settings"].find((s) => document.querySelector(s)));
    if (part) {
      wrong.push(...(await walked(part)).map((line) => `${name}: ${line}`));
      if (part === ".dialog" && !(await page.evaluate(() => document.querySelector(".dialog").contains(document.activeElement)))) wrong.push(`${name}: Tab left the dialog`);
    }
    await close(page).catch((error) => assert.fail(`${name}: ${error.message}`));
  }
  assert.equal(wrong.join("\n"), "");
});

test("Ctrl+F6 walks the regions of the window, and Tab all that is in them", async () => {
  await leave(page);
  await pick(page, "review-me");
  const wrong = [];
  const seen = new Set();
  for (let n = 0; n < 4; n++) {
    await page.keyboard.press("Control+F6");
    const region = await until("a region", () => page.evaluate(() => document.activeElement.closest("[data-region]")?.dataset.region));
    seen.add(region);
  }
  assert.deepEqual([...seen].sort(), ["main", "panel", "sidebar", "status"]);
  // The terminal has Tab for itself: it is left with Ctrl+F6.
  for (const part of [".side[data-region=sidebar]", "aside.panel", ".main > .bar", ".strip .tools", "footer.status"]) wrong.push(...(await walked(part)).map((line) => `${part}: ${line}`));
  assert.equal(wrong.join("\n"), "");
});

/** Dialogs as they are opened from a terminal: by the palette, or with keys of their own. */
const dialogs = [
  ["command palette", "Control+Shift+P"], ["switch task", "Control+Shift+O"], ["new task", "Control+Shift+N"], ["send a prompt", "Control+Shift+Enter"],
  ["add project"], ["rename task"], ["archive task"], ["restore an archived"], ["apply to the project"], ["take the last landing"], ["change the cage"],
  ["texts that wait"], ["disk use"], ["project settings"], ["open a tab outside", undefined, "caged"], ["close tab", "Control+Shift+W", "work-on"],
];
for (const [name, keys, task = "review-me"] of dialogs)
  test(`${name}: the dialog takes the keys, and Esc gives them back to the terminal`, async () => {
    await leave(page);
    await pick(page, task);
    await until("the terminal has the keys", inTerminal);
    if (keys) await page.keyboard.press(keys);
    else await act(page, name);
    await until("the dialog has them", () => page.evaluate(() => document.querySelector(".dialog:not(:has(#hits))")?.contains(document.activeElement) ?? document.activeElement?.closest(".dialog") !== null));
    await page.keyboard.press("Escape");
    await until("it is gone", async () => (await page.locator(".dialog").count()) === 0);
    await until("the terminal has the keys again", inTerminal, 5000);
  });

test("a dialog that a button opened gives the keys back to the button", async () => {
  await leave(page);
  await pick(page, "review-me");
  for (const name of ["Archive task"]) {
    await page.getByRole("button", { name }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await until(`the keys are back on ${name}`, () => page.evaluate((n) => document.activeElement?.getAttribute("aria-label") === n, name), 5000);
  }
});

test("settings give the keys back to the terminal", async () => {
  await leave(page);
  await pick(page, "review-me");
  await page.keyboard.press("Control+Shift+,");
  await until("the page has them", () => page.evaluate(() => document.activeElement?.closest(".settings nav") !== null));
  await page.keyboard.press("Escape");
  await until("the terminal has them again", inTerminal, 5000);
});

test("the search gives the keys back to the terminal, from its field and from its buttons", async () => {
  for (const at of ["Find in terminal", "Next"]) {
    await page.keyboard.press("Control+Shift+F");
    await page.getByLabel("Find in terminal").fill("nothing");
    await page.locator(".find").getByLabel(at, { exact: false }).first().focus();
    await page.keyboard.press("Escape");
    await until("it is gone", async () => (await page.locator(".find").count()) === 0);
    await until("the terminal has them again", inTerminal, 5000);
  }
});

test("a menu gives the keys back to its button", async () => {
  await page.getByRole("button", { name: "More" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await until("the button has them", () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "More"), 5000);
});

test("every action can be given other keys, which then work, and the old ones do not", async () => {
  await leave(page);
  await act(page, "rebind a shortcut");
  const buttons = page.getByRole("button", { name: /^Keys of / });
  const count = await buttons.count();
  assert.ok(count > 40, `${count} actions`);
  const kept = () => JSON.parse(rig.termic("settings", "get", "shortcuts").setting.value || "{}");
  for (let n = 0; n < count; n++) {
    await buttons.nth(n).click();
    await page.keyboard.press(`Control+Alt+${n < 26 ? "" : "Shift+"}Key${String.fromCharCode(65 + (n % 26))}`);
    await until(`the keys of ${n}`, async () => /Ctrl\+Alt\+/.test(await buttons.nth(n).innerText()));
  }
  assert.equal(Object.keys(kept()).length, count);
  assert.equal(new Set(Object.values(kept())).size, count);
  await page.keyboard.press("Escape");
  await until("the tasks are shown", async () => (await page.locator(".settings").count()) === 0);
  await page.keyboard.press("Control+Shift+P");
  assert.equal(await page.locator(".dialog").count(), 0, "the old keys open the palette");
  const { palette, sidebar } = kept();
  const press = (keys) => page.keyboard.press(keys.replace("Ctrl", "Control").replace(/([A-Z])$/, "Key$1"));
  await press(palette);
  await page.getByRole("combobox", { name: "Task or action" }).waitFor();
  await page.keyboard.press("Escape");
  await press(sidebar);
  await page.locator("aside.rail").waitFor();
  rig.termic("settings", "set", "shortcuts", "{}");
  await until("the old ones work again", async () => {
    await page.keyboard.press("Control+Shift+P");
    return (await page.locator(".dialog").count()) > 0;
  });
  await leave(page);
});

test("the page had nothing to complain about", () => assert.deepEqual(page.complaints, []));
