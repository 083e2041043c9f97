// A program and its arguments, as they are typed in one line. Pure.

/**
 * Returns the words of a line: parted by spaces, but for those in quotes. In single quotes everything is itself; elsewhere a
 * backslash makes the next character itself. Nothing is expanded: no shell sees the line. Returns undefined when a quote is open.
 */
export function words(line: string): string[] | undefined {
  const out: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (c === "\\" && quote !== "'" && i + 1 < line.length) word = (word ?? "") + line[++i]!;
    else if (quote !== "" && c === quote) quote = "";
    else if (quote === "" && (c === "'" || c === '"')) [quote, word] = [c, word ?? ""];
    else if (quote === "" && /\s/.test(c)) {
      if (word !== undefined) out.push(word);
      word = undefined;
    } else word = (word ?? "") + c;
  }
  if (quote !== "") return undefined;
  return word === undefined ? out : [...out, word];
}
