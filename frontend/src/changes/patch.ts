// Reads a unified diff as git writes it, and makes of each file the two texts that a side-by-side view compares. Pure.

export interface PatchFile {
  /** Path now; for a deleted file its path before. */
  path: string;
  hunks: Hunk[];
  /** Git says that it is no text. */
  binary: boolean;
}

export interface Hunk {
  oldStart: number;
  newStart: number;
  /** Each line with its sign: " ", "-" or "+". */
  lines: string[];
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Returns the files of a patch, in order. A patch that was cut ends with what there was. */
export function parsePatch(patch: string): PatchFile[] {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  let hunk: Hunk | undefined;
  let oldLeft = 0;
  let newLeft = 0;
  let oldPath = "";
  for (const line of patch.split("\n")) {
    if (hunk && (oldLeft > 0 || newLeft > 0)) {
      const sign = line[0] ?? " ";
      if (sign === " " || sign === "-" || sign === "+") {
        if (sign !== "+") oldLeft--;
        if (sign !== "-") newLeft--;
        hunk.lines.push(line === "" ? " " : line);
        continue;
      }
      if (sign === "\\") continue; // no newline at end of file
      hunk = undefined; // the hunk was cut
    }
    if (line.startsWith("diff --git ")) {
      file = { path: headPath(line), hunks: [], binary: false };
      files.push(file);
      hunk = undefined;
      oldPath = "";
    } else if (file === undefined) {
      continue;
    } else if (line.startsWith("--- ")) {
      oldPath = pathIn(line.slice(4));
    } else if (line.startsWith("+++ ")) {
      file.path = pathIn(line.slice(4)) || oldPath || file.path;
    } else if (line.startsWith("rename to ")) {
      file.path = unquote(line.slice(10));
    } else if (line.startsWith("Binary files ") || line === "GIT binary patch") {
      file.binary = true;
    } else {
      const head = hunkHead.exec(line);
      if (head === null) continue;
      oldLeft = head[2] === undefined ? 1 : Number(head[2]);
      newLeft = head[4] === undefined ? 1 : Number(head[4]);
      hunk = { oldStart: Number(head[1]), newStart: Number(head[3]), lines: [] };
      file.hunks.push(hunk);
    }
  }
  return files;
}

/** Path from a "--- a/x" or "+++ b/x" line; empty for /dev/null. */
function pathIn(text: string): string {
  const path = unquote(text.replace(/\t$/, ""));
  return path === "/dev/null" ? "" : path.replace(/^[abiwco]\//, "");
}

/** Path from "diff --git a/x b/x", where both are the same. */
function headPath(line: string): string {
  const rest = line.slice("diff --git ".length);
  if (rest.startsWith('"')) return unquote(rest.slice(0, rest.indexOf('" ') + 1)).replace(/^[abiwco]\//, "");
  return rest.slice(2, (rest.length - 1) / 2);
}

/** Undoes git's C-style quoting of unusual paths (core.quotePath): octal bytes are UTF-8. */
export function unquote(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return text;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };
  const body = text.slice(1, -1);
  for (let i = 0; i < body.length; i++) {
    const octal = /^\\([0-3][0-7]{2})/.exec(body.slice(i, i + 4));
    if (octal) {
      bytes.push(parseInt(octal[1]!, 8));
      i += 3;
    } else if (body[i] === "\\" && escapes[body[i + 1] ?? ""] !== undefined) {
      bytes.push(escapes[body[++i]!]!);
    } else {
      const point = body.codePointAt(i)!;
      bytes.push(...encoder.encode(String.fromCodePoint(point)));
      if (point > 0xffff) i++;
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/**
 * The path as a patch has it, from how the app writes it: a name that is no plain text stands in double quotes, with the
 * escapes of Go. Bytes that are no UTF-8 are \xNN in both.
 */
export function plainPath(text: string): string {
  if (!text.startsWith('"')) return text;
  const named: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\", '"': '"' };
  return text.slice(1, -1).replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gi, (whole, byte?: string, short?: string, long?: string, one?: string) => {
    if (byte !== undefined) return parseInt(byte, 16) < 0x80 ? String.fromCharCode(parseInt(byte, 16)) : `\\x${byte.toUpperCase()}`;
    const point = short ?? long;
    return point === undefined ? (named[one ?? ""] ?? whole) : String.fromCodePoint(parseInt(point, 16));
  });
}

/** The two texts of a file, hunk after hunk, and for each line of a text its number in the file. */
export interface Sides {
  old: string;
  new: string;
  oldNumbers: number[];
  newNumbers: number[];
  /** Lines of the new text (from 1) before which unchanged lines are left out, and how many. */
  gaps: { line: number; oldLine: number; hidden: number }[];
}

export function sidesOf(file: PatchFile): Sides {
  const old: string[] = [];
  const now: string[] = [];
  const sides: Sides = { old: "", new: "", oldNumbers: [], newNumbers: [], gaps: [] };
  let nextNew = 1;
  for (const hunk of file.hunks) {
    let o = hunk.oldStart;
    let n = hunk.newStart;
    if (n > nextNew) sides.gaps.push({ line: now.length + 1, oldLine: old.length + 1, hidden: n - nextNew });
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line[0] !== "+") {
        old.push(text);
        sides.oldNumbers.push(o++);
      }
      if (line[0] !== "-") {
        now.push(text);
        sides.newNumbers.push(n++);
      }
    }
    nextNew = n;
  }
  sides.old = old.join("\n");
  sides.new = now.join("\n");
  return sides;
}
