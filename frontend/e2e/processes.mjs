// What processes take, as Linux counts it.
import { readFileSync, readdirSync } from "node:fs";

/** Resident memory, in KiB, of the page's process of the window that is a process or below it: WebKit draws a page in one of its own. */
export function pageMemory(pid) {
  const parent = new Map();
  for (const p of readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
    try {
      parent.set(Number(p), Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${p}/status`, "utf8"))[1]));
    } catch { /* it ended */ }
  }
  const below = (p) => p === pid || (parent.has(p) && parent.get(p) > 1 && below(parent.get(p)));
  let kib = 0;
  for (const p of parent.keys())
    if (below(p)) {
      try {
        if (/WebKitWebProcess/.test(readFileSync(`/proc/${p}/cmdline`, "utf8"))) kib += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${p}/status`, "utf8"))[1]);
      } catch { /* it ended */ }
    }
  return kib;
}
