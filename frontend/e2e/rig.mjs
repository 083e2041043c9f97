// A place to try the page and the window in: a data directory, a repository, an agent that is driven by script, and
// the built programs. Everything is below one temporary directory.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
const startTimeout = 30_000; // ms; a start takes less than one on a quiet machine

/** A program that is called like claude, and is the scripted agent. */
const agent = (path) => `#!/bin/sh
[ "$1" = --version ] && exec ${path} -version
prompt=
while [ $# -gt 0 ]; do
  case $1 in
    --session-id | --resume | --settings) shift ;;
    --*) ;;
    *) prompt=$1 ;;
  esac
  shift
done
exec ${path} -prompt "$prompt"
`;

export class Rig {
  constructor() {
    this.base = mkdtempSync(join(tmpdir(), "termic-window-"));
    this.data = join(this.base, "data");
    this.repo = join(this.base, "shop");
    this.home = join(this.base, "home");
    this.bin = join(this.base, "bin");
    for (const dir of [this.home, this.bin]) mkdirSync(dir);
    this.env = {
      PATH: `${this.bin}:/usr/local/bin:/usr/bin:/bin`, HOME: this.home, SHELL: "/bin/bash", LANG: "C.UTF-8", TERM: "xterm-256color", TERMIC_DATA_DIR: this.data,
      PS1: "$ ", GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "test", GIT_AUTHOR_EMAIL: "test@example.org", GIT_COMMITTER_NAME: "test", GIT_COMMITTER_EMAIL: "test@example.org",
    };
    // The scripted agent stands in for claude: it takes its prompt by a flag.
    writeFileSync(join(this.bin, "claude"), agent(process.env.TERMIC_TESTAGENT ?? join(root, "build/bin/testagent")), { mode: 0o755 });
    // The window asks the login shell what new tabs start from.
    writeFileSync(join(this.home, ".profile"), `PATH=${this.env.PATH}\nexport PATH\n`);
    this.makeRepo(this.repo);
  }

  /** Registers the scripted agent under its own name: its title then says that it asks. */
  addAsker() {
    this.termic("agent", "add", "asker", "--command", process.env.TERMIC_TESTAGENT ?? join(root, "build/bin/testagent"));
  }

  makeRepo(dir) {
    execFileSync("git", ["init", "-q", "-b", "main", dir], { env: this.env });
    const code = Array.from({ length: 60 }, (_, i) => `export const line${i} = ${i}; // a number`).join("\n");
    writeFileSync(join(dir, "code.ts"), `${code}\n`);
    writeFileSync(join(dir, "README.md"), "# shop\n");
    execFileSync("git", ["-C", dir, "add", "."], { env: this.env });
    execFileSync("git", ["-C", dir, "commit", "-q", "-m", "first"], { env: this.env });
  }

  /** Starts a program and resolves when its output holds the expected text; with the match. */
  start(program, args, want, env = {}) {
    const child = spawn(program, args, { env: { ...this.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const started = { child, output: "", exit: undefined };
    started.exit = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${program} did not start:\n${started.output}`)), startTimeout);
      const look = (text) => {
        started.output += text;
        const hit = want.exec(started.output);
        if (!hit) return;
        clearTimeout(timer);
        done({ ...started, started, match: hit });
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.on("error", fail);
      child.on("exit", (code) => {
        clearTimeout(timer);
        fail(new Error(`${program} ended with ${code}:\n${started.output}`));
      });
    });
  }

  /** Starts the page for a browser; returns its address. */
  async page(env = {}) {
    this.app = await this.start(process.env.TERMIC_PAGE ?? join(root, "build/bin/termic-page"), [], /page at (https:\S+)/, { TERMIC_PAGE_DIRECTORY: this.repo, ...env });
    return this.app.match[1];
  }

  /** Runs the command line on the same data, and returns its JSON. */
  termic(...args) {
    const out = execFileSync(process.env.TERMIC ?? join(root, "build/bin/termic"), [...args, "--json"], { env: this.env, encoding: "utf8" });
    return JSON.parse(out);
  }

  /** Calls a tool as the outside client that has this token file does, and returns its result. */
  async callAs(client, name, args) {
    const answer = await fetch(`http://127.0.0.1:${this.secret("mcp-port")}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json", accept: "application/json", authorization: `Bearer ${this.secret(client === "" ? "mcp-token" : `clients/${client}.token`)}`,
        "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: {
        name, arguments: args,
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} },
      } }),
    });
    const { result, error } = await answer.json();
    if (!result) throw new Error(`${name}: status ${answer.status} ${JSON.stringify(error)}`);
    return result;
  }

  git(...args) {
    return execFileSync("git", ["-C", this.repo, ...args], { env: this.env, encoding: "utf8" });
  }

  secret(name) {
    return readFileSync(join(this.data, name), "utf8").trim();
  }

  /** Sets mcp.port where it is kept, as an editor or a restored backup does, so that no client's entry follows. The app must not run. */
  setPortInFile(port) {
    const path = join(this.data, "settings.json");
    const file = JSON.parse(readFileSync(path, "utf8"));
    file.data["mcp.port"] = String(port);
    writeFileSync(path, JSON.stringify(file));
  }

  /** Ends the app as a person's logout does, and returns how it ended. */
  async stop() {
    if (!this.app) return undefined;
    this.app.child.kill("SIGTERM");
    const end = await Promise.race([this.app.exit, new Promise((done) => setTimeout(() => done({ code: "timeout" }), 15_000))]);
    if (end.code === "timeout") this.app.child.kill("SIGKILL");
    const output = this.app.started.output;
    this.app = undefined;
    return { ...end, output };
  }

  async close() {
    await this.stop();
    rmSync(this.base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Waits until f returns something true, and returns that. */
export async function until(what, f, ms = 45_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await f();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
