// What there is to look at: a set of tasks in every state, and every view and dialog with how it is shown and left.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./rig.mjs";

/** Makes projects and tasks in every state, with names that are long, and waits until they are in it. */
export async function populate(rig) {
  writeFileSync(join(rig.repo, ".termic.toml"), '# for everyone\nsetup = ["npm ci", "npm run build -- --mode development"]\nrun = ["npm start"]\nhosts = ["packages.example.org"]\n');
  execFileSync("git", ["-C", rig.repo, "add", "."], { env: rig.env });
  execFileSync("git", ["-C", rig.repo, "commit", "-q", "-m", "say how termic runs it"], { env: rig.env });
  rig.makeRepo(join(rig.base, "ledger-core"));
  rig.makeRepo(join(rig.base, "חנות-ספרים"));
  rig.termic("project", "add", rig.repo);
  rig.termic("project", "add", join(rig.base, "ledger-core"));
  rig.termic("project", "add", join(rig.base, "חנות-ספרים"));
  rig.termic("settings", "set", "mcp.enabled", "true");
  const make = (name, project, prompt, agent = "claude") => rig.termic("new", name, "--project", project, "--agent", agent, "--prompt", prompt);
  rig.addAsker();
  make("ask-something", "shop", "ask Keep the 30 s clock skew?", "asker");
  make("replace-a-very-long-name-with-one-that-does-not-fit", "ledger-core", "say x");
  make("work-on", "ledger-core", "work 20m");
  make("bisect", "ledger-core", "exit 3");
  // Names from right to left, and of the greatest length that there is.
  make("תיקון-תשלום-כפול", "חנות-ספרים", "exit 0");
  make("w".repeat(64), "חנות-ספרים", "exit 0");
  rig.termic("client", "add", "bot", "--other");
  const caged = rig.termic("new", "caged", "--project", "shop", "--agent", "shell", "--cage", "enforce-fs").task;
  writeFileSync(join(caged.path, ".envrc"), "true\n");
  rig.termic("new", "fenced", "--project", "shop", "--agent", "shell", "--cage", "enforce", "--host", "api.example.org");
  // What the cage's own proxy is asked for and refuses.
  rig.termic("send", "fenced", 'p=${HTTPS_PROXY##*[/@]}; exec 3<>/dev/tcp/${p%:*}/${p##*:}; printf "CONNECT tracker.example.net:443 HTTP/1.1\\r\\nHost: tracker.example.net:443\\r\\n\\r\\n" >&3; head -1 <&3');
  rig.termic("new", "watched", "--project", "shop", "--agent", "shell", "--cage", "monitor");
  rig.termic("send", "watched", "head -1 README.md; touch made-here; echo seen-$((6*7))");
  const gone = rig.termic("new", "put-away", "--project", "shop", "--agent", "shell").task;
  writeFileSync(join(gone.path, "kept.txt"), "x\n");
  rig.termic("archive", "put-away", "--force");
  const { path } = make("review-me", "shop", "say nothing more").task;
  const line = (i) => (i === 30 ? "export function added(): string {\n  return `template ${1}`;\n}" : i === 12 ? "" : `export const line${i} = ${i === 20 ? "2000" : i}; // a number`);
  writeFileSync(join(path, "code.ts"), Array.from({ length: 60 }, (_, i) => line(i)).join("\n") + "\n");
  writeFileSync(join(path, "תרגום.md"), "# שלום\n");
  writeFileSync(join(path, `🚀 ${"long-".repeat(30)}name 👩‍👩‍👧.md`), "# 🚀\n");
  await until("all has settled", () => {
    const state = Object.fromEntries(rig.termic("list").tasks.map((t) => [t.name, t.state]));
    return state["ask-something"] === "waiting" && state.bisect === "exited" && state["work-on"] === "working" && state["review-me"] === "done";
  }, 60_000);
  rig.termic("send", "work-on", "When that is through, run the tests of the ledger too,\nand say which were skipped.");
  rig.termic("send", "work-on", "--prompt-id", "review");
  await until("what was refused is known", () => rig.termic("denials", "fenced").denials.length > 0, 60_000);
  await until("what was seen is known", () => rig.termic("watched", "watched").things.length > 0, 60_000);
  // The last, since the page begins with the newest calls, and what is polled above are calls too.
  make("orchestrate", "shop", 'call task_new {"name": "backoff", "agent": "shell"}\nsay done');
  await until("its task", () => rig.termic("list").tasks.some((t) => t.name === "backoff"), 60_000);
}

/** Runs an action by its name, as a person at the palette does. */
export async function act(page, word) {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Task or action" }).fill(word);
  await page.keyboard.press("Enter");
}

/** Shows a task, from the list or from the rail. */
export async function pick(page, name) {
  await page.locator(`[role=treeitem][title^="${name} "], nav button[title^="${name} "]`).click();
}

const dialog = (page) => page.getByRole("dialog");
const noDialog = (page) => until("no dialog", async () => (await page.locator(".dialog").count()) === 0);

/** Leaves whatever is open, and shows review-me again. */
export async function leave(page) {
  await until("it is left", async () => {
    if ((await page.locator(".dialog, .settings, .menu, .find").count()) === 0) return true;
    await page.keyboard.press("Escape");
    return false;
  });
}

const home = (page) => leave(page).then(() => pick(page, "review-me"));

/** Every view: its name, how it is shown, and how it is left where Esc is not enough. */
export const scenes = (rig) => [
  { name: "main", show: async (page) => {
    await pick(page, "review-me");
    await until("its text", async () => (await page.locator(".xterm-rows").first().innerText()).includes("nothing more"));
    if (await page.getByRole("tab", { name: "Changes" }).count()) await page.locator(".file").first().waitFor();
  } },
  { name: "review", show: async (page) => {
    await act(page, "review changes");
    await until("the text", async () => /template/.test(await page.locator(".review").innerText()));
  }, close: (page) => page.keyboard.press("Control+Shift+W") },
  { name: "palette", show: async (page) => {
    await page.keyboard.press("Control+Shift+P");
    await page.getByRole("combobox", { name: "Task or action" }).fill("re");
  } },
  { name: "new-task", show: async (page) => {
    await act(page, "new task");
    await dialog(page).getByRole("radio", { name: /^Enforce/ }).check();
    await dialog(page).getByLabel("What should it do?").fill("Make payout retries idempotent the way billing retries are now.");
    await dialog(page).getByLabel("Hosts it may reach").fill("api.example.org");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("This machine can hold it").or(dialog(page).locator(".can .problem")).waitFor();
  } },
  { name: "add-project", show: async (page) => {
    await act(page, "add project");
    await dialog(page).getByLabel(/^Repository/).fill("/nowhere/at/all");
    await dialog(page).getByRole("button", { name: "Add project" }).click();
    await dialog(page).getByRole("alert").waitFor();
  } },
  { name: "archive", show: async (page) => {
    await act(page, "archive task");
    await until("the preflight", async () => /untracked/i.test(await dialog(page).innerText()));
  } },
  { name: "restore", show: async (page) => { await act(page, "restore an archived"); await dialog(page).getByRole("button", { name: "Restore put-away" }).waitFor(); } },
  { name: "purge", show: async (page) => {
    await act(page, "restore an archived");
    await dialog(page).getByRole("button", { name: "Destroy put-away…" }).click();
    await page.getByRole("heading", { name: "Goes for good" }).waitFor();
  } },
  { name: "rename", show: (page) => act(page, "rename task") },
  { name: "apply", show: async (page) => { await act(page, "apply to the project"); await page.getByText(/files? changes?$/).waitFor(); } },
  { name: "disk", show: async (page) => { await act(page, "disk use"); await dialog(page).getByText("Together").waitFor(); } },
  { name: "project-settings", show: async (page) => { await act(page, "project settings"); await dialog(page).getByText("npm run build").waitFor(); } },
  { name: "send", show: async (page) => {
    await act(page, "send a prompt");
    await dialog(page).getByLabel("Saved prompt", { exact: false }).selectOption("review");
    await until("its text", async () => (await dialog(page).locator("pre").innerText()).length > 20);
  } },
  { name: "paste", show: async (page) => {
    await page.evaluate(() => navigator.clipboard.writeText("first\nsecond\u001b[31m\n"));
    await page.keyboard.press("Control+Shift+V");
    await page.getByRole("dialog", { name: "Paste this?" }).waitFor();
  } },
  { name: "find", show: async (page) => {
    await page.keyboard.press("Control+Shift+F");
    await page.getByLabel("Find in terminal").fill("more");
  } },
  { name: "menu", show: (page) => page.getByRole("button", { name: "New tab" }).first().click() },
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
  { name: "cage", show: async (page) => {
    await pick(page, "caged");
    await act(page, "change the cage");
    await dialog(page).getByLabel("Further folders it may read").fill("/usr/share/doc");
    await page.keyboard.press("Enter");
    await until("what it ends", async () => /Saving ends/.test(await dialog(page).innerText()));
  } },
  { name: "outside", show: async (page) => {
    await pick(page, "caged");
    await act(page, "open a tab outside");
    await dialog(page).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText(".envrc").waitFor();
  } },
  { name: "queue", show: async (page) => {
    await pick(page, "work-on");
    await act(page, "texts that wait");
    await dialog(page).getByText("which were skipped").waitFor();
  } },
  { name: "control", show: async (page) => {
    await pick(page, "orchestrate");
    await act(page, "show calls");
    await page.locator(".calls .line").first().click();
  } },
  { name: "inside", show: async (page) => { await pick(page, "fenced"); await page.locator("aside.panel").getByText("tracker.example.net:443", { exact: true }).waitFor(); } },
  { name: "monitor", show: async (page) => { await pick(page, "watched"); await page.getByRole("button", { name: "Draft a cage…" }).waitFor(); } },
  { name: "draft", show: async (page) => {
    await page.getByRole("button", { name: "Draft a cage…" }).click();
    await dialog(page).getByText("Drafted from what it was seen to use").waitFor();
    await until("what it comes to", async () => !/Looking at this machine/.test(await dialog(page).innerText()));
  }, close: async (page) => {
    await leave(page);
    await act(page, "show changes");
  } },
  { name: "ended", show: async (page) => { await pick(page, "bisect"); await page.getByText("Ended with status 3").waitFor(); } },
  { name: "client", show: async (page) => {
    await act(page, "control plane settings");
    await page.getByRole("button", { name: "Register Zed" }).click();
    await dialog(page).getByLabel(/^Change of/).waitFor();
  }, close: async (page) => { await page.keyboard.press("Escape"); await noDialog(page); await home(page); } },
  { name: "client-by-hand", show: async (page) => {
    await act(page, "control plane settings");
    await page.getByRole("button", { name: "How to tell Gemini CLI by hand" }).click();
    await dialog(page).getByLabel("Instructions").waitFor();
  }, close: async (page) => { await page.keyboard.press("Escape"); await noDialog(page); await home(page); } },
  ...["General", "Appearance", "Agents", "Shortcuts", "Control plane", "About"].map((name) => ({
    name: `settings-${name.toLowerCase().replace(" ", "-")}`,
    show: async (page) => {
      await act(page, "settings");
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      if (name === "About") await until("diagnostics", async () => (await page.locator("td.seen").count()) > 2);
      if (name === "Agents") await page.getByText("Claude Code").first().waitFor();
    },
  })),
];
