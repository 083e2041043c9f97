import type { ITheme } from "@xterm/xterm";

// Names of the tokens that a terminal's colours come from.
const tokens = {
  background: "bg", foreground: "fg", cursor: "cursor", cursorAccent: "cursor-text", selectionBackground: "selection",
  black: "black", red: "red", green: "green", yellow: "yellow", blue: "blue", magenta: "magenta", cyan: "cyan", white: "white",
  brightBlack: "bright-black", brightRed: "bright-red", brightGreen: "bright-green", brightYellow: "bright-yellow", brightBlue: "bright-blue",
  brightMagenta: "bright-magenta", brightCyan: "bright-cyan", brightWhite: "bright-white",
} as const;

/** Resolves a token to a colour that xterm.js can read: it knows no light-dark(). */
export function resolve(token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const [r = 0, g = 0, b = 0] = getComputedStyle(probe).color.match(/[\d.]+/g)?.map(Number) ?? [];
  probe.remove();
  return `#${[r, g, b].map((n) => Math.round(n).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the terminal's colours as the page has them now. */
export function theme(): ITheme {
  const out: Record<string, string> = {};
  for (const [key, token] of Object.entries(tokens)) out[key] = resolve(`--term-${token}`);
  out["selectionInactiveBackground"] = out["selectionBackground"]!;
  out["scrollbarSliderBackground"] = `${resolve("--text-3")}55`;
  out["scrollbarSliderHoverBackground"] = `${resolve("--text-3")}88`;
  out["scrollbarSliderActiveBackground"] = `${resolve("--text-3")}aa`;
  return out;
}
