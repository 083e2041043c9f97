// Every view and dialog: nothing that axe finds wrong, in both schemes, in high contrast, and small; and pictures of
// them, compared with the references in testdata (UPDATE=1 takes new ones; look at them before you keep them).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open } from "./browser.mjs";
import { compare } from "./pictures.mjs";
import { Rig, until } from "./rig.mjs";

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
  { name: "dark-small", colorScheme: "dark", width: 960, height: 600 },
  { name: "light-small", colorScheme: "light", width: 960, height: 600 },
  { name: "dark-contrast", colorScheme: "dark", contrast: "more" },
  { name: "light-contrast", colorScheme: "light", contrast: "more" },
];

/** Looks at one view in every look: axe first, then its picture. */
async function everyLook(view, show, { pictures = true } = {}) {
  const wrong = [];
  for (const { name, ...look } of looks) {
    const page = await open(browser, url, look);
    try {
      await show(page);
      wrong.push(...(await axe(page)).map((line) => `${name}: ${line}`));
      if (pictures) wrong.push(...(await compare(page, `${view}-${name}`)));
      if (page.complaints.length > 0) wrong.push(`${name}: the page complains: ${page.complaints.join("; ")}`);
    } finally {
      await page.context().close();
    }
  }
  assert.deepEqual(wrong, []);
}

const palette = async (page, word) => {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox").fill(word);
  await page.keyboard.press("Enter");
};

test("first run", () => everyLook("first-run", (page) => page.getByText("Claude Code").waitFor()));

test("a project without tasks", async () => {
  rig.termic("project", "add", rig.repo);
  await everyLook("no-tasks", (page) => page.locator(".first .tick").waitFor());
});

test("tasks in every state, with names that are long, right to left, and emoji", async () => {
  rig.makeRepo(join(rig.base, "ledger-core"));
  rig.termic("project", "add", join(rig.base, "ledger-core"));
  rig.termic("settings", "set", "mcp.enabled", "true");
  const make = (name, project, prompt) => rig.termic("new", name, "--project", project, "--agent", "claude", "--prompt", prompt);
  make("ask-something", "shop", "ask Keep the 30 s clock skew?");
  make("orchestrate-the-retries", "shop", 'call task_new {"name": "backoff-and-jitter", "agent": "shell"}\nsay done');
  make("replace-a-very-long-name-with-an-even-longer-one-that-does-not-fit", "ledger-core", "say x");
  make("work-on", "ledger-core", "work 10m");
  make("bisect", "ledger-core", "exit 3");
  const { path } = make("review-me", "shop", "say nothing more").task;
  writeFileSync(join(path, "code.ts"), Array.from({ length: 60 }, (_, i) => (i === 30 ? "export function added(): string {\n  return `template ${1}`;\n}" : i === 12 ? "" : `export const line${i} = ${i === 20 ? "2000" : i}; // a number`)).join("\n") + "\n");
  writeFileSync(join(path, "תרגום.md"), "# שלום\n");
  await until("all has settled", () => {
    const state = Object.fromEntries(rig.termic("list").tasks.map((t) => [t.name, t.state]));
    return state["ask-something"] === "waiting" && state.bisect === "exited" && state["work-on"] === "working" && state["review-me"] === "done" && "backoff-and-jitter" in state;
  });
});

const settled = async (page) => {
  await page.getByRole("treeitem", { name: /review-me/ }).or(page.getByRole("button", { name: /review-me/ })).first().click();
  await page.locator(".xterm-rows").first().waitFor();
  await until("its text", async () => (await page.locator(".xterm-rows").first().innerText()).includes("nothing more"));
};

test("the main view", () => everyLook("main", settled, { pictures: true }));
test("the review", () =>
  everyLook("review", async (page) => {
    await settled(page);
    await palette(page, "review changes");
    await page.locator(".review .cm-content").first().waitFor();
    await until("text", async () => /template/.test(await page.locator(".review").innerText()));
  }));
test("calls", () =>
  everyLook("calls", async (page) => {
    await page.getByRole("treeitem", { name: /orchestrate/ }).or(page.getByRole("button", { name: /orchestrate/ })).first().click();
    await palette(page, "show calls");
    await page.locator(".calls .line").first().waitFor();
  }, { pictures: false }));
test("new task", () =>
  everyLook("new-task", async (page) => {
    await palette(page, "new task");
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByLabel("What should it do?").fill("Make payout retries idempotent the way billing retries are now.");
    await dialog.getByText("Enforce").click();
    await dialog.getByLabel("Hosts it may reach").fill("api.example.org ");
    await dialog.getByLabel("Hosts it may reach").press("Enter");
  }));
test("add project", () => everyLook("add-project", (page) => palette(page, "add project")));
test("archive", () =>
  everyLook("archive", async (page) => {
    await settled(page);
    await palette(page, "archive task");
    await until("the preflight", async () => /changed file/.test(await page.getByRole("dialog").innerText()));
  }));
test("rename", () => everyLook("rename", async (page) => { await settled(page); await palette(page, "rename task"); }, { pictures: false }));
test("restore", () => everyLook("restore", (page) => palette(page, "restore"), { pictures: false }));
test("palette", () =>
  everyLook("palette", async (page) => {
    await settled(page);
    await page.keyboard.press("Control+Shift+P");
    await page.getByRole("combobox").fill("re");
  }));
test("paste guard", () =>
  everyLook("paste", async (page) => {
    await settled(page);
    await page.evaluate(() => navigator.clipboard.writeText("first\nsecond\u001b[31m\n"));
    await page.keyboard.press("Control+Shift+V");
    await page.getByRole("dialog", { name: "Paste this?" }).waitFor();
  }));
test("a menu", () => everyLook("menu", async (page) => { await settled(page); await page.getByRole("button", { name: "New tab" }).first().click(); }, { pictures: false }));
test("find", () => everyLook("find", async (page) => { await settled(page); await page.keyboard.press("Control+Shift+F"); await page.getByLabel("Find in terminal").fill("more"); }, { pictures: false }));
for (const name of ["General", "Appearance", "Agents", "Shortcuts", "Control plane", "About"])
  test(`settings: ${name}`, () =>
    everyLook(`settings-${name.toLowerCase().replace(" ", "-")}`, async (page) => {
      await palette(page, "settings");
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      if (name === "About") await until("diagnostics", async () => (await page.locator("td.name").count()) > 2);
      if (name === "Agents") await page.getByText("Claude Code").waitFor();
    }, { pictures: !["About", "General", "Control plane"].includes(name) }));

test("at 200 % zoom nothing is cut off: every control of the main view is in the window", async () => {
  const page = await open(browser, url, { width: 640, height: 400, deviceScaleFactor: 2 });
  await settled(page);
  const outside = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, [role=tab]")]
      .filter((e) => e.checkVisibility() && !e.closest(".cells, .tabs, .xterm"))
      .filter((e) => { const r = e.getBoundingClientRect(); return r.width > 0 && (r.right > innerWidth + 1 || r.bottom > innerHeight + 1 || r.left < -1 || r.top < -1); })
      .map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(outside, []);
  await page.context().close();
});

test("the keyboard reaches every control of the main view, and shows where it is", async () => {
  const page = await open(browser, url);
  await settled(page);
  await page.getByRole("button", { name: "Settings" }).first().focus();
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      return { name: e.getAttribute("aria-label") ?? e.innerText?.slice(0, 40) ?? "", outline: getComputedStyle(e).outlineStyle, terminal: e.classList.contains("xterm-helper-textarea"), tree: e.getAttribute("role") === "tree", body: e === document.body };
    });
    if (at.body) break;
    if (!at.terminal && !at.tree && at.name !== "Filter tasks") assert.notEqual(at.outline, "none", `no ring on ${at.name}`);
    seen.add(at.name);
    // Tab belongs to the terminal while it has the keys; Ctrl+F6 goes on.
    await page.keyboard.press(at.terminal ? "Control+F6" : "Tab");
  }
  for (const name of ["Fold the sidebar", "Filter tasks", "Projects and tasks", "Review changes", "Archive task", "More", "Panel", "New tab", "Split right", "Split down", "Look again"])
    assert.ok([...seen].some((s) => s.startsWith(name)), `${name} was not reached: ${[...seen].join(", ")}`);
  await page.context().close();
});
