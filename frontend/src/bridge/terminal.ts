// One terminal's bytes: output by a streamed response, input in order, and how much was drawn.
import { app, send, stream } from "./transport";

/** Sends pieces one at a time in the order in which they were given; what comes meanwhile is joined. */
export class Ordered {
  private waiting: Uint8Array<ArrayBuffer>[] = [];
  private busy = false;
  private seq = 0;

  /** deliver sends one piece; failed is told why one did not arrive, and nothing is sent after it. */
  constructor(
    private readonly deliver: (seq: number, bytes: Uint8Array<ArrayBuffer>) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  push(bytes: Uint8Array<ArrayBuffer>): void {
    this.waiting.push(bytes);
    if (!this.busy) void this.run();
  }

  private async run(): Promise<void> {
    this.busy = true;
    try {
      while (this.waiting.length > 0) {
        const piece = this.take();
        await this.deliver(++this.seq, piece);
      }
      this.busy = false;
    } catch (error) {
      this.waiting = [];
      this.failed(error); // busy stays set: a piece after a lost one would be out of turn
    }
  }

  /** Takes what waits, up to the most that the app takes at once. */
  private take(): Uint8Array<ArrayBuffer> {
    const most = 512 * 1024;
    const pieces = [this.waiting.shift()!];
    let length = pieces[0]!.length;
    while (this.waiting.length > 0 && length + this.waiting[0]!.length <= most) {
      length += this.waiting[0]!.length;
      pieces.push(this.waiting.shift()!);
    }
    if (length > most) {
      const whole = pieces[0]!;
      this.waiting.unshift(whole.slice(most));
      return whole.slice(0, most);
    }
    const joined = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    return joined;
  }
}

/** How much is drawn between two acknowledgements: a quarter of what the app lets be under way. */
const ackEvery = 128 * 1024;

export interface Drawn {
  /** Draws bytes and calls done when that is through. */
  write(bytes: Uint8Array, done: () => void): void;
  /** The stream has ended; error is set when it broke. */
  ended(error?: unknown): void;
  /** Input did not arrive. */
  lost(error: unknown): void;
}

/** Connects to a tab. Ends when the tab's program has ended, the page is let go, or close is called. */
export class Attachment {
  private readonly abort = new AbortController();
  private readonly input: Ordered;
  private path = "";
  private drawn = 0;
  private acked = 0;
  private acking = false;
  private size: [number, number] | undefined;

  private constructor(private readonly to: Drawn) {
    this.input = new Ordered(
      (seq, bytes) => send(`${this.path}/input?seq=${seq}`, bytes),
      (error) => to.lost(error),
    );
  }

  /** Attaches with a size in cells, which the first picture then has; rejects when the app refuses. */
  static async open(task: string, tab: string, page: string, size: { cols: number; rows: number }, to: Drawn): Promise<Attachment> {
    const attachment = new Attachment(to);
    const { ticket } = await app.call("task_attach", { task, tab });
    attachment.path = `/pty/${ticket}`;
    const reader = await stream(`${attachment.path}?page=${page}&cols=${size.cols}&rows=${size.rows}`, attachment.abort.signal);
    void attachment.read(reader);
    return attachment;
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        this.to.write(value, () => this.draw(value.length));
      }
      if (!this.abort.signal.aborted) this.to.ended();
    } catch (error) {
      if (!this.abort.signal.aborted) this.to.ended(error);
    }
  }

  private draw(bytes: number): void {
    this.drawn += bytes;
    if (this.drawn - this.acked >= ackEvery && !this.acking) void this.ack();
  }

  private async ack(): Promise<void> {
    this.acking = true;
    try {
      while (this.drawn - this.acked >= ackEvery && !this.abort.signal.aborted) {
        const now = this.drawn;
        await send(`${this.path}/ack?bytes=${now}`);
        this.acked = now;
      }
    } catch {
      // The stream ends by itself when its app is gone; that is told there.
    } finally {
      this.acking = false;
    }
  }

  type(bytes: Uint8Array<ArrayBuffer>): void {
    this.input.push(bytes);
  }

  /** Tells the size in cells; only the last of several at once is sent. */
  resize(cols: number, rows: number): void {
    const idle = this.size === undefined;
    this.size = [cols, rows];
    if (idle) void this.sendSize();
  }

  private async sendSize(): Promise<void> {
    let sent: [number, number] | undefined;
    while (this.size && this.size !== sent) {
      sent = this.size;
      try {
        await send(`${this.path}/size?cols=${sent[0]}&rows=${sent[1]}`);
      } catch {
        break; // told where the stream ends
      }
    }
    this.size = undefined;
  }

  /** Says that the person has answered what the tab offered to the clipboard. */
  answered(): void {
    send(`${this.path}/answered`).catch(() => {}); // then it is offered again, which a person can answer again
  }

  close(): void {
    this.abort.abort();
  }
}
