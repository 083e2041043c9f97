import { MergeView, goToNextChunk, goToPreviousChunk, unifiedMergeView } from "@codemirror/merge";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, RangeSet, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Sides } from "./patch";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--code-type)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.variableName)], color: "var(--code-name)" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface-terminal)", color: "var(--term-fg)", fontSize: "var(--text-12)" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "18px", fontVariantLigatures: "none" },
  ".cm-content": { padding: "0", caretColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--surface-terminal)", color: "var(--text-3)", border: "none", fontVariantNumeric: "tabular-nums" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "44px", padding: "0 8px 0 4px" },
  ".cm-line": { padding: "0 8px 0 18px", position: "relative" },
  "&.cm-focused": { outline: "none" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--term-selection) !important" },
  // The sign comes first; the tint is the second cue.
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--diff-add)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-deletedLine": { backgroundColor: "var(--diff-del)" },
  "&.cm-merge-b .cm-changedLine::before, .cm-insertedLine::before": { content: '"+"', position: "absolute", left: "4px", color: "var(--success)" },
  "&.cm-merge-a .cm-changedLine::before, .cm-deletedLine::before": { content: '"−"', position: "absolute", left: "4px", color: "var(--danger)" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText": { background: "var(--diff-add-word)", textDecoration: "none" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "var(--diff-del-word)", textDecoration: "none" },
  ".cm-insertedLine, .cm-deletedLine, .cm-deletedLine del": { textDecoration: "none" },
  ".cm-deletedChunk": { paddingLeft: "0" },
  ".cm-mergeSpacer": { background: "repeating-linear-gradient(135deg, var(--diff-void) 0 4px, transparent 4px 8px)" },
  ".cm-changeGutter": { display: "none" },
  ".cm-gap": { padding: "0 12px", height: "28px", lineHeight: "28px", color: "var(--text-3)", backgroundColor: "var(--surface-chrome)", borderTop: "1px solid var(--rule)", borderBottom: "1px solid var(--rule)", fontFamily: "var(--font-ui)" },
});

class Gap extends WidgetType {
  constructor(private readonly hidden: number) {
    super();
  }
  override eq(other: Gap): boolean {
    return other.hidden === this.hidden;
  }
  toDOM(): HTMLElement {
    const line = document.createElement("div");
    line.className = "cm-gap";
    line.textContent = `${this.hidden} ${this.hidden === 1 ? "line" : "lines"} not shown`;
    return line;
  }
}

/** Says above a hunk how many lines are left out before it. */
function gaps(at: { line: number; hidden: number }[]): Extension {
  const make = (state: EditorState) =>
    RangeSet.of(
      at.filter((g) => g.line <= state.doc.lines).map((g) => Decoration.widget({ widget: new Gap(g.hidden), block: true, side: -1 }).range(state.doc.line(g.line).from)),
      true,
    );
  return StateField.define({ create: make, update: (value) => value, provide: (f) => EditorView.decorations.from(f) });
}

function side(numbers: number[], at: { line: number; hidden: number }[], path: string, label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    lineNumbers({ formatNumber: (n) => String(numbers[n - 1] ?? "") }),
    gaps(at),
    look,
    syntaxHighlighting(colours),
    /\.([cm]?[jt]sx?|json|svelte|go|rs|c|h|cc|cpp|java|cs|swift|kt)$/.test(path) ? javascript({ typescript: true, jsx: /x$/.test(path) }) : [],
  ];
}

export interface Shown {
  next(by: number): void;
  destroy(): void;
}

// The default gives up early and then marks a whole file as changed.
const diffConfig = { scanLimit: 20_000, timeout: 200 };

/** Shows the diff of one file in a place. */
export function showDiff(place: HTMLElement, sides: Sides, mode: "split" | "unified", path: string): Shown {
  const keys = keymap.of([{ key: "n", run: goToNextChunk }, { key: "p", run: goToPreviousChunk }]);
  const now = side(sides.newNumbers, sides.gaps, path, `${path}, now`);
  if (mode === "unified") {
    const view = new EditorView({
      parent: place, doc: sides.new,
      extensions: [now, keys, unifiedMergeView({ original: sides.old, mergeControls: false, gutter: false, highlightChanges: true, diffConfig })],
    });
    return { next: (by) => void (by > 0 ? goToNextChunk(view) : goToPreviousChunk(view)), destroy: () => view.destroy() };
  }
  const before = sides.gaps.map((g) => ({ line: g.oldLine, hidden: g.hidden }));
  const view = new MergeView({
    parent: place, gutter: false, highlightChanges: true, diffConfig,
    a: { doc: sides.old, extensions: [side(sides.oldNumbers, before, path, `${path}, before`), keys] },
    b: { doc: sides.new, extensions: [now, keys] },
  });
  return { next: (by) => void (by > 0 ? goToNextChunk(view.b) : goToPreviousChunk(view.b)), destroy: () => view.destroy() };
}
