import { MergeView, goToNextChunk, goToPreviousChunk, unifiedMergeView } from "@codemirror/merge";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
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
  ".cm-deletedChunk .cm-deletedLine": { position: "relative", padding: "0 8px 0 18px", display: "block" },
  ".cm-mergeSpacer": { background: "repeating-linear-gradient(135deg, var(--diff-void) 0 4px, transparent 4px 8px)" },
  ".cm-changeGutter": { display: "none" },
  ".cm-here": { boxShadow: "inset 2px 0 0 var(--accent)" },
  ".cm-lineNumbers .cm-gutterElement:hover": { color: "var(--accent)", textDecoration: "underline" },
  ".cm-note-row": { padding: "2px 12px 4px 18px" }, // no margin: it would not be measured
  ".cm-note": { padding: "4px 8px", borderRadius: "var(--r-1)", boxShadow: "inset 0 0 0 1px var(--rule-strong)", backgroundColor: "var(--surface-raised)", color: "var(--text-1)", fontFamily: "var(--font-ui)", whiteSpace: "pre-wrap" },
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

/** A comment below a line of the text, counted from 1. */
export interface Note { side: "old" | "new"; at: number; text: string }

/** A line of one of the texts, counted from 1, and what it says. */
export interface Line { side: "old" | "new"; at: number; text: string }

const setNotes = StateEffect.define<readonly Note[]>();

class NoteBelow extends WidgetType {
  constructor(private readonly text: string) {
    super();
  }
  override eq(other: NoteBelow): boolean {
    return other.text === this.text;
  }
  toDOM(): HTMLElement {
    const row = document.createElement("div");
    row.className = "cm-note-row";
    const note = row.appendChild(document.createElement("div"));
    note.className = "cm-note";
    note.dir = "auto";
    note.textContent = this.text;
    return row;
  }
}

/** The comments of one text, each below its line. */
function notes(which: Note["side"]): Extension {
  return StateField.define({
    create: () => Decoration.none,
    update(value, tr) {
      for (const effect of tr.effects) {
        if (!effect.is(setNotes)) continue;
        const mine = effect.value.filter((n) => n.side === which && n.at >= 1 && n.at <= tr.state.doc.lines);
        return RangeSet.of(mine.map((n) => Decoration.widget({ widget: new NoteBelow(n.text), block: true, side: 1 }).range(tr.state.doc.line(n.at).to)), true);
      }
      return value;
    },
    provide: (f) => EditorView.decorations.from(f),
  });
}

/** Shows on which line a comment would be. */
const here = EditorView.decorations.compute(["selection", "doc"], (state) =>
  RangeSet.of(Decoration.line({ class: "cm-here" }).range(state.doc.lineAt(state.selection.main.head).from)));

function step(by: number): (view: EditorView) => boolean {
  return (view) => {
    const { doc, selection } = view.state;
    const at = Math.min(doc.lines, Math.max(1, doc.lineAt(selection.main.head).number + by));
    view.dispatch({ selection: { anchor: doc.line(at).from }, scrollIntoView: true });
    return true;
  };
}

interface Side { which: Note["side"]; numbers: number[]; gaps: { line: number; hidden: number }[]; path: string; label: string; pick: (line: Line) => void; focus: (view: EditorView) => void }

function side({ which, numbers, gaps: at, path, label, pick, focus }: Side): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    lineNumbers({
      formatNumber: (n) => String(numbers[n - 1] ?? ""),
      domEventHandlers: {
        mousedown(view, block) {
          const line = view.state.doc.lineAt(block.from);
          view.dispatch({ selection: { anchor: line.from } });
          view.focus();
          pick({ side: which, at: line.number, text: line.text });
          return true;
        },
      },
    }),
    EditorView.domEventHandlers({ focus: (_, view) => focus(view) }),
    keymap.of([{ key: "ArrowDown", run: step(1) }, { key: "ArrowUp", run: step(-1) }]),
    notes(which),
    here,
    gaps(at),
    look,
    syntaxHighlighting(colours),
    /\.([cm]?[jt]sx?|json|svelte|go|rs|c|h|cc|cpp|java|cs|swift|kt)$/.test(path) ? javascript({ typescript: true, jsx: /x$/.test(path) }) : [],
  ];
}

export interface Shown {
  next(by: number): void;
  /** The line that a comment would be on. */
  here(): Line;
  /** Shows these comments and no others. */
  note(list: readonly Note[]): void;
  focus(): void;
  destroy(): void;
}

// The default gives up early and then marks a whole file as changed.
const diffConfig = { scanLimit: 20_000, timeout: 200 };

/** Shows the diff of one file in a place; pick is told of a line whose number was clicked. */
export function showDiff(place: HTMLElement, sides: Sides, mode: "split" | "unified", path: string, pick: (line: Line) => void): Shown {
  const keys = keymap.of([{ key: "n", run: goToNextChunk }, { key: "p", run: goToPreviousChunk }]);
  let last: EditorView | undefined;
  const focus = (view: EditorView): void => void (last = view);
  const now = side({ which: "new", numbers: sides.newNumbers, gaps: sides.gaps, path, label: `${path}, now`, pick, focus });
  const lineOf = (view: EditorView, which: Note["side"]): Line => {
    const line = view.state.doc.lineAt(view.state.selection.main.head);
    return { side: which, at: line.number, text: line.text };
  };
  if (mode === "unified") {
    const view = new EditorView({
      parent: place, doc: sides.new,
      extensions: [now, keys, unifiedMergeView({ original: sides.old, mergeControls: false, gutter: false, highlightChanges: true, diffConfig })],
    });
    return {
      next: (by) => void (by > 0 ? goToNextChunk(view) : goToPreviousChunk(view)),
      here: () => lineOf(view, "new"),
      note: (list) => view.dispatch({ effects: setNotes.of(list) }),
      focus: () => view.focus(),
      destroy: () => view.destroy(),
    };
  }
  const before = sides.gaps.map((g) => ({ line: g.oldLine, hidden: g.hidden }));
  const view = new MergeView({
    parent: place, gutter: false, highlightChanges: true, diffConfig,
    a: { doc: sides.old, extensions: [side({ which: "old", numbers: sides.oldNumbers, gaps: before, path, label: `${path}, before`, pick, focus }), keys] },
    b: { doc: sides.new, extensions: [now, keys] },
  });
  return {
    next: (by) => void (by > 0 ? goToNextChunk(view.b) : goToPreviousChunk(view.b)),
    here: () => (last === view.a ? lineOf(view.a, "old") : lineOf(view.b, "new")),
    note: (list) => {
      for (const editor of [view.a, view.b]) editor.dispatch({ effects: setNotes.of(list) });
    },
    focus: () => (last ?? view.b).focus(),
    destroy: () => view.destroy(),
  };
}
