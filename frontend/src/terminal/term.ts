// One terminal on the page: xterm.js, its renderer, and the attachment to a tab.
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import { Attachment } from "../bridge/terminal";
import { app, host } from "../bridge/transport";
import { Refused } from "../gen/verbs";
import { offered } from "./clipboard";
import { addRenderer } from "./renderer";
import { droppedPaths, judge, quotePath } from "./paste";
import { theme } from "./theme";

export interface Look {
  fontSize: number;
  screenReader: boolean;
}

export interface Events {
  /** A text that is not pasted before the person has looked at it. */
  guard(text: string, paste: (text: string) => void): void;
  /** Something did not work, in one sentence. */
  say(text: string): void;
  /** The stream ended; the tab may have ended, or the app went away. */
  ended(): void;
  /** Keys that are the window's own and not the terminal's. */
  own(event: KeyboardEvent): boolean;
  /** What runs here wants a text on the clipboard. */
  clipboard(text: string): void;
  focused(): void;
}

/** Wait before a size is told, so that a drag of a border is one change. */
const sizeRest = 60; // ms

export class Term {
  readonly xterm: Terminal;
  readonly search = new SearchAddon();
  private readonly fit = new FitAddon();
  private readonly element = document.createElement("div");
  private readonly resized = new ResizeObserver(() => this.scheduleFit());
  private attachment: Attachment | undefined;
  private connecting: Promise<void> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private logged = false;
  private renderer: { dispose(): void } | undefined;
  /** Whether it is on the page: nobody is asked by a terminal that is not in view. */
  private shown = false;
  /** A text for the clipboard that the person has not answered yet. */
  private offer: string | undefined;

  constructor(
    readonly task: string,
    readonly tab: string,
    look: Look,
    private events: Events,
  ) {
    this.element.className = "term";
    this.xterm = new Terminal({
      allowProposedApi: true, cursorBlink: false, cursorInactiveStyle: "outline", customGlyphs: true, drawBoldTextInBrightColors: false,
      fontFamily: '"termic Mono", "JetBrains Mono", ui-monospace, "DejaVu Sans Mono", monospace', fontSize: look.fontSize, lineHeight: 1.0,
      fontWeight: 400, fontWeightBold: 700, minimumContrastRatio: 4.5, scrollback: 10_000, macOptionIsMeta: true,
      screenReaderMode: look.screenReader, smoothScrollDuration: 0, theme: theme(), rightClickSelectsWord: false,
      linkHandler: { activate: (event, uri) => this.openLink(event, uri) },
    });
    this.xterm.loadAddon(this.fit);
    this.xterm.loadAddon(this.search);
    // Widths as the app's own screen has them for single characters: xterm.js without it is of 2010, when no emoji was wide.
    this.xterm.loadAddon(new Unicode11Addon());
    this.xterm.unicode.activeVersion = "11";
    this.xterm.loadAddon(new WebLinksAddon((event, uri) => this.openLink(event, uri)));
    this.xterm.attachCustomKeyEventHandler((event) => !this.events.own(event));
    // Asked of the person, and never answered: a query (OSC 52 ; c ; ?) gets nothing.
    this.xterm.parser.registerOscHandler(52, (payload) => {
      const text = offered(payload);
      if (text !== undefined) this.takeOffer(text);
      return true;
    });
    const encoder = new TextEncoder();
    this.xterm.onData((text) => this.attachment?.type(encoder.encode(text)));
    this.xterm.onBinary((text) => this.attachment?.type(Uint8Array.from(text, (c) => c.charCodeAt(0))));
    this.xterm.onResize(({ cols, rows }) => this.attachment?.resize(cols, rows));
  }

  /** Puts the terminal into a place on the page, and connects it. */
  mount(place: HTMLElement, page: string): void {
    place.append(this.element);
    const first = this.xterm.element === undefined;
    if (first) {
      this.xterm.open(this.element);
      this.renderer = addRenderer(this.xterm);
      this.element.addEventListener("paste", (event) => this.onPaste(event), true);
      this.element.addEventListener("focusin", () => this.events.focused());
      this.element.addEventListener("dragover", (event) => event.preventDefault());
      this.element.addEventListener("drop", (event) => this.onDrop(event));
    }
    this.shown = true;
    if (this.offer !== undefined) this.events.clipboard(this.offer);
    this.resized.observe(this.element);
    // One that is back gets its size from the observer. xterm.js 6.0.0 draws nothing until it sees that it is on the page, and a
    // size that it is given before that leaves its scroll bar behind: the newest lines would stay below the view.
    if (first) this.fitNow();
    void this.connect(page);
  }

  /** Says who is told from now on: the place that shows the terminal, which an earlier one may have given back. */
  listen(events: Events): void {
    this.events = events;
  }

  /** Whether output comes and keys go. */
  get connected(): boolean {
    return this.attachment !== undefined || this.connecting !== undefined;
  }

  /** In view, one at a time: none takes the place of what the person is about to agree to. Out of view the last one counts, and is asked about later. */
  private takeOffer(text: string): void {
    if (this.shown && this.offer !== undefined) return;
    this.offer = text;
    if (this.shown) this.events.clipboard(text);
  }

  /** The person has answered the offer, or wants to hear of none. The app kept it too, for a page that comes later. */
  answered(): void {
    this.offer = undefined;
    this.attachment?.answered();
  }

  /** Takes the terminal off the page; it goes on behind. */
  unmount(): void {
    this.shown = false;
    this.resized.disconnect();
    this.element.remove();
  }

  focus(): void {
    this.xterm.focus();
  }

  setLook(look: Look): void {
    if (this.xterm.options.fontSize !== look.fontSize) {
      this.xterm.options.fontSize = look.fontSize;
      this.scheduleFit();
    }
    this.xterm.options.screenReaderMode = look.screenReader;
  }

  setColours(): void {
    this.xterm.options.theme = theme();
  }

  /** Connects unless it is; page names this load of the page. */
  async connect(page: string): Promise<void> {
    if (this.attachment || this.closed || page === "") return;
    this.connecting ??= this.attach(page).finally(() => (this.connecting = undefined));
    await this.connecting;
  }

  private async attach(page: string): Promise<void> {
    try {
      const attachment = await Attachment.open(this.task, this.tab, page, this.xterm, {
        write: (bytes, done) => this.xterm.write(bytes, done),
        ended: () => this.onEnded(),
        lost: (error) => {
          this.events.say(`What you typed did not arrive: ${error instanceof Error ? error.message : String(error)}.`);
          this.reattach();
        },
      });
      if (this.closed) return attachment.close();
      this.attachment = attachment;
      attachment.resize(this.xterm.cols, this.xterm.rows);
    } catch (error) {
      if (error instanceof Refused && error.refusal.code === "agent_exited") await this.showLog();
      this.onEnded();
    }
  }

  /** Shows what a tab that has ended had on its screen. */
  private async showLog(): Promise<void> {
    if (this.closed || this.logged) return;
    this.logged = true;
    try {
      const { text } = await app.call("task_log", { task: this.task, tab: this.tab, lines: 1000, raw: true });
      this.xterm.write(`${text.replaceAll("\n", "\r\n")}\x1b[?25l`);
    } catch {
      // The tab is gone with its text; its place says that it has ended.
    }
  }

  private onEnded(): void {
    this.attachment = undefined;
    this.events.ended();
  }

  private reattach(): void {
    this.attachment?.close();
    this.onEnded();
  }

  private scheduleFit(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fitNow(), sizeRest);
  }

  private fitNow(): void {
    // A place that is not laid out yet has no size; a terminal of two columns would reflow everything.
    if (this.element.clientWidth < 40 || this.element.clientHeight < 20) return;
    this.fit.fit();
  }

  /** Pastes what the clipboard holds, asking first where that is wise. */
  paste(text: string): void {
    if (text === "") return;
    const { reasons } = judge(text, this.xterm.modes.bracketedPasteMode);
    if (reasons.length === 0) this.xterm.paste(text);
    else this.events.guard(text, (agreed) => this.xterm.paste(agreed));
  }

  private onPaste(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    this.paste(event.clipboardData?.getData("text/plain") ?? "");
  }

  private onDrop(event: DragEvent): void {
    const paths = droppedPaths(event.dataTransfer?.getData("text/uri-list") ?? "");
    event.preventDefault();
    if (paths.length > 0) this.paste(paths.map(quotePath).join(" ") + " ");
  }

  private openLink(event: MouseEvent, uri: string): void {
    if (!event.ctrlKey && !event.metaKey) return; // a plain click selects
    host("open-url", uri).catch((error: unknown) => this.events.say(error instanceof Error ? error.message : String(error)));
  }

  dispose(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.resized.disconnect();
    this.attachment?.close();
    this.renderer?.dispose();
    this.xterm.dispose();
    this.element.remove();
  }
}
