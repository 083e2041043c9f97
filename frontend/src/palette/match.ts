// Finding by a few letters. Pure.

/** Returns how well a query fits a text: higher is better, undefined when it does not; and which letters fit. */
export function match(query: string, text: string): { score: number; at: number[] } | undefined {
  const words = query.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const low = text.toLowerCase();
  const at: number[] = [];
  let score = 0;
  for (const word of words) {
    const found = whole(word, low) ?? scattered(word, low);
    if (!found) return undefined;
    score += found.score;
    at.push(...found.at);
  }
  return { score: score - text.length / 1000, at: [...new Set(at)].sort((a, b) => a - b) };
}

const begins = (text: string, i: number): boolean => i === 0 || /[^\p{L}\p{N}]/u.test(text[i - 1]!);

function whole(word: string, text: string) {
  let best: number | undefined;
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) {
    if (best === undefined || begins(text, i)) best = i;
    if (begins(text, i)) break;
  }
  if (best === undefined) return undefined;
  return { score: (begins(text, best) ? 20 : 10) + (best === 0 ? 5 : 0), at: Array.from(word, (_, k) => best + k) };
}

/** Letters in order, the first one at the beginning of a word. */
function scattered(word: string, text: string) {
  const at: number[] = [];
  let from = 0;
  for (const letter of word) {
    let i = text.indexOf(letter, from);
    while (i >= 0 && at.length === 0 && !begins(text, i)) i = text.indexOf(letter, i + 1);
    if (i < 0) return undefined;
    at.push(i);
    from = i + 1;
  }
  return { score: 1 + at.filter((i) => begins(text, i)).length, at };
}
