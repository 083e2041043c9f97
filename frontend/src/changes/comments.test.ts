import { expect, test } from "vitest";
import { compose } from "./comments";

test("comments are one text that names file and line and quotes the line, in the files' order", () => {
  const text = compose([
    { id: 1, file: "b.ts", side: "new", line: 12, quoted: "\tconst a = 1;  ", text: " Use two.\nOr three. " },
    { id: 2, file: "a.ts", side: "old", line: 7, quoted: "gone()", text: "Why did it go?" },
    { id: 3, file: "b.ts", side: "new", line: 3, quoted: "", text: "A blank line." },
  ]);
  expect(text).toBe(
    "3 comments on your changes:\n\na.ts:7 (as it was before the change)\n> gone()\nWhy did it go?\n\nb.ts:3\n> \nA blank line.\n\nb.ts:12\n>     const a = 1;\nUse two.\nOr three.",
  );
});

test("one comment is one, and a long line is cut", () => {
  const text = compose([{ id: 1, file: "a", side: "new", line: 1, quoted: "x".repeat(500), text: "Too long." }]);
  expect(text).toBe(`A comment on your changes:\n\na:1\n> ${"x".repeat(200)}…\nToo long.`);
});
