// Tests of summary.mjs: what its closing line and exit code say for each way in which `go test -json` can end.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import test from "node:test";

const program = fileURLToPath(new URL("summary.mjs", import.meta.url));

function summary(events, parts = []) {
  const input = events.map((e) => (typeof e === "string" ? e : JSON.stringify(e)) + "\n").join("");
  const { status, stdout } = spawnSync(process.execPath, [program, ...parts], { input, encoding: "utf8" });
  return { status, stdout, closing: stdout.trimEnd().split("\n").at(-1) };
}

const p = (Action, more = {}) => ({ Action, Package: "termic/x", ...more });
const t = (Action, Test, Output) => p(Action, { Test, Output });

const rows = [
  {
    name: "a passed test and a passed subtest are two",
    events: [t("run", "TestA"), t("run", "TestA/b"), t("pass", "TestA/b"), t("pass", "TestA"),
      p("output", { Output: "PASS\n" }), p("output", { Output: "ok  \ttermic/x\t0.1s\n" }), p("pass")],
    status: 0, closing: "2 passed, 0 failed", says: /^ok  \ttermic\/x\t0\.1s\n2 passed/,
  },
  {
    name: "a failed test prints what it printed",
    events: [t("run", "TestA"), t("output", "TestA", "    got 1, want 2\n"), t("fail", "TestA"), p("fail")],
    status: 1, closing: "0 passed, 1 failed", says: /got 1, want 2/,
  },
  {
    name: "what a passed test counted is printed, and nothing else of it",
    events: [t("run", "TestA"), t("output", "TestA", "    a_test.go:7: quiet\n"), t("output", "TestA", "            b_test.go:9: tally: tried 3, refused 3\n"),
      t("pass", "TestA"), p("output", { Output: "ok  \ttermic/x\t0.1s\n" }), p("pass")],
    status: 0, closing: "1 passed, 0 failed", says: /^ok  \ttermic\/x\t0\.1s\ncounted:\n  tried 3, refused 3\n1 passed/,
  },
  {
    name: "a build that fails is one failure with the compiler's words",
    events: [{ ImportPath: "termic/x", Action: "build-output", Output: "./x.go:3: undefined: y\n" },
      { ImportPath: "termic/x", Action: "build-fail" }, p("start"), p("fail", { FailedBuild: "termic/x" })],
    status: 1, closing: "0 passed, 1 failed", says: /undefined: y[^]*failed: termic\/x \(build\)/,
  },
  {
    name: "a package that fails after its tests passed is a failure",
    events: [t("run", "TestA"), t("pass", "TestA"), p("output", { Output: "exit status 3\n" }), p("fail")],
    status: 1, closing: "1 passed, 1 failed", says: /exit status 3/,
  },
  {
    name: "a test that was running when the package died is a failure",
    events: [t("run", "TestA"), t("output", "TestA", "panic: boom\n"), p("fail")],
    status: 1, closing: "0 passed, 1 failed", says: /panic: boom[^]*failed: termic\/x TestA/,
  },
  {
    name: "a package that never ended is a failure",
    events: [t("run", "TestA"), t("pass", "TestA")],
    status: 1, closing: "1 passed, 1 failed", says: /termic\/x \(no end\)/,
  },
  {
    name: "a skipped test is shown with its reason",
    events: [t("run", "TestA"), t("output", "TestA", "    needs Landlock V4, found V2\n"), t("skip", "TestA"),
      t("run", "TestB"), t("pass", "TestB"), p("pass")],
    status: 0, closing: "1 passed, 0 failed, 1 skipped", says: /needs Landlock V4/,
  },
  { name: "no test at all is an error", events: [p("start"), p("skip")], status: 1, closing: "0 passed, 0 failed", says: /no test passed/ },
  { name: "skipped tests alone are an error", events: [t("run", "TestA"), t("skip", "TestA"), p("pass")],
    status: 1, closing: "0 passed, 0 failed, 1 skipped", says: /skipped/ },
  {
    name: "a part that failed before the tests is a failure",
    events: [t("run", "TestA"), t("pass", "TestA"), p("pass")], parts: ["check"],
    status: 1, closing: "1 passed, 1 failed", says: /failed: check, before the tests/,
  },
  { name: "a line that is not JSON is passed on", events: ["go: no such module"], status: 1, closing: "0 passed, 0 failed", says: /no such module/ },
];

for (const row of rows) {
  test(row.name, () => {
    const got = summary(row.events, row.parts);
    assert.equal(got.status, row.status);
    assert.equal(got.closing, row.closing);
    assert.match(got.stdout, row.says);
  });
}
