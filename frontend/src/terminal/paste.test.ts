import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { droppedPaths, harmless, judge, quotePath, visible } from "./paste";

test.each<[string, string, boolean, number]>([
  ["one line", "ls -l", false, 0],
  ["one line that ends, unbracketed", "rm -r x\n", false, 1],
  ["one line that ends, bracketed", "ls\n", true, 0],
  ["two lines", "a\nb", true, 1],
  ["two lines, unbracketed", "a\r\nb", false, 1],
  ["an escape sequence", "a\u001b[201~b", true, 1],
  ["a C1 control", "a\u009bb", true, 1],
  ["a tab", "a\tb", true, 0],
  ["letters of any script", "漢字 ü 👩‍👩‍👧", true, 0],
  ["lines and control characters", "a\u0007\nb", true, 2],
])("%s: %j", (_, text, bracketed, reasons) => expect(judge(text, bracketed).reasons).toHaveLength(reasons));

test("control characters are shown, and can be taken out", () => {
  expect(visible("a\u001b[0m\r\nb\tc\u007f\u009b")).toBe("a␛[0m\nb\tc␡\ufffd");
  expect(harmless("a\u001b[201~\r\nb\tc\u0000")).toBe("a[201~\nb\tc");
});

test.each(["/a/b.txt", "/a b", "/it's", "/$(reboot)", "/`x`", '/"', "/a\nb", "/ü漢", "-rf", "/a;b&c"])("a shell takes %j as one word", (path) => {
  expect(execFileSync("/bin/sh", ["-c", `printf %s ${quotePath(path)}`], { encoding: "utf8" })).toBe(path);
});

test("only files of this machine are dropped paths", () => {
  expect(droppedPaths("# c\r\nfile:///a%20b\r\nfile://other/x\r\nhttps://x/y\r\nnonsense\r\n")).toEqual(["/a b"]);
});
