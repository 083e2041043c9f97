import { describe, expect, test } from "vitest";
import * as l from "./layout";

/** Writes a layout as text: [a b*] is a group that shows b, | stands between columns, / between rows, ! marks the focus. */
function draw(layout: l.Layout): string {
  const node = (n: l.Node): string =>
    n.kind === "group"
      ? `${n.id === layout.focus ? "!" : ""}[${n.items.map((i) => (i === n.active ? `${i}*` : i)).join(" ")}]`
      : `(${n.children.map(node).join(n.direction === "row" ? "|" : "/")})`;
  return node(layout.root);
}
const of = (...tabs: string[]) => l.reconcile(l.newLayout(), tabs);

describe("reconcile", () => {
  test("shows the first tab, and adds others without showing them", () => {
    const one = of("a");
    expect(draw(one)).toBe("![a*]");
    expect(draw(l.reconcile(one, ["a", "b"]))).toBe("![a* b]");
  });
  test("closes a group whose last tab has gone, and keeps the review", () => {
    const two = l.split(of("a", "b"), "row", "b");
    expect(draw(two)).toBe("([a*]|![b*])");
    expect(draw(l.reconcile(two, ["a"]))).toBe("![a*]");
    expect(draw(l.reconcile(l.add(two, l.review), []))).toBe("![changes*]");
  });
  test("changes nothing when nothing changed", () => {
    const layout = of("a", "b");
    expect(l.reconcile(layout, ["a", "b"])).toBe(layout);
  });
});

describe("remove", () => {
  test.each([
    ["b", "![a c*]", "b"],
    ["c", "![a b*]", "c"],
    ["a", "![b* c]", "a"],
  ])("of %s shows its neighbour", (item, want, shown) => {
    expect(draw(l.remove(l.activate(of("a", "b", "c"), shown), item))).toBe(want);
  });
  test("of what is not shown keeps what is", () => expect(draw(l.remove(of("a", "b"), "b"))).toBe("![a*]"));
  test("of the last leaves an empty group", () => expect(draw(l.remove(of("a"), "a"))).toBe("![]"));
});

describe("split", () => {
  test("moves a tab beside", () => expect(draw(l.split(of("a", "b"), "row", "b"))).toBe("([a*]|![b*])"));
  test("of the only tab of a group does nothing", () => expect(draw(l.split(of("a"), "row", "a"))).toBe("![a*]"));
  test("with a new tab opens a group for it", () => expect(draw(l.split(of("a"), "column", "new"))).toBe("([a*]/![new*])"));
  test("in the same direction stays flat", () => {
    const three = l.split(l.split(of("a"), "row", "b"), "row", "c");
    expect(draw(three)).toBe("([a*]|[b*]|![c*])");
  });
  test("in the other direction nests", () => {
    const nested = l.split(l.split(of("a"), "row", "b"), "column", "c");
    expect(draw(nested)).toBe("([a*]|([b*]/![c*]))");
    expect(draw(l.remove(nested, "c"))).toBe("(![a*]|[b*])");
  });
});

test("walking tabs and groups goes round", () => {
  const layout = l.split(of("a", "b", "c"), "row", "c");
  expect(l.beside(l.activate(layout, "a"), 1)).toBe("b");
  expect(l.beside(l.activate(layout, "a"), -1)).toBe("b");
  expect(l.groupBeside(layout, 1).items).toEqual(["a", "b"]);
});

test("a kept layout is read back, and anything else is not", () => {
  const layout = l.split(of("a", "b"), "row", "b");
  expect(l.parseLayout(JSON.stringify(layout))).toEqual(layout);
  for (const text of [null, "", "{", "null", "[]", '{"root":{"kind":"group"}}', '{"root":{"kind":"split"}}', '{"root":{"kind":"group","id":"g","items":[]}}'])
    expect(l.parseLayout(text)).toBeUndefined();
});

test("whatever is done, every tab is there once and one group has the focus", () => {
  let seed = 1;
  const random = (n: number) => ((seed = (seed * 48_271) % 2_147_483_647), seed % n);
  for (let round = 0; round < 300; round++) {
    let layout = of("a", "b", "c");
    const tabs = new Set(["a", "b", "c"]);
    for (let step = 0; step < 12; step++) {
      const item = String.fromCharCode(97 + random(6));
      switch (random(4)) {
        case 0: layout = l.split(layout, random(2) ? "row" : "column", item); tabs.add(item); break;
        case 1: layout = l.remove(layout, item); tabs.delete(item); break;
        case 2: layout = l.activate(layout, item); break;
        default: layout = l.add(layout, item, random(2) === 1); tabs.add(item);
      }
      const groups = l.groupsOf(layout.root);
      expect(groups.flatMap((g) => g.items).sort()).toEqual([...tabs].sort());
      expect(groups.filter((g) => g.id === layout.focus)).toHaveLength(1);
      expect(new Set(groups.map((g) => g.id)).size).toBe(groups.length);
      for (const g of groups) expect(g.items.length === 0 ? g.active === undefined : g.items.includes(g.active!)).toBe(true);
    }
  }
});
