// The person's choices for the window. They are settings of the app, so the command line shows and sets them too.
import { app } from "../bridge/transport";
import type { Setting } from "../gen/verbs";

class Prefs {
  all = $state.raw<Setting[]>([]);
  private asked = 0;
  private readonly values = $derived(new Map(this.all.map((s) => [s.key, s.value])));

  get(key: string): string {
    return this.values.get(key) ?? "";
  }

  get fontSize(): number {
    return Number(this.get("terminal.font_size")) || 13;
  }

  get screenReader(): boolean {
    return this.get("terminal.screen_reader") === "true";
  }

  get shortcuts(): Record<string, string> {
    try {
      return JSON.parse(this.get("shortcuts") || "{}") as Record<string, string>;
    } catch {
      return {};
    }
  }

  /** Asks the app. Of several at once the one that was asked last counts, whichever answer comes last. */
  async load(): Promise<void> {
    const asked = ++this.asked;
    const { settings } = await app.call("settings_list", {});
    if (asked === this.asked) this.all = settings;
  }

  /** Sets a setting; rejects with the refusal, and then nothing has changed. */
  async set(key: string, value: string): Promise<void> {
    const { setting } = await app.call("settings_set", { key, value });
    this.asked++; // an answer that is under way may be of before
    this.all = this.all.map((s) => (s.key === key ? setting : s));
  }
}

export const prefs = new Prefs();

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Puts the chosen colours on the page, and returns whether they are dark. */
export function applyAppearance(): boolean {
  const root = document.documentElement;
  const theme = prefs.get("appearance.theme");
  const contrast = prefs.get("appearance.contrast");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
  if (contrast === "more" || contrast === "normal") root.dataset.contrast = contrast;
  else delete root.dataset.contrast;
  return theme === "dark" || (theme !== "light" && dark.matches);
}

export function onSystemColours(changed: () => void): void {
  dark.addEventListener("change", changed);
}
