// What may be pasted without asking, and what a person is shown when not. Pure.

// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

export interface Verdict {
  /** Why to ask first, one sentence each; empty: paste it. */
  reasons: string[];
}

/** Looks at a text that is to be pasted. bracketed: the program is told where the paste begins and ends. */
export function judge(text: string, bracketed: boolean): Verdict {
  const reasons: string[] = [];
  const lines = text.split(/\r\n|\r|\n/);
  const endsLine = lines.length > 1 && lines.at(-1) === "";
  const count = endsLine ? lines.length - 1 : lines.length;
  if (lines.length > 1 && !bracketed) reasons.push(count === 1 ? "It ends with Enter, so that it runs at once." : `It has ${count} lines; each would run at once.`);
  if (lines.length > 1 && bracketed && count > 1) reasons.push(`It has ${count} lines.`);
  if (control.test(text)) reasons.push("It holds control characters, which a terminal takes for keys.");
  return { reasons };
}

/** Shows control characters as their pictures: ␛ for escape. */
export function visible(text: string): string {
  return text.replace(/\r\n|\r/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421").replace(/[\u0080-\u009f]/g, "\ufffd");
}

/** Takes out every control character but tab and line feed. */
export function harmless(text: string): string {
  return text.replace(/\r\n|\r/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** Quotes a path for a POSIX shell, so that it is one word whatever is in it. */
export function quotePath(path: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Paths of what was dropped, from text/uri-list (RFC 2483). Only files of this machine count. */
export function droppedPaths(list: string): string[] {
  return list.split(/\r?\n/).flatMap((line) => {
    if (line === "" || line.startsWith("#")) return [];
    try {
      const url = new URL(line);
      return url.protocol === "file:" && url.hostname === "" ? [decodeURIComponent(url.pathname)] : [];
    } catch {
      return [];
    }
  });
}
