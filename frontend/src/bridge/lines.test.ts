import { expect, test } from "vitest";
import { Lines } from "./lines";

const bytes = (text: string) => new TextEncoder().encode(text);

test("lines come whole, however the bytes are cut", () => {
  const all = bytes('{"a":"é漢"}\n\n{"b":1}\n{"c":');
  for (let cut = 0; cut <= all.length; cut++) {
    const lines = new Lines();
    expect([...lines.push(all.slice(0, cut)), ...lines.push(all.slice(cut))]).toEqual(['{"a":"é漢"}', '{"b":1}']);
    expect(lines.push(bytes("2}\n"))).toEqual(['{"c":2}']);
  }
});
