/** Cuts a stream of bytes into lines. A line may come in pieces, and so may a character. */
export class Lines {
  private rest = "";
  private readonly decoder = new TextDecoder();

  /** Returns the lines that are whole now, without their line feeds. */
  push(piece: Uint8Array): string[] {
    const parts = (this.rest + this.decoder.decode(piece, { stream: true })).split("\n");
    this.rest = parts.pop()!;
    return parts.filter((line) => line !== "");
  }
}
