// A comment on a line of a diff, and the text that an agent gets of them. Pure.

export interface Comment {
  id: number;
  file: string;
  /** Which text the line is of: before the change, or now. */
  side: "old" | "new";
  /** Number of the line in that text. */
  line: number;
  /** The line itself. */
  quoted: string;
  text: string;
}

const most = 200; // characters of a line that are quoted: enough to find it again

function quote(line: string): string {
  const text = line.replace(/\t/g, "    ").trimEnd();
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** One text of all comments, by file and line: each names its file and line, and quotes the line. */
export function compose(list: readonly Comment[]): string {
  const order = [...list].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.id - b.id));
  const parts = order.map((c) => `${c.file}:${c.line}${c.side === "old" ? " (as it was before the change)" : ""}\n> ${quote(c.quoted)}\n${c.text.trim()}`);
  return [list.length === 1 ? "A comment on your changes:" : `${list.length} comments on your changes:`, ...parts].join("\n\n");
}
