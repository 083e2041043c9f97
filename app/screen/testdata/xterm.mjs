// xterm.mjs: what @xterm/headless makes of sequences, for the differential tests. One JSON case a line comes in on standard
// input, one JSON result a line goes out, in the same order. The packages are those of frontend/package.json.
//
// A case is {cols, rows, ops}; an op is a string (base64 of the bytes written), [cols, rows] (a resize) or true (look now).
// A result is {looks}: one look for each `true` and one for the end, or {error} when the terminal threw.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(new URL('../../../frontend/package.json', import.meta.url));
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11');

// widths: the default ones are of 2010, when no character beyond the first plane was wide. (addon-unicode-graphemes 0.4.0 gives
// all of those one cell.)
let provider; // one for all terminals: it takes longer to make than most cases to parse
new Unicode11Addon().activate({ unicode: { register: (p) => (provider = p) } });
function widths(term) {
  term.unicode.register(provider);
  term.unicode.activeVersion = provider.version;
}

// write parses at once; the public write does so in a timer, which takes a millisecond more than the parsing.
const write = (term, data) => term._core.writeSync(data);

function color(mode, value) {
  if (mode === 0) return '';
  return mode === 0x3000000 ? '#' + value.toString(16).padStart(6, '0') : String(value);
}

// underline: "u1" to "u5", or nothing. Of a link the public method says dashed, which is how links are shown, not what was written.
function underline(c) {
  const shown = c.getUnderlineStyle();
  return shown && 'u' + (c.extended.urlId ? (c.extended._ext >> 26) & 7 || 1 : shown) || '';
}

// style: flags, underline, colours; empty for what is written without any. Of an empty cell the background alone.
function style(c) {
  if (!c.getChars()) return c.getBgColorMode() ? `;;${color(c.getBgColorMode(), c.getBgColor())}` : '';
  const flags =
    (c.isBold() ? 'b' : '') + (c.isDim() ? 'd' : '') + (c.isItalic() ? 'i' : '') + (c.isBlink() ? 'k' : '') +
    (c.isInverse() ? 'v' : '') + (c.isInvisible() ? 'h' : '') + (c.isStrikethrough() ? 's' : '') + (c.isOverline() ? 'o' : '') +
    underline(c);
  const fg = color(c.getFgColorMode(), c.getFgColor());
  const bg = color(c.getBgColorMode(), c.getBgColor());
  return flags || fg || bg ? `${flags};${fg};${bg}` : '';
}

// cells: the cells of a row up to the last that is not fresh, as [text, style] with the second cell of a wide one left out.
function cells(line, cols, cell) {
  const out = [];
  let end = 0;
  for (let x = 0; x < cols && x < line.length; x++) {
    const c = line.getCell(x, cell);
    if (c.getWidth() === 0) continue;
    const text = c.getChars() === ' ' ? '' : c.getChars();
    const st = style(c);
    out.push(text, st);
    if (text || st) end = out.length;
  }
  out.length = end;
  return out;
}

const mouse = { none: 0, x10: 1, vt200: 2, drag: 3, any: 4 };

function look(term, state) {
  const b = term.buffer.active;
  const cell = b.getNullCell();
  const lines = [];
  for (let i = 0; i < b.length; i++) {
    const line = b.getLine(i);
    lines.push({ cells: cells(line, term.cols, cell), cont: line.isWrapped });
  }
  const m = term.modes;
  return {
    history: lines.slice(0, b.baseY),
    rows: lines.slice(b.baseY),
    x: b.cursorX,
    y: b.cursorY,
    alt: b.type === 'alternate',
    title: state.title,
    answers: Buffer.from(state.answers).toString('base64'),
    modes: [
      m.applicationCursorKeysMode, m.applicationKeypadMode, m.bracketedPasteMode, m.insertMode, m.originMode,
      m.sendFocusMode, m.wraparoundMode, m.synchronizedOutputMode ?? false,
    ],
    mouse: mouse[m.mouseTrackingMode],
  };
}

let term; // used again for the next case: to make one takes ten times as long as what most cases do
let state;

function fresh(cols, rows, scrollback) {
  if (!term) {
    term = new Terminal({ cols, rows, allowProposedApi: true, logLevel: 'off' });
    widths(term);
    term.onTitleChange((t) => (state.title = t));
    term.onData((d) => (state.answers += d));
  }
  term.reset();
  term.options.convertEol = false; // which reset leaves
  term.options.scrollback = scrollback;
  term.resize(cols, rows);
  term.reset(); // tab stops are those of the new width
  state = { title: '', answers: '' };
}

function run({ cols, rows, ops, scrollback }) {
  fresh(cols, rows, scrollback ?? 1000);
  const looks = [];
  try {
    for (const op of ops) {
      if (typeof op === 'string') write(term, Buffer.from(op, 'base64'));
      else if (op === true) looks.push(look(term, state));
      else term.resize(op[0], op[1]);
    }
    looks.push(look(term, state));
    return { looks };
  } catch (e) {
    term.dispose();
    term = undefined;
    return { error: String(e) };
  }
}

// speed: MB/s of the text in argv[3], repeated for a while after a warm-up.
if (process.argv[2] === 'speed') {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(process.argv[3]);
  const term = new Terminal({ cols: 120, rows: 40, scrollback: 10000, allowProposedApi: true, logLevel: 'off' });
  widths(term);
  const pass = () => {
    for (let i = 0; i < text.length; i += 65536) write(term, text.subarray(i, i + 65536));
  };
  pass();
  const begin = process.hrtime.bigint();
  const passes = Math.max(1, Number(process.argv[4] ?? 10));
  for (let i = 0; i < passes; i++) pass();
  console.log((passes * text.length) / (Number(process.hrtime.bigint() - begin) / 1000));
  process.exit(0);
}

// kept: the bytes of the heap and of arrays that one terminal of 10,000 lines keeps which was given the text in argv[3]; needs --expose-gc.
if (process.argv[2] === 'kept') {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(process.argv[3]);
  const used = () => { gc(); gc(); const m = process.memoryUsage(); return m.heapUsed + m.external; };
  const before = used();
  const term = new Terminal({ cols: 120, rows: 40, scrollback: 10000, allowProposedApi: true, logLevel: 'off' });
  for (let i = 0; i < text.length; i += 65536) write(term, text.subarray(i, i + 65536));
  const after = used();
  if (term.buffer.active.length > 0) console.log(after - before);
  process.exit(0);
}

// memory: the resident memory in bytes with argv[3] terminals of argv[4] full lines each.
if (process.argv[2] === 'memory') {
  const [terminals, lines] = process.argv.slice(3).map(Number);
  const kept = [];
  for (let t = 0; t < terminals; t++) {
    const term = new Terminal({ cols: 120, rows: 36, scrollback: lines, allowProposedApi: true, logLevel: 'off' });
    for (let i = 0; i < lines + 60; i += 100) {
      let text = '';
      for (let k = i; k < i + 100; k++) text += String(k).padStart(119, '0') + '\r\n';
      write(term, text);
    }
    kept.push(term);
  }
  if (kept.length) console.log(process.memoryUsage.rss());
  process.exit(0);
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(run(JSON.parse(line))) + '\n');
}
