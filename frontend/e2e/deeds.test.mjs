// What dialogs and settings do, looked for outside of the page: in git, files, processes, the queue, the audit log, and what the
// command line is told.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";
import { act, leave, pick } from "./scenes.mjs";

let rig, browser, page;
before(async () => {
  rig = new Rig();
  writeFileSync(join(rig.repo, ".termic.toml"), 'setup = ["touch set-up"]\nhosts = ["packages.example.org"]\n');
  execFileSync("git", ["-C", rig.repo, "add", "."], { env: rig.env });
  execFileSync("git", ["-C", rig.repo, "commit", "-q", "-m", "say how termic sets it up"], { env: rig.env });
  mkdirSync(join(rig.data, "prompts"), { recursive: true });
  writeFileSync(join(rig.data, "prompts/greet.md"), "say greetings from a file\n");
  const url = await rig.page();
  browser = await launch();
  rig.termic("project", "add", rig.repo);
  rig.addAsker();
  rig.termic("new", "agent", "--agent", "asker", "--prompt", "say ready");
  await until("the agent is done", () => task("agent").state === "done");
  page = await open(browser, url);
});
after(async () => {
  await browser?.close();
  await rig?.close();
});

const task = (name) => rig.termic("list").tasks.find((t) => t.name === name);
const log = (name) => rig.termic("log", name).text;
const dialog = () => page.getByRole("dialog");
const gone = () => until("no dialog", async () => (await dialog().count()) === 0);
/** Waits until the audit log says that the window did this. */
const audited = (verb) => until(`${verb} in the audit log`, () =>
  readdirSync(join(rig.data, "audit")).filter((n) => n.endsWith(".jsonl"))
    .flatMap((n) => readFileSync(join(rig.data, "audit", n), "utf8").trim().split("\n"))
    .some((line) => { const { event } = JSON.parse(line); return event?.verb === verb && event.way === "window" && event.phase === "finished" && event.allow; }));
/** The first process whose working directory is this. */
const runsIn = (dir) => readdirSync("/proc").filter((p) => /^\d+$/.test(p)).find((p) => {
  try {
    return readlinkSync(`/proc/${p}/cwd`) === dir;
  } catch {
    return false; // it ended
  }
});

test("a prompt is sent: words of the moment, then a saved one from a file", async () => {
  await pick(page, "agent");
  await act(page, "send a prompt");
  await dialog().getByLabel("Text", { exact: true }).fill("say sent from the window");
  await page.keyboard.press("Control+Enter");
  await until("it arrived", () => log("agent").includes("sent from the window"));
  await audited("task_send");
  await gone();
  await act(page, "send a prompt");
  await dialog().getByLabel("Saved prompt", { exact: false }).selectOption("greet");
  await until("its text is shown", async () => /greetings from a file/.test(await dialog().locator("pre").innerText()));
  await dialog().getByRole("button", { name: /^Send/ }).click();
  await until("it arrived", () => log("agent").includes("greetings from a file"));
  await gone();
});

test("news moves nothing: rows, bars and the terminal keep their places while states change", async () => {
  rig.termic("new", "news", "--agent", "asker", "--prompt", "say ready");
  await until("it is done", () => task("news").state === "done");
  await pick(page, "agent");
  const row = (look) => until(`its row says ${look}`, async () => ((await page.locator('[role=treeitem][title^="news "]').getAttribute("title")) ?? "").includes(look));
  const places = () => page.evaluate(() => [...document.querySelectorAll("[role=treeitem], .bar, .readout > div, .filter, .strip, .place, .cage-line, .status, aside")]
    .map((e) => { const { x, y, width, height } = e.getBoundingClientRect(); return `${e.className} ${x} ${y} ${width} ${height}`.replace(/task \S+/, "task").replace(/ (need|marked)\b/g, ""); }));
  await row("Done");
  const before = await places();
  assert.ok(before.length > 10);
  for (const [prompt, look] of [["say again", "Done"], ["ask Which one?", "Waits for you"]]) {
    rig.termic("send", "news", prompt);
    await until("it was taken", () => log("news").includes(prompt.replace(/^\w+ /, "")));
    await row(look);
    assert.deepEqual(await places(), before);
  }
  rig.termic("archive", "news", "--force");
});

test("texts that wait are changed, moved and taken out", async () => {
  rig.termic("new", "busy", "--agent", "claude", "--prompt", "work 20m");
  await until("it works", () => task("busy").state === "working");
  for (const text of ["say one", "say two", "say three"]) rig.termic("send", "busy", text);
  const texts = () => rig.termic("queue", "busy").texts.map((t) => t.text);
  assert.deepEqual(texts(), ["say one", "say two", "say three"]);
  await pick(page, "busy");
  await act(page, "texts that wait");
  await dialog().getByRole("button", { name: "Later: text 1" }).click();
  await until("they changed places", () => texts().join() === "say two,say one,say three");
  await dialog().getByRole("button", { name: "Edit text 3" }).click();
  await dialog().getByRole("textbox", { name: "Text 3" }).fill("say four");
  await dialog().getByRole("button", { name: "Save text" }).click();
  await until("it is another text", () => texts().join() === "say two,say one,say four");
  await dialog().getByRole("button", { name: "Take text 2 out" }).click();
  await until("it is out", () => texts().join() === "say two,say four");
  await dialog().getByRole("button", { name: "Take all 2 out" }).click();
  await until("nothing waits", () => texts().length === 0);
  await audited("queue_edit");
  await audited("queue_cancel");
  await leave(page);
});

test("closing a tab whose agent works asks, then ends its process", async () => {
  const { path } = task("busy");
  assert.ok(runsIn(path));
  await pick(page, "busy");
  await act(page, "close tab");
  await page.getByRole("dialog", { name: /^Close / }).getByRole("button", { name: "Cancel" }).click();
  await gone();
  assert.ok(runsIn(path), "it ended although the person said no");
  await act(page, "close tab");
  await dialog().getByRole("button", { name: "Close tab" }).click();
  await until("its process is gone", () => !runsIn(path));
  await audited("task_tab_close");
  await gone();
});

test("a repository's commands run once they were trusted, and no more when that is taken back", async () => {
  const ran = (name) => existsSync(join(task(name).path, "set-up"));
  const made = async (name) => {
    rig.termic("new", name, "--agent", "claude", "--prompt", "say through");
    await until("the agent is done", () => task(name).state === "done");
  };
  await made("before");
  assert.ok(!ran("before"), "a command ran that nobody had trusted");
  await pick(page, "before");
  await act(page, "project settings");
  await dialog().getByText("touch set-up").waitFor();
  await dialog().getByRole("button", { name: "Trust these commands" }).click();
  await dialog().getByRole("button", { name: "Take trust back" }).waitFor();
  await audited("trust_answer");
  await made("after");
  await until("the command ran", () => ran("after"));
  await dialog().getByRole("button", { name: "Take trust back" }).click();
  await dialog().getByRole("button", { name: "Trust these commands" }).waitFor();
  await leave(page);
  await made("again");
  assert.ok(!ran("again"), "a command ran whose trust was taken back");
});

test("a project's settings are what its next tasks get", async () => {
  await act(page, "project settings");
  await dialog().getByLabel("Hosts that cages may reach").fill("registry.example.org");
  await page.keyboard.press("Enter");
  await dialog().getByRole("radio", { name: /^Monitor/ }).check();
  await dialog().getByRole("button", { name: /^Save/ }).click();
  await until("they are kept", () => { const { cage, hosts } = rig.termic("project", "settings", "shop").defaults; return cage === "monitor" && hosts.includes("registry.example.org:443"); });
  await gone();
  await audited("project_settings");
  rig.termic("new", "watched", "--agent", "shell");
  assert.equal(task("watched").cage, "monitor");
});

test("a cage drafted from what was seen is shown, then the task's", async () => {
  rig.termic("send", "watched", "head -1 README.md; touch made-here; echo seen-$((6*7))");
  await until("it ran", () => log("watched").includes("seen-42"));
  await until("it was seen", () => rig.termic("watched", "watched").things.length > 0, 60_000);
  await pick(page, "watched");
  await act(page, "show calls");
  await page.getByText("sudo and the like do not work while it is watched", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Draft a cage…" }).click();
  await dialog().getByText("Drafted from what it was seen to use").waitFor();
  assert.equal(task("watched").cage, "monitor", "the draft changed the task");
  const save = dialog().getByRole("button", { name: /^Save/ });
  await until("what it comes to", () => save.isEnabled());
  await save.click();
  await until("it is caged", () => task("watched").cage === "enforce");
  await audited("cage_edit");
  await gone();
});

test("a refused host is allowed where it was read, and what the agent asks for meanwhile does not take its place", async () => {
  rig.termic("new", "fenced", "--agent", "shell", "--cage", "enforce", "--host", "api.example.org");
  const asks = (host) => {
    const known = rig.termic("denials", "fenced").denials.length;
    rig.termic("send", "fenced", `p=\${HTTPS_PROXY##*[/@]}; exec 3<>/dev/tcp/\${p%:*}/\${p##*:}; printf "CONNECT ${host}:443 HTTP/1.1\\r\\n\\r\\n" >&3; head -1 <&3; exec 3>&-`);
    return until(`${host} was refused`, () => rig.termic("denials", "fenced").denials.length > known, 60_000);
  };
  const looked = () => page.waitForResponse((r) => r.url().includes("cage_denials"));
  // It begins like a host of the list, and ends far outside of a narrow panel.
  const long = `api.example.org.${"a".repeat(60)}.example.net`;
  await asks(long);
  await pick(page, "fenced");
  if ((await page.locator("ul.calls").count()) === 0) await act(page, "show calls"); // which hides them, too
  const list = page.getByRole("region", { name: "Refused by the cage" });
  const name = list.getByText(`${long}:443`, { exact: true });
  await name.waitFor();
  const { whole, seen } = await name.evaluate((e) => ({ whole: e.scrollWidth, seen: e.clientWidth || e.getBoundingClientRect().width }));
  assert.ok(whole <= Math.ceil(seen), `${whole} pixels of a name, and ${seen} are seen`);
  await list.getByRole("button", { name: "Allow…" }).hover();
  await asks("other.example.net");
  await looked();
  await looked();
  assert.equal(await list.getByRole("listitem").count(), 1, "the list moved under the pointer");
  await list.getByRole("button", { name: "Allow…" }).click();
  await list.getByText("What runs in the task ends, and its tabs start again.", { exact: false }).waitFor();
  assert.ok(!rig.termic("status", "fenced").can.join().includes(long), "it was allowed before it was confirmed");
  await list.getByRole("button", { name: "Allow and restart" }).click();
  await until("it is allowed", () => rig.termic("status", "fenced").can.join().includes(`${long}:443`));
  await audited("cage_edit");
  await list.getByText("other.example.net:443", { exact: true }).waitFor();
  assert.equal(await name.count(), 0, "it is allowed, and still listed");
  assert.ok(!rig.termic("status", "fenced").can.join().includes("other.example.net"), "another host was allowed with it");
});

test("a server of a cage is reached from its opening to its closing", async () => {
  rig.termic("send", "fenced", "echo from-the-cage > page.html; (python3 -m http.server --bind 127.0.0.1 18090 >/dev/null 2>&1 &); until (exec 3<>/dev/tcp/127.0.0.1/18090) 2>/dev/null; do :; done; echo up-$((6*7))");
  await until("it serves", () => log("fenced").includes("up-42"), 60_000);
  const panel = page.getByRole("region", { name: "Servers in the cage" });
  await panel.getByLabel("Port in the cage").fill("18090");
  await panel.getByRole("button", { name: "Open", exact: true }).click();
  const link = panel.getByRole("button", { name: /^http:/ });
  const url = await link.innerText();
  const get = () => fetch(`${url}/page.html`).then((r) => r.text(), (error) => error.cause.code);
  assert.equal(await get(), "from-the-cage\n");
  await panel.getByRole("button", { name: "Close" }).click();
  await until("it is closed", async () => (await link.count()) === 0);
  assert.equal(await get(), "ECONNREFUSED");
  await audited("server_open");
  await audited("server_close");
});

test("a task's disk use is what the command line says", async () => {
  writeFileSync(join(task("agent").path, "large"), Buffer.alloc(3 << 20));
  await pick(page, "agent");
  await act(page, "disk use");
  await dialog().getByText("Together").waitFor();
  const { total } = rig.termic("disk", "agent");
  assert.ok(total >= 3 << 20);
  const shown = await dialog().locator("tfoot .num").innerText();
  const [, figure, unit] = /([\d.]+)\s*(\w+)/.exec(shown);
  assert.ok(Math.abs(Number(figure) * { MB: 1e6, MiB: 1 << 20 }[unit] - total) < total * 0.05, `${shown} is shown of ${total} bytes`);
  await leave(page);
});

test("an archive is destroyed after what goes was shown, and is then nowhere", async () => {
  const { id } = task("before");
  writeFileSync(join(task("before").path, "kept"), "not committed\n");
  const kept = () => rig.git("for-each-ref", "--format=%(refname)").split("\n").filter((ref) => ref !== "" && !ref.startsWith("refs/heads/"));
  const others = kept();
  rig.termic("archive", "before", "--force");
  assert.ok(kept().length > others.length, `git keeps nothing of ${id}`);
  await act(page, "restore an archived");
  await dialog().getByRole("button", { name: "Destroy before…" }).click();
  await page.getByRole("heading", { name: "Goes for good" }).waitFor();
  assert.equal(rig.termic("list", "--archived").tasks.filter((t) => t.name === "before").length, 1);
  await dialog().getByRole("button", { name: "Destroy task" }).click();
  await until("it is gone", () => rig.termic("list", "--archived").tasks.every((t) => t.name !== "before"));
  await audited("task_purge");
  assert.deepEqual(kept(), others);
  assert.match(rig.git("branch", "--list", "termic/before"), /before/); // it stays, as was said
  await leave(page);
});

const setting = (key) => rig.termic("settings", "get", key).setting.value;
const settings = async (name) => {
  await leave(page);
  await act(page, "settings");
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
};

test("every control of General sets its setting", async () => {
  await settings("General");
  await page.getByLabel("Agent of new tasks").selectOption("shell");
  await until("the agent", () => setting("agents.default") === "shell");
  const dir = join(rig.base, "checkouts");
  mkdirSync(dir);
  for (const [label, key, value] of [["Checkouts", "checkouts.dir", dir], ["Lines above the screen", "terminal.scrollback", "5000"]]) {
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.keyboard.press("Enter");
    await until(key, () => setting(key) === value);
  }
  await page.getByLabel("Lines above the screen", { exact: true }).fill("many");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  assert.equal(setting("terminal.scrollback"), "5000");
  for (const name of await page.getByRole("switch").evaluateAll((all) => all.map((s) => s.getAttribute("aria-label")))) {
    const before = JSON.stringify(rig.termic("settings", "list"));
    await page.getByRole("switch", { name, exact: true }).click();
    await until(`${name} is another`, () => JSON.stringify(rig.termic("settings", "list")) !== before);
  }
  rig.termic("new", "elsewhere", "--agent", "shell");
  assert.ok(task("elsewhere").path.startsWith(dir), task("elsewhere").path);
});

test("every control of Appearance sets its setting, and the page follows", async () => {
  await settings("Appearance");
  const root = (key) => page.evaluate((k) => document.documentElement.dataset[k], key);
  for (const [group, key, names] of [["Colours", "theme", ["Light", "Dark", "System"]], ["Contrast", "contrast", ["More", "Normal", "System"]]])
    for (const name of names) {
      await page.getByRole("radiogroup", { name: group }).getByRole("radio", { name, exact: true }).click();
      await until(`${group} ${name}`, async () => setting(`appearance.${key}`) === name.toLowerCase() && (await root(key)) === (name === "System" ? undefined : name.toLowerCase()));
    }
  await page.getByLabel("Terminal text").fill("16");
  await page.keyboard.press("Enter");
  await until("the size", () => setting("terminal.font_size") === "16");
  await page.getByRole("switch", { name: "Screen reader in terminals" }).click();
  await until("the screen reader", () => setting("terminal.screen_reader") === "true");
  await page.keyboard.press("Escape");
  await pick(page, "agent");
  await until("the terminal follows", () => page.evaluate(() => document.querySelector(".xterm-accessibility") !== null && getComputedStyle(document.querySelector(".xterm-rows")).fontSize === "16px"));
  rig.termic("settings", "set", "terminal.screen_reader", "false");
});

test("an agent of one's own is added, runs, and is removed", async () => {
  await settings("Agents");
  await page.getByLabel("Id", { exact: true }).fill("lister");
  await page.getByLabel("Program and its arguments").fill("sh -c 'echo lister-$((6*7)); exec cat'");
  await page.getByRole("button", { name: "Add agent" }).click();
  await until("it is known", () => rig.termic("agents").agents.some((a) => a.id === "lister"));
  rig.termic("new", "lists", "--agent", "lister");
  await until("it runs", () => log("lists").includes("lister-42"));
  rig.termic("archive", "lists", "--force");
  await page.getByRole("button", { name: "Remove lister" }).click();
  await until("it is gone", () => rig.termic("agents").agents.every((a) => a.id !== "lister"));
});

test("a live grant is revoked: its token opens nothing any more", async () => {
  rig.termic("settings", "set", "mcp.enabled", "true");
  await until("the endpoint serves", () => existsSync(join(rig.data, "mcp-port")));
  rig.termic("client", "add", "bot", "--other");
  await until("its token", () => existsSync(join(rig.data, "clients/bot.token")));
  assert.ok(!(await rig.callAs("bot", "task_list", {})).isError);
  const token = rig.secret("clients/bot.token");
  await settings("Control plane");
  await page.getByRole("button", { name: "Revoke bot" }).click();
  await until("it is revoked", () => rig.termic("grant", "list").grants.every((g) => g.holder !== "bot"));
  await audited("grant_revoke");
  const answer = await fetch(`http://127.0.0.1:${rig.secret("mcp-port")}/mcp`, { method: "POST", body: "{}", headers: { "content-type": "application/json", authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 401);
});

test("a project without tasks is forgotten; its repository stays", async () => {
  const other = join(rig.base, "other");
  rig.makeRepo(other);
  rig.termic("project", "add", other);
  await settings("General");
  await page.getByRole("button", { name: "Forget other" }).click();
  await dialog().getByRole("button", { name: "Forget project" }).click();
  await until("it is forgotten", () => rig.termic("project", "list").projects.every((p) => p.name !== "other"));
  assert.ok(existsSync(join(other, ".git")));
  await gone();
});

test("a dialog that was left while its call was under way says what came of it, and closes no other", async () => {
  await leave(page);
  let answer;
  await page.route("**/call/task_rename", async (route) => {
    await new Promise((done) => (answer = done));
    await route.continue();
  });
  await pick(page, "again");
  await act(page, "rename task");
  await dialog().getByLabel("Name").fill("agent");
  await page.keyboard.press("Enter");
  await until("it is under way", () => answer !== undefined);
  await page.keyboard.press("Escape");
  await gone();
  await act(page, "add project");
  await dialog().waitFor();
  answer();
  await until("it is said", async () => /agent/.test(await page.locator(".status .live").innerText()));
  assert.equal(await page.getByRole("dialog", { name: "Add project" }).count(), 1, "the other dialog was closed");
  await page.unroute("**/call/task_rename");
  await leave(page);
});

test("the page had nothing to complain about", () => assert.deepEqual(page.complaints, []));
