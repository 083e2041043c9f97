import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsePatch, plainPath, sidesOf, unquote } from "./patch";

/** Returns what real git says of two states of a directory. */
function gitDiff(before: Record<string, string>, after: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), "patch-"));
  try {
    for (const [side, files] of [["a", before], ["b", after]] as const) {
      mkdirSync(join(dir, side));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, side, name), text);
    }
    const run = () => execFileSync("git", ["diff", "--no-index", "--no-prefix", "--", "a", "b"], { cwd: dir, encoding: "utf8", env: { PATH: process.env["PATH"], HOME: dir } });
    try {
      return run();
    } catch (error) {
      return (error as { stdout: string }).stdout; // status 1: they differ
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test("the two sides are the file's own lines with their numbers", () => {
  const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
  const after = [...before];
  after[4] = "changed";
  after.splice(30, 1, "x", "y", "z");
  const files = parsePatch(gitDiff({ f: before.join("\n") }, { f: after.join("\n") }));
  expect(files.map((f) => f.path)).toEqual(["f"]);
  const sides = sidesOf(files[0]!);
  sides.old.split("\n").forEach((text, i) => expect(before[sides.oldNumbers[i]! - 1]).toBe(text));
  sides.new.split("\n").forEach((text, i) => expect(after[sides.newNumbers[i]! - 1]).toBe(text));
  expect(sides.new).toContain("changed");
  expect(sides.gaps).toEqual([
    { line: 2 - 1, oldLine: 1, hidden: 1 },
    { line: 8, oldLine: 8, hidden: 19 },
  ]);
});

test("new, deleted and strangely named files are found by their names", () => {
  const files = parsePatch(gitDiff({ gone: "a\n", "ü b": "1\n" }, { "new\tone": "b\n", "ü b": "2\n" }));
  expect(files.map((f) => f.path).sort()).toEqual(["gone", "new\tone", "ü b"]);
  const added = sidesOf(files.find((f) => f.path === "new\tone")!);
  expect([added.old, added.new]).toEqual(["", "b"]);
});

test("lines that look like heads are lines", () => {
  const files = parsePatch(gitDiff({ f: "--- a/x\n-- y\n" }, { f: "+++ b/x\n@@ -1 +1 @@\ndiff --git a/q b/q\n" }));
  expect(files).toHaveLength(1);
  expect(sidesOf(files[0]!).new).toBe("+++ b/x\n@@ -1 +1 @@\ndiff --git a/q b/q");
});

test("a patch may be cut anywhere", () => {
  const whole = gitDiff({ f: "a\nb\nc\n", g: "1\n" }, { f: "a\nB\nc\n", g: "2\n" });
  for (let cut = 0; cut <= whole.length; cut++) for (const file of parsePatch(whole.slice(0, cut))) sidesOf(file);
});

test("quoting is undone", () => {
  expect(unquote('"a\\tb\\303\\274\\"\\\\"')).toBe('a\tbü"\\');
  expect(unquote("plain")).toBe("plain");
});

test("the app's names for files lead to git's", () => {
  expect(plainPath("plain ü.txt")).toBe("plain ü.txt");
  expect(plainPath('"odd\\xff\\n.txt"')).toBe("odd\\xFF\n.txt");
  expect(plainPath('"tab\\there, \\"quoted\\", \\\\, \\u200b, \\x01"')).toBe('tab\there, "quoted", \\, \u200b, \x01');
  // What git writes of the same name, after the app has replaced the bytes that are no UTF-8.
  expect(parsePatch('diff --git "a/odd\\xFF\\n.txt" "b/odd\\xFF\\n.txt"\n--- /dev/null\n+++ "b/odd\\xFF\\n.txt"\n@@ -0,0 +1 @@\n+x\n')[0]!.path).toBe(plainPath('"odd\\xff\\n.txt"'));
});
