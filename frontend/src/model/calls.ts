// Lists of calls. Pure.
import type { Called } from "../gen/verbs";

/** Newest calls that are kept: more than anyone scrolls through. */
const maxCalls = 1000;

/** Adds calls to a list: what comes later of a call takes the place of what was there. */
export function joined(list: readonly Called[], more: readonly Called[]): Called[] {
  const out = [...list];
  const at = new Map(out.map((call, i) => [call.request, i]));
  for (const call of more) {
    const known = at.get(call.request);
    if (known !== undefined) out[known] = { ...call, time: out[known]!.time };
    else at.set(call.request, out.push(call) - 1);
  }
  return out.slice(-maxCalls);
}

/** Returns two lists of one task's calls as one, oldest first: what was kept of it, and what the page saw, which may begin earlier or later and ends later. */
export function together(kept: readonly Called[], seen: readonly Called[]): Called[] {
  const begins = seen.findIndex((call) => call.request === kept[0]?.request);
  return joined([], [...seen.slice(0, Math.max(0, begins)), ...kept, ...seen]);
}
