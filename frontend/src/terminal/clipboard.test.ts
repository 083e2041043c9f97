import { expect, test } from "vitest";
import { most, offered } from "./clipboard";

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

test.each<[string, string, string | undefined]>([
  ["a text", `c;${base64("evil")}`, "evil"],
  ["letters of any script", `c;${base64("漢 ü\n")}`, "漢 ü\n"],
  ["no selection named", `;${base64("x")}`, "x"],
  ["another selection", `p;${base64("x")}`, "x"],
  ["control characters go", `c;${base64("a\u001b[201~\rb\u0000")}`, "a[201~\nb"],
  ["a query", "c;?", undefined],
  ["nothing", "c;", undefined],
  ["nothing but control characters", `c;${base64("\u001b")}`, undefined],
  ["no base64", "c;%%%", undefined],
  ["no UTF-8", `c;${btoa("\xff\xfe")}`, undefined],
  ["no selection that there is", `x;${base64("x")}`, undefined],
  ["no form", base64("x"), undefined],
])("%s", (_, payload, want) => expect(offered(payload)).toBe(want));

test("a text is bounded", () => {
  expect(offered(`c;${btoa("a".repeat(most))}`)).toHaveLength(most);
  expect(offered(`c;${btoa("a".repeat(most + 1))}`)).toBeUndefined();
});
