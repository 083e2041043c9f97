import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { budget } from "./budget.ts";

export default defineConfig({
  plugins: [svelte(), budget()],
  build: {
    // The oldest WebKitGTK that Debian 12 and Ubuntu 22.04 still serve is 2.44, which does what Safari 17.5 does.
    target: "safari17.5",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1200,
  },
  // A limit for a test that hangs, and for none that is slow: a machine may have other things to do.
  test: { include: ["*.test.ts", "src/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
