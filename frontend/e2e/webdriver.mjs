// A real window under Xvfb, driven through WebKitWebDriver (W3C WebDriver), with nothing but node.
import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { until } from "./rig.mjs";

/** A port that was free a moment ago. */
export function freePort() {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** A display of its own with a window manager: without one the web view never gets the keyboard. */
export class Display {
  static async open(size = "1280x800") {
    const display = new Display();
    display.processes = [];
    display.name = await new Promise((done, fail) => {
      // -displayfd: the server chooses a free number and tells it.
      const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", `${size}x24`, "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "pipe", "pipe"] });
      display.processes.push(child);
      let text = "";
      child.stdio[3].on("data", (data) => {
        text += data;
        if (text.includes("\n")) done(`:${text.trim()}`);
      });
      child.on("error", fail);
      child.on("exit", (code) => fail(new Error(`Xvfb ended with ${code}`)));
    });
    display.processes.push(spawn("openbox", ["--sm-disable"], { env: { ...process.env, DISPLAY: display.name }, stdio: "ignore" }));
    return display;
  }

  /** Asks the window in front to close, as the window manager's own key does. */
  closeFront() {
    execFileSync("xdotool", ["key", "--clearmodifiers", "alt+F4"], { env: { PATH: process.env.PATH, DISPLAY: this.name } });
  }

  close() {
    for (const child of this.processes.reverse()) child.kill("SIGTERM");
  }
}

export const keys = { enter: "\uE007", escape: "\uE00C", control: "\uE009", shift: "\uE008", down: "\uE015", tab: "\uE004" };

/** One window, through its driver. */
export class Window {
  /** Starts the program with a driver; env is the program's. */
  static async open(program, display, env) {
    const window = new Window();
    const port = await freePort();
    window.base = `http://127.0.0.1:${port}`;
    window.driver = spawn("WebKitWebDriver", [`--port=${port}`], { env: { ...env, DISPLAY: display.name, NO_AT_BRIDGE: "1" }, stdio: ["ignore", "pipe", "pipe"] });
    window.output = "";
    for (const from of [window.driver.stdout, window.driver.stderr]) from.on("data", (data) => (window.output += data));
    await until("the driver", () => fetch(`${window.base}/status`).then((r) => r.ok, () => false));
    /** When the window was ordered, in milliseconds since 1970. */
    window.ordered = Date.now();
    const session = await window.call("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary: program, args: [] } } } });
    window.session = `/session/${session.sessionId}`;
    return window;
  }

  async call(method, path, body) {
    const response = await fetch(this.base + path, { method, body: body === undefined ? undefined : JSON.stringify(body), headers: { "content-type": "application/json" } });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${value?.error} ${value?.message}\n${this.output}`);
    return value;
  }

  js(script, ...args) {
    return this.call("POST", `${this.session}/execute/sync`, { script, args });
  }

  /** Waits for an element and returns its id. */
  async find(selector, ms) {
    return until(`element ${selector}`, async () => {
      try {
        return Object.values(await this.call("POST", `${this.session}/element`, { using: "css selector", value: selector }))[0];
      } catch (error) {
        if (String(error).includes("no such element")) return undefined;
        throw error;
      }
    }, ms);
  }

  /** Clicks an element with the mouse, once it is there and nothing is in front of it: a dialog that closes fades. */
  async click(selector, ms) {
    await until(`a click on ${selector}`, async () => {
      try {
        await this.call("POST", `${this.session}/element/${await this.find(selector, ms)}/click`, {});
        return true;
      } catch (error) {
        if (/stale element|click intercepted|not interactable/.test(error)) return false;
        throw error;
      }
    }, ms);
  }

  async type(selector, text) {
    await this.call("POST", `${this.session}/element/${await this.find(selector)}/value`, { text });
  }

  /** Clicks the button with this text or label. */
  async press(text) {
    await until(`button ${text}`, () => this.js(`
      const b = [...document.querySelectorAll("button:not([disabled])")].find((b) => (b.getAttribute("aria-label") ?? b.innerText).trim().startsWith(arguments[0]));
      b?.click(); return b !== undefined;`, text));
  }

  /** Types keys with modifiers held, as a person does. */
  async chord(...all) {
    const actions = [...all.map((value) => ({ type: "keyDown", value })), ...all.toReversed().map((value) => ({ type: "keyUp", value }))];
    await this.call("POST", `${this.session}/actions`, { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** Types text to whatever has the focus. */
  async keys(text) {
    const actions = [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.call("POST", `${this.session}/actions`, { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  text(selector) {
    return this.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector);
  }

  async screenshot(path) {
    writeFileSync(path, Buffer.from(await this.call("GET", `${this.session}/screenshot`), "base64"));
  }

  async close() {
    await this.call("DELETE", this.session).catch(() => {}); // the window may be gone already
    this.driver.kill("SIGTERM");
  }
}
