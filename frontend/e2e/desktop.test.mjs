// The program that is shipped, on displays of several kinds: keys that need a layout, what assistive programs see,
// Wayland, and its memory while a terminal is flooded.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pageMemory } from "./processes.mjs";
import { Rig, root, until } from "./rig.mjs";
import { Display } from "./webdriver.mjs";

const shipped = join(root, "build/bin/termic-app");
const seconds = 90_000; // a window of its own for each test, on a machine that does other things
let display;
before(async () => {
  display = await Display.open();
});
after(() => display?.close());

/** Starts the window and waits until it serves. */
async function start(rig, env, wrap = []) {
  const [program, ...args] = [...wrap, "/bin/sh", "-c", `echo begins $$; exec ${shipped}`];
  rig.app = await rig.start(program, args, /begins (\d+)/, { NO_AT_BRIDGE: "1", ...env });
  rig.pid = Number(rig.app.match[1]);
  await until("it serves", () => { try { return rig.termic("doctor"); } catch { return undefined; } }, seconds);
  await until("its window is there", () => { try { rig.termic("open"); return true; } catch { return undefined; } }, seconds);
}

const onDisplay = (...command) => execFileSync(command[0], command.slice(1), { env: { PATH: process.env.PATH, DISPLAY: display.name }, encoding: "utf8" });

test("characters behind AltGr reach the shell as a German keyboard gives them", async () => {
  const rig = new Rig();
  try {
    onDisplay("setxkbmap", "de");
    await start(rig, { DISPLAY: display.name });
    rig.termic("project", "add", rig.repo);
    const { path } = rig.termic("new", "one", "--agent", "shell").task;
    rig.termic("open", "one");
    await until("a prompt", () => /[$#]/.test(rig.termic("log", "one").text), seconds);
    const window = await until("the window", () => { try { return onDisplay("xdotool", "search", "--onlyvisible", "--name", "^termic$").trim().split("\n").at(-1); } catch { return undefined; } }, seconds);
    // Until the terminal has the focus, keys go nowhere; a window that is only being shown may miss that it was activated.
    await until("the terminal has the keys", () => {
      onDisplay("xdotool", "windowactivate", "--sync", window);
      onDisplay("xdotool", "key", "--clearmodifiers", "Return");
      return rig.termic("log", "one").text.split(/[$#](?: |$)/m).length > 3;
    }, seconds);
    const held = (key) => onDisplay("xdotool", "keydown", "ISO_Level3_Shift", "key", key, "keyup", "ISO_Level3_Shift");
    onDisplay("xdotool", "type", "--delay", "20", "cat > altgr");
    onDisplay("xdotool", "key", "Return");
    for (const key of ["q", "7", "8", "9", "0", "e"]) held(key); // @ { [ ] } €
    onDisplay("xdotool", "key", "Return", "ctrl+d");
    await until("the file", () => existsSync(join(path, "altgr")) && readFileSync(join(path, "altgr"), "utf8").length > 5, seconds);
    assert.equal(readFileSync(join(path, "altgr"), "utf8"), "@{[]}€\n");
  } finally {
    onDisplay("setxkbmap", "us");
    await rig.close();
  }
});

test("assistive programs see the window's buttons, tasks and terminal by name", async () => {
  const rig = new Rig();
  try {
    // A session bus and the accessibility bus of its own; the tree is read inside it.
    const script = `/usr/libexec/at-spi-bus-launcher --launch-immediately & ${shipped} & pid=$!; echo app $pid; while read -r line; do /usr/bin/python3 ${join(root, "frontend/e2e/atspi.py")} $pid; echo end; done; kill $pid; wait $pid`;
    const env = { ...rig.env, DISPLAY: display.name, XDG_RUNTIME_DIR: rig.home, GTK_MODULES: "gail:atk-bridge" };
    const child = spawn("dbus-run-session", ["--", "/bin/sh", "-c", script], { env, stdio: ["pipe", "pipe", "pipe"] });
    const gone = new Promise((done) => child.on("exit", done));
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", () => {});
    try {
      await until("it serves", () => { try { return rig.termic("doctor"); } catch { return undefined; } }, seconds);
      await until("its window is there", () => { try { rig.termic("open"); return true; } catch { return undefined; } }, seconds);
      rig.termic("project", "add", rig.repo);
      rig.termic("new", "seen-by-name", "--agent", "shell");
      rig.termic("open", "seen-by-name");
      const wanted = [/^(push )?button\tSettings$/m, /\tseen-by-name/m, /^(page tab|tab)\t.*shell/m, /^(entry|text|terminal)\tTerminal input/m, /^heading\tseen-by-name$/m];
      await until("the whole tree", async () => {
        output = "";
        child.stdin.write("look\n");
        await until("an answer", () => output.includes("end\n"), 45_000);
        return wanted.every((w) => w.test(output));
      }).catch((error) => assert.fail(`${error.message}:\n${output}`));
    } finally {
      child.stdin.end();
      await gone;
    }
  } finally {
    await rig.close();
  }
});

test("it opens on Wayland where there is no X server", async () => {
  const rig = new Rig();
  const runtime = join(rig.base, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const weston = spawn("weston", ["--backend=headless-backend.so", "--socket=wayland-test", "--idle-time=0"], { env: { ...rig.env, XDG_RUNTIME_DIR: runtime }, stdio: ["ignore", "ignore", "pipe"] });
  let told = "";
  weston.stderr.on("data", (data) => (told += data));
  const ended = new Promise((done) => weston.on("exit", done));
  try {
    await until("the compositor", () => existsSync(join(runtime, "wayland-test")) || (weston.exitCode !== null && assert.fail(told)), seconds);
    await start(rig, { XDG_RUNTIME_DIR: runtime, WAYLAND_DISPLAY: "wayland-test", LIBGL_ALWAYS_SOFTWARE: "1" });
    rig.termic("project", "add", rig.repo);
    rig.termic("new", "one", "--agent", "shell");
    rig.termic("open", "one");
    const end = await rig.stop();
    assert.equal(end.code, 0, end.output);
  } finally {
    await rig.close();
    weston.kill("SIGTERM");
    await ended;
  }
});

test("the page's process does not grow with what a terminal prints", async () => {
  const rig = new Rig();
  const total = Number(process.env.TERMIC_FLOOD_MIB ?? 96);
  const lap = total / 3;
  try {
    await start(rig, { DISPLAY: display.name });
    rig.termic("project", "add", rig.repo);
    rig.termic("new", "flood", "--agent", "shell");
    rig.termic("open", "flood");
    await until("a prompt", () => /[$#]/.test(rig.termic("log", "flood").text), seconds);
    const flood = async (n) => {
      rig.termic("send", "flood", `head -c ${Math.round(lap * 1024 * 1024 * 0.74)} /dev/zero | base64 -w 120; echo lap-${n}-$((6*7))`);
      await until(`lap ${n}`, () => rig.termic("log", "flood", "--lines", "3").text.includes(`lap-${n}-42`), 600_000);
    };
    await flood(1);
    await flood(2);
    const first = pageMemory(rig.pid) / 1024;
    await flood(3);
    const last = pageMemory(rig.pid) / 1024;
    assert.ok(first > 0, "no web process was found");
    assert.ok(last < first * 1.25 + 16, `the web process grew from ${first.toFixed(0)} to ${last.toFixed(0)} MiB over ${lap} MiB of output`);
  } finally {
    await rig.close();
  }
});
