// What a program may ask of the clipboard (OSC 52), and what is taken of it. Pure.
import { harmless } from "./paste";

/** The longest text that a program may offer, in characters: more is no text that a person would look at. */
export const most = 100_000;

/** Returns the text that an OSC 52 offers to the clipboard, harmless for whatever it is pasted into; undefined for a query, which gets no answer, and for what is none. */
export function offered(payload: string): string | undefined {
  const cut = payload.indexOf(";");
  if (cut < 0 || !/^[cpqs0-7]*$/.test(payload.slice(0, cut))) return undefined;
  const data = payload.slice(cut + 1);
  if (data === "" || data === "?" || data.length > most * 6) return undefined; // a character has 4 bytes at most, 6 in base64
  try {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const text = harmless(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return text === "" || [...text].length > most ? undefined : text;
  } catch {
    return undefined; // no base64, or no UTF-8
  }
}
