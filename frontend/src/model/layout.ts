// Which tabs of a task stand where: groups of tabs, split beside or below each other. Pure; every function returns a
// new layout and leaves the old one as it was.

/** A place for tabs. items are ids of tabs, or "changes" for the review. */
export interface Group {
  kind: "group";
  id: string;
  items: readonly string[];
  active: string | undefined;
}

export interface Split {
  kind: "split";
  id: string;
  /** row: side by side; column: one below the other. */
  direction: "row" | "column";
  children: readonly Node[];
}

export type Node = Group | Split;

export interface Layout {
  root: Node;
  /** Id of the group that has the focus. */
  focus: string;
  /** Number for the next id. */
  next: number;
}

export const review = "changes";

export function newLayout(): Layout {
  return { root: { kind: "group", id: "g1", items: [], active: undefined }, focus: "g1", next: 2 };
}

export function groupsOf(node: Node): Group[] {
  return node.kind === "group" ? [node] : node.children.flatMap(groupsOf);
}

export function groupWith(layout: Layout, item: string): Group | undefined {
  return groupsOf(layout.root).find((g) => g.items.includes(item));
}

export function focused(layout: Layout): Group {
  const groups = groupsOf(layout.root);
  return groups.find((g) => g.id === layout.focus) ?? groups[0]!;
}

function replace(node: Node, id: string, change: (group: Group) => Node | undefined): Node | undefined {
  if (node.kind === "group") return node.id === id ? change(node) : node;
  const children: Node[] = [];
  let same = true;
  for (const child of node.children) {
    const changed = replace(child, id, change);
    same &&= changed === child;
    if (changed === undefined) continue;
    // A split that lies in a split of the same direction becomes part of it.
    if (changed.kind === "split" && changed.direction === node.direction) children.push(...changed.children);
    else children.push(changed);
  }
  if (same) return node;
  if (children.length === 0) return undefined;
  return children.length === 1 ? children[0] : { ...node, children };
}

function withRoot(layout: Layout, root: Node | undefined): Layout {
  if (root === undefined) return { ...newLayout(), next: layout.next };
  const groups = groupsOf(root);
  const focus = groups.some((g) => g.id === layout.focus) ? layout.focus : groups[0]!.id;
  return { ...layout, root, focus };
}

/** Makes the layout hold exactly these tabs: new ones come to the focused group, gone ones leave, empty groups close. */
export function reconcile(layout: Layout, tabs: readonly string[]): Layout {
  const there = new Set(groupsOf(layout.root).flatMap((g) => g.items));
  let now = layout;
  for (const item of there) if (item !== review && !tabs.includes(item)) now = remove(now, item);
  for (const tab of tabs) if (!there.has(tab)) now = add(now, tab, groupsOf(now.root).every((g) => g.active === undefined));
  return now;
}

/** Adds an item to the focused group, and shows it if asked. An item that is there is shown. */
export function add(layout: Layout, item: string, show = true): Layout {
  if (groupWith(layout, item)) return show ? activate(layout, item) : layout;
  const into = focused(layout).id;
  const root = replace(layout.root, into, (g) => ({ ...g, items: [...g.items, item], active: show ? item : (g.active ?? item) }));
  return withRoot(layout, root);
}

/** Shows an item and gives its group the focus. */
export function activate(layout: Layout, item: string): Layout {
  const group = groupWith(layout, item);
  if (!group) return layout;
  const root = replace(layout.root, group.id, (g) => ({ ...g, active: item }));
  return { ...withRoot(layout, root), focus: group.id };
}

export function focus(layout: Layout, group: string): Layout {
  return layout.focus === group || !groupsOf(layout.root).some((g) => g.id === group) ? layout : { ...layout, focus: group };
}

/** Takes an item out. What was beside it is shown; a group without items closes, but for the last. */
export function remove(layout: Layout, item: string): Layout {
  const group = groupWith(layout, item);
  if (!group) return layout;
  const at = group.items.indexOf(item);
  const items = group.items.filter((i) => i !== item);
  const active = group.active === item ? (items[at] ?? items[at - 1]) : group.active;
  const root = replace(layout.root, group.id, (g) => (items.length === 0 ? undefined : { ...g, items, active }));
  return withRoot(layout, root);
}

/** Opens a new group beside or below the focused one and puts item into it, taking it from where it was. */
export function split(layout: Layout, direction: Split["direction"], item: string): Layout {
  const from = groupWith(layout, item);
  let base = layout;
  let beside = focused(layout).id;
  if (from) {
    beside = from.id;
    if (from.items.length === 1) return activate(layout, item);
    const at = from.items.indexOf(item);
    const items = from.items.filter((i) => i !== item);
    base = withRoot(layout, replace(layout.root, from.id, (g) => ({ ...g, items, active: g.active === item ? (items[at] ?? items[at - 1]) : g.active })));
  }
  const group: Group = { kind: "group", id: `g${base.next}`, items: [item], active: item };
  const root = replace(base.root, beside, (g) => ({ kind: "split", id: `s${base.next}`, direction, children: [g, group] }));
  return { ...withRoot(base, flatten(root)), focus: group.id, next: base.next + 1 };
}

/** Joins a root split's children that split the same way. */
function flatten(node: Node | undefined): Node | undefined {
  if (node?.kind !== "split") return node;
  const children = node.children.flatMap((c) => (c.kind === "split" && c.direction === node.direction ? c.children : [c]));
  return { ...node, children };
}

/** Returns the item that is `by` places right of the focused group's, around the end. */
export function beside(layout: Layout, by: number): string | undefined {
  const { items, active } = focused(layout);
  if (items.length === 0) return undefined;
  const at = active === undefined ? 0 : items.indexOf(active);
  return items[(at + by + items.length) % items.length];
}

/** Returns the group that is `by` places after the focused one in reading order, around the end. */
export function groupBeside(layout: Layout, by: number): Group {
  const groups = groupsOf(layout.root);
  const at = groups.findIndex((g) => g.id === layout.focus);
  return groups[(Math.max(at, 0) + by + groups.length) % groups.length]!;
}

/** Reads a layout that was kept, or returns undefined for anything else. */
export function parseLayout(text: string | null): Layout | undefined {
  if (text === null) return undefined;
  try {
    const value = JSON.parse(text) as Layout;
    const groups = groupsOf(value.root);
    const sound = groups.length > 0 && groups.length <= 32 && groups.every((g) => Array.isArray(g.items) && typeof g.id === "string");
    return sound && Number.isInteger(value.next) ? value : undefined;
  } catch {
    return undefined;
  }
}
