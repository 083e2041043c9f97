// What the page may weigh before its first paint. A build that outgrows it fails and says by how much.
import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/** Bytes, gzipped, of the scripts and styles that index.html loads; fonts, which are compressed already, not counted. */
export const limit = 250_000;

/** Returns the files that are loaded with the entry: it, what it imports, what those import, and their styles. */
export function loadedFirst(bundle: Rolldown.OutputBundle): string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const chunk = bundle[name];
    if (chunk?.type !== "chunk" || found.has(name)) return;
    found.add(name);
    for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
    chunk.imports.forEach(visit);
  };
  for (const [name, file] of Object.entries(bundle)) if (file.type === "chunk" && file.isEntry) visit(name);
  return [...found];
}

/** Returns how many bytes these files are when each is gzipped. */
export function weight(bundle: Rolldown.OutputBundle, names: readonly string[]): number {
  return names.reduce((sum, name) => {
    const file = bundle[name]!;
    return sum + gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
  }, 0);
}

export function budget(): Plugin {
  return {
    name: "budget",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const names = loadedFirst(bundle);
      const bytes = weight(bundle, names);
      if (names.length === 0) this.error("the build has no entry to weigh");
      if (bytes > limit) this.error(`${names.join(", ")} are ${bytes} bytes gzipped, ${bytes - limit} more than may be loaded before the first paint: load a part of it later (src/ui/late.svelte.ts)`);
      this.info(`${bytes} bytes gzipped are loaded before the first paint, of ${limit}`);
    },
  };
}
