import { gzipSync } from "node:zlib";
import type { Rolldown } from "vite";
import { expect, test } from "vitest";
import { loadedFirst, weight } from "./budget.ts";

/** A bundle of chunks by name, as far as its weight needs it. */
const bundle = {
  "index.js": { type: "chunk", isEntry: true, imports: ["shared.js", "outside"], dynamicImports: ["later.js"], code: "entry", viteMetadata: { importedCss: new Set(["index.css"]) } },
  "shared.js": { type: "chunk", isEntry: false, imports: ["index.js"], dynamicImports: [], code: "shared" },
  "later.js": { type: "chunk", isEntry: false, imports: ["shared.js"], dynamicImports: [], code: "later", viteMetadata: { importedCss: new Set(["later.css"]) } },
  "index.css": { type: "asset", source: "a { color: red }" },
  "later.css": { type: "asset", source: "b {}" },
} as unknown as Rolldown.OutputBundle;

test("what the entry needs at once is loaded first, with its styles; what it imports later is not", () => {
  expect(loadedFirst(bundle).toSorted()).toEqual(["index.css", "index.js", "shared.js"]);
});

test("a file weighs what it is gzipped, whether script or style", () => {
  const size = (text: string) => gzipSync(text, { level: 9 }).length;
  expect(weight(bundle, ["index.js", "index.css"])).toBe(size("entry") + size("a { color: red }"));
  expect(weight(bundle, [])).toBe(0);
});
