// Every view and dialog: nothing that axe finds wrong, dark, light and in high contrast, large and small; and pictures of
// the views, compared with the references in docs/window (UPDATE=1 takes new ones; look at them before you keep them).
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
  { name: "light-contrast", colorScheme: "light", contrast: "more", pictures: false },
  { name: "dark-contrast", colorScheme: "dark", contrast: "more", pictures: false },
];

const act = async (page, word) => {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Task or action" }).fill(word);
  await page.keyboard.press("Enter");
};
const pick = async (page, name) => {
  await page.locator(`[role=treeitem][title^="${name} "], nav button[title^="${name} "]`).click();
};

async function mainView(page) {
  await pick(page, "review-me");
  await until("its text", async () => (await page.locator(".xterm-rows").first().innerText()).includes("nothing more"));
  await page.locator(".file").first().waitFor();
}

/** What is looked at, in order; close is how it is left. */
const views = [
  { name: "main", show: mainView },
  { name: "review", show: async (page) => { await act(page, "review changes"); await until("the text", async () => /template/.test(await page.locator(".review").innerText())); }, close: (page) => page.keyboard.press("Control+Shift+W") },
  { name: "palette", show: async (page) => { await page.keyboard.press("Control+Shift+P"); await page.getByRole("combobox", { name: "Task or action" }).fill("re"); } },
  { name: "new-task", show: async (page) => {
    await act(page, "new task");
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByRole("radio", { name: /^Enforce/ }).check();
    await dialog.getByLabel("What should it do?").fill("Make payout retries idempotent the way billing retries are now.");
    await dialog.getByLabel("Hosts it may reach").fill("api.example.org");
    await page.keyboard.press("Enter");
    await dialog.getByText("This machine can hold it").or(dialog.locator(".can .problem")).waitFor();
  } },
  { name: "add-project", show: (page) => act(page, "add project") },
  { name: "archive", show: async (page) => { await act(page, "archive task"); await until("the preflight", async () => /changed file/.test(await page.getByRole("dialog").innerText())); } },
  { name: "cage", show: async (page) => {
    await pick(page, "caged");
    await act(page, "change the cage");
    const dialog = page.getByRole("dialog", { name: "Cage of caged" });
    await dialog.getByLabel("Further folders it may read").fill("/usr/share/doc");
    await page.keyboard.press("Enter");
    await until("what it ends", async () => /Saving ends/.test(await dialog.innerText()));
  } },
  { name: "outside", show: async (page) => { await act(page, "open a tab outside"); await page.getByText("Makefile").waitFor(); } },
  { name: "client", show: async (page) => { await act(page, "control plane settings"); await page.getByRole("button", { name: "Register Zed" }).click(); await page.getByRole("dialog").getByLabel(/^Change of/).waitFor(); }, close: async (page) => {
    await page.keyboard.press("Escape");
    await until("no dialog", async () => (await page.locator(".dialog").count()) === 0);
    await page.keyboard.press("Escape");
    await pick(page, "review-me");
  } },
  { name: "client-by-hand", show: async (page) => { await act(page, "control plane settings"); await page.getByRole("button", { name: "How to tell Gemini CLI by hand" }).click(); await page.getByRole("dialog").getByLabel("Instructions").waitFor(); }, close: async (page) => {
    await page.keyboard.press("Escape");
    await until("no dialog", async () => (await page.locator(".dialog").count()) === 0);
    await page.keyboard.press("Escape");
    await pick(page, "review-me");
  }, picture: false },
  { name: "held", show: async (page) => {
    page.held = rig.callAs("bot", "task_archive", { task: "review-me" });
    await page.getByRole("alertdialog").waitFor();
  }, close: async (page) => {
    await until("it is answered", async () => {
      if (await page.getByRole("alertdialog").count()) await page.getByRole("button", { name: /^Deny/ }).click({ timeout: 1000 }).catch(() => {});
      return (await page.getByRole("alertdialog").count()) === 0;
    });
    await page.held;
  } },
  { name: "apply", show: async (page) => { await act(page, "apply to the project"); await page.getByText(/files? changes?$/).waitFor(); } },
  { name: "rename", show: (page) => act(page, "rename task"), picture: false },
  { name: "restore", show: async (page) => { await act(page, "restore an archived"); await page.getByText("Nothing is archived").waitFor(); }, picture: false },
  { name: "menu", show: (page) => page.getByRole("button", { name: "New tab" }).first().click(), picture: false },
  { name: "paste", show: async (page) => { await page.evaluate(() => navigator.clipboard.writeText("first\nsecond\u001b[31m\n")); await page.keyboard.press("Control+Shift+V"); await page.getByRole("dialog", { name: "Paste this?" }).waitFor(); } },
  { name: "find", show: async (page) => { await page.keyboard.press("Control+Shift+F"); await page.getByLabel("Find in terminal").fill("more"); }, picture: false },
  { name: "calls", show: async (page) => { await pick(page, "orchestrate"); await act(page, "show calls"); await page.locator(".calls .line").first().click(); }, close: async (page) => { await act(page, "show changes"); }, picture: false },
  ...["General", "Appearance", "Agents", "Shortcuts", "Control plane", "About"].map((name) => ({
    name: `settings-${name.toLowerCase().replace(" ", "-")}`,
    show: async (page) => {
      await act(page, "settings");
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      if (name === "About") await until("diagnostics", async () => (await page.locator("td.seen").count()) > 2);
      if (name === "Agents") await page.getByText("Claude Code").first().waitFor();
    },
    picture: ["Appearance", "Shortcuts", "General", "Control plane"].includes(name),
  })),
];

test("first run, in every look", async () => {
  const wrong = [];
  for (const { name, pictures = true, ...look } of looks) {
    const page = await open(browser, url, look);
    await page.getByText("Claude Code", { exact: true }).waitFor();
    wrong.push(...(await axe(page)).map((line) => `${name}: ${line}`));
    if (pictures) wrong.push(...(await compare(page, `first-run-${name}`)));
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});

test("tasks come into every state, with names that are long", async () => {
  rig.makeRepo(join(rig.base, "ledger-core"));
  rig.termic("project", "add", rig.repo);
  rig.termic("project", "add", join(rig.base, "ledger-core"));
  rig.termic("settings", "set", "mcp.enabled", "true");
  const make = (name, project, prompt) => rig.termic("new", name, "--project", project, "--agent", "claude", "--prompt", prompt);
  make("ask-something", "shop", "ask Keep the 30 s clock skew?");
  make("orchestrate", "shop", 'call task_new {"name": "backoff", "agent": "shell"}\nsay done');
  make("replace-a-very-long-name-with-one-that-does-not-fit", "ledger-core", "say x");
  make("work-on", "ledger-core", "work 20m");
  make("bisect", "ledger-core", "exit 3");
  rig.termic("client", "add", "bot", "--other");
  const caged = rig.termic("new", "caged", "--project", "shop", "--agent", "shell", "--cage", "enforce-fs").task;
  writeFileSync(join(caged.path, "Makefile"), "all:\n\ttrue\n");
  const { path } = make("review-me", "shop", "say nothing more").task;
  const line = (i) => (i === 30 ? "export function added(): string {\n  return `template ${1}`;\n}" : i === 12 ? "" : `export const line${i} = ${i === 20 ? "2000" : i}; // a number`);
  writeFileSync(join(path, "code.ts"), Array.from({ length: 60 }, (_, i) => line(i)).join("\n") + "\n");
  writeFileSync(join(path, "תרגום.md"), "# שלום\n");
  await until("all has settled", () => {
    const state = Object.fromEntries(rig.termic("list").tasks.map((t) => [t.name, t.state]));
    return state["ask-something"] === "waiting" && state.bisect === "exited" && state["work-on"] === "working" && state["review-me"] === "done" && "backoff" in state;
  }, 60_000);
});

for (const { name: look, pictures = true, ...options } of looks)
  test(`every view, ${look}`, async () => {
    const page = await open(browser, url, options);
    const wrong = [];
    for (const { name, show, close, picture = true } of views) {
      await show(page);
      wrong.push(...(await axe(page)).map((line) => `${name}: ${line}`));
      if (pictures && picture) wrong.push(...(await compare(page, `${name}-${look}`)));
      if (close) await close(page);
      else if (name !== "main") {
        await page.keyboard.press("Escape");
        await until(`${name} is left`, async () => (await page.locator(".dialog, .settings, .menu, .find").count()) === 0);
      }
    }
    assert.deepEqual([...wrong, ...page.complaints], []);
    await page.context().close();
  });

test("at 200 % zoom nothing is cut off: every control of the main view is in the window", async () => {
  const page = await open(browser, url, { width: 640, height: 400, deviceScaleFactor: 2 });
  await pick(page, "review-me");
  const outside = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, [role=tab]")]
      .filter((e) => e.checkVisibility() && !e.closest(".cells, .tabs, .xterm"))
      .filter((e) => { const r = e.getBoundingClientRect(); return r.width > 0 && (r.right > innerWidth + 1 || r.bottom > innerHeight + 1 || r.left < -1 || r.top < -1); })
      .map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(outside, []);
  await page.context().close();
});
