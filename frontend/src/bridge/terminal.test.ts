import { expect, test } from "vitest";
import { Ordered } from "./terminal";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (b: Uint8Array) => new TextDecoder().decode(b);

test("pieces arrive one at a time, in order, and what comes meanwhile is joined", async () => {
  const sent: [number, string][] = [];
  let open = 0;
  const releases: (() => void)[] = [];
  const ordered = new Ordered(
    async (seq, b) => {
      expect(++open).toBe(1);
      sent.push([seq, text(b)]);
      await new Promise<void>((resolve) => releases.push(resolve));
      open--;
    },
    () => expect.unreachable(),
  );
  for (const key of "abcd") ordered.push(bytes(key));
  expect(sent).toEqual([[1, "a"]]);
  releases[0]!();
  await expect.poll(() => sent.length).toBe(2);
  expect(sent[1]).toEqual([2, "bcd"]);
  ordered.push(bytes("e"));
  releases[1]!();
  await expect.poll(() => sent.length).toBe(3);
  expect(sent[2]).toEqual([3, "e"]);
});

test("a long piece is cut and nothing of it is lost", async () => {
  const long = new Uint8Array(1_300_000).map((_, i) => i % 251);
  const parts: Uint8Array[] = [];
  const ordered = new Ordered(async (_, b) => void parts.push(b), () => expect.unreachable());
  ordered.push(long);
  ordered.push(bytes("end"));
  await expect.poll(() => parts.reduce((n, p) => n + p.length, 0)).toBe(long.length + 3);
  expect(Math.max(...parts.map((p) => p.length))).toBeLessThanOrEqual(512 * 1024);
  expect(Buffer.concat(parts).subarray(0, long.length).equals(Buffer.from(long))).toBe(true);
});

test("nothing is sent after a piece that was lost", async () => {
  const sent: string[] = [];
  const failures: unknown[] = [];
  const ordered = new Ordered(
    async (_, b) => {
      sent.push(text(b));
      throw new Error("gone");
    },
    (error) => failures.push(error),
  );
  ordered.push(bytes("a"));
  await expect.poll(() => failures.length).toBe(1);
  ordered.push(bytes("b"));
  await new Promise((resolve) => setTimeout(resolve));
  expect(sent).toEqual(["a"]);
});
