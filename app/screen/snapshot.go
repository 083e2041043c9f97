package screen

import (
	"fmt"
	"unicode/utf8"
)

// Snapshot returns what, written to a fresh terminal of the same size, makes it show this screen: scrollback, text with its
// attributes and links, cursor, modes, tab stops and title. A fresh Screen that is fed with it has the same Text, Cursor,
// Modes and Title, and goes on alike with whatever follows: a sequence or character that has only begun is at its end. It
// asks no questions and rings no bell.
func (s *Screen) Snapshot() []byte {
	w := &painter{screen: s, cols: s.cols}
	w.history()
	w.grid(&s.main)
	w.state(&s.main)
	if s.modes.AltScreen {
		w.style(style{})
		w.raw("\x1b[?1047h")
		w.absolute(&s.alt)
		w.state(&s.alt)
	}
	w.rest()
	w.out = s.parser.pending(w.out)
	return w.out
}

// painter writes a snapshot.
type painter struct {
	screen *Screen
	out    []byte
	cols   int
	pen    style
	col    int    // where the terminal's cursor is; cols when the row is full
	before []byte // text of the glyph before, when it may join the next
	buf    [maxCluster]byte

	gap     bool  // the row that begins was begun by a wide character
	flowing bool  // rows may be longer or shorter than the terminal's
	holds   bool  // while flowing: an empty cell is not written yet, since it may be the gap before a wide character
	held    style // of that cell
}

func (w *painter) raw(text string) { w.out = append(w.out, text...) }

func (w *painter) rawf(format string, args ...any) { w.out = fmt.Appendf(w.out, format, args...) }

// history writes the rows of the scrollback, each but the continued ones on a row of its own. They may have been laid out in
// another width.
func (w *painter) history() {
	s := w.screen
	h := &s.history
	w.flowing = true
	for i := range h.count {
		if i > 0 {
			w.breakRow(h.continues(i), h.at(i-1).flags)
		}
		w.holds = false
		unpack(h.bytes(i), w.glyph)
		goesOn := i+1 < h.count && h.continues(i+1) || i+1 == h.count && s.main.rows[0].cont
		if w.holds && !(goesOn && h.at(i).flags&rowGap != 0) {
			w.empty(w.held)
		}
	}
	w.flowing, w.holds = false, false
}

// grid writes the rows of the main screen below the history.
func (w *painter) grid(b *buffer) {
	s := w.screen
	for y := range b.rows {
		cont := b.rows[y].cont
		if y > 0 || s.history.count > 0 {
			w.breakRow(cont, s.endingOf(b, y))
		}
		s.glyphs(b.rows[y].cells, w.glyph)
		if cont && w.col < w.cols {
			// The row came into being by a wrap, with the background that was set then.
			w.style(style{})
			w.raw("\x1b[K")
		}
	}
}

// absolute writes the rows of the alternate screen, each at its place.
func (w *painter) absolute(b *buffer) {
	for y := range b.rows {
		cont := b.rows[y].cont
		if cont {
			w.breakRow(cont, w.screen.endingOf(b, y))
		} else {
			w.rawf("\x1b[%dH", y+1)
			w.col, w.before = 0, nil
		}
		w.screen.glyphs(b.rows[y].cells, w.glyph)
		if cont && w.col < w.cols {
			w.style(style{})
			w.raw("\x1b[K")
		}
	}
}

// breakRow goes to the next row; the terminal does so itself when the text goes on. above is how the row before ends.
func (w *painter) breakRow(cont bool, above byte) {
	w.gap = false
	if cont {
		w.gap = above&rowGap != 0
		if w.col >= w.cols {
			w.col = 0
		}
		return
	}
	w.style(style{}) // a new row gets the background that is set
	w.raw("\r\n")
	w.col, w.before = 0, nil
}

// over makes the terminal leave the last cell of a row empty and go on in the next, where a wide character has been
// overwritten by a narrow one since.
func (w *painter) over() {
	w.style(style{})
	w.raw("漢\r")
	w.col, w.before = 0, nil
}

// glyph writes one cell.
func (w *painter) glyph(g glyph) {
	if w.holds {
		w.empty(w.held)
		w.holds = false
	}
	if len(g.text) == 0 {
		if w.flowing {
			w.holds, w.held = true, g.style
		} else {
			w.empty(g.style)
		}
		return
	}
	size := 1
	if g.wide {
		size = 2
	} else if w.gap && w.col == w.cols-1 {
		w.over()
	}
	w.gap = false
	if w.col+size > w.cols { // wraps by itself
		w.col = 0
	}
	w.style(g.style)
	if len(w.before) > 0 && w.wouldJoin(g.text) {
		w.sgr(g.style) // any sequence keeps the two apart
	}
	w.out = append(w.out, g.text...)
	w.col += size
	w.before = append(w.buf[:0], g.text...)
}

// empty passes over a cell and gives it its background. At the end of a row the cursor cannot pass, and text that goes on
// would not wrap: there a flowing text gets a blank.
func (w *painter) empty(st style) {
	w.style(st)
	w.before = nil
	switch {
	case w.flowing && w.col >= w.cols-1:
		if w.col >= w.cols {
			w.col = 0
		}
		w.raw(" ")
	case w.col < w.cols-1:
		w.raw("\x1b[X\x1b[C")
	default:
		w.raw("\x1b[X")
	}
	w.col++
}

func (w *painter) wouldJoin(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return joins(w.before, r)
}

// style sets the pen.
func (w *painter) style(st style) {
	if st == w.pen {
		return
	}
	w.sgr(st)
}

func (w *painter) sgr(st style) {
	x := &w.screen.extras
	if from, to := x.of(w.pen.extra).link, x.of(st.extra).link; from != to {
		w.link(to)
	}
	w.raw(w.screen.sgrOf(st))
	if st.attr&guarded != w.pen.attr&guarded {
		w.rawf("\x1b[%d\"q", b2i(st.attr&guarded != 0))
	}
	w.pen = st
}

func (w *painter) link(link string) {
	if link == "" {
		link = ";"
	}
	w.raw("\x1b]8;" + link + "\x1b\\")
}

// state writes what belongs to one grid: its saved cursor and its scroll region.
func (w *painter) state(b *buffer) {
	s := w.screen
	if v := &b.saved; *v != (savedCursor{}) {
		w.rawf("\x1b[%d;%dH", v.y+1, v.x+1)
		w.charsets(v.sets)
		w.penOf(v.pen, v.link, v.under)
		w.raw("\x1b7")
		w.charsets(charsets{})
		w.style(style{})
	}
	if b.top != 0 || b.bottom != s.rows-1 {
		w.rawf("\x1b[%d;%dr", b.top+1, b.bottom+1)
	}
}

// penOf sets the pen with its link, which it has also when there was no room to keep it.
func (w *painter) penOf(pen style, link string, under color) {
	w.style(pen)
	if w.screen.extras.of(pen.extra).link != link {
		w.link(link)
	}
}

func (w *painter) charsets(c charsets) {
	for i, set := range c.g {
		if set == 0 {
			set = 'B'
		}
		if set != 'B' || i < 2 {
			w.rawf("\x1b%c%c", "()*+"[i], set)
		}
	}
	w.raw([]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[c.level])
}

// rest writes what belongs to no grid, and last the cursor.
func (w *painter) rest() {
	s := w.screen
	w.tabs()
	for _, t := range s.titles {
		w.raw("\x1b]2;" + t + "\x1b\\\x1b[22;2t")
	}
	if s.title != "" || len(s.titles) > 0 {
		w.raw("\x1b]2;" + s.title + "\x1b\\")
	}
	if s.shape != 0 {
		w.rawf("\x1b[%d q", s.shape)
	}
	w.modes(s.modes)
	y := s.y + 1
	if s.modes.Origin {
		w.raw("\x1b[?6h")
		y -= s.buf.top
	}
	switch {
	case s.reprints(): // a mark that follows must find its letter: print it again, last
		w.ink()
		lead := s.lead()
		w.rawf("\x1b[%d;%dH", y, lead+1)
		if s.modes.Insert { // what it will move away must be moved up before
			w.rawf("\x1b[4h\x1b[%dP", s.x-lead)
		}
		w.last()
		return
	case s.x >= s.cols: // a full row can only be had by printing into its last cell
		w.style(s.buf.rows[s.y].cells[s.lead()].look())
		w.rawf("\x1b[%d;%dH", y, s.lead()+1)
		w.last()
		w.ink()
	default:
		w.rawf("\x1b[%d;%dH", y, s.x+1)
		w.ink()
	}
	if s.modes.Insert {
		w.raw("\x1b[4h")
	}
}

// ink sets what the next character is printed with.
func (w *painter) ink() {
	s := w.screen
	w.charsets(s.sets)
	w.penOf(s.pen, s.link, s.under)
}

// lead is the column of the character before the cursor.
func (s *Screen) lead() int {
	x := max(s.x-1, 0)
	if x > 0 && s.buf.rows[s.y].cells[x].attr&spacer != 0 {
		x--
	}
	return x
}

// reprints tells whether the character before the cursor can take a mark, and can be printed again without undoing a wrap: in
// insert mode the first one of a wrapped row cannot, and loses the mark if one follows.
func (s *Screen) reprints() bool {
	return s.joinable && !(s.modes.Insert && s.lead() == 0 && s.buf.rows[s.y].cont)
}

// last prints the character before the cursor again.
func (w *painter) last() {
	s := w.screen
	before := len(w.out)
	w.out = s.appendCell(w.out, &s.buf.rows[s.y].cells[s.lead()])
	if len(w.out) == before {
		w.raw(" ")
	}
}

// tabs writes the tab stops where they are not the usual ones.
func (w *painter) tabs() {
	s := w.screen
	usual := defaultTabs(nil, s.cols)
	same := true
	for x := range usual {
		same = same && usual[x] == s.tabs[x]
	}
	if same {
		return
	}
	w.raw("\x1b[3g")
	for x, stop := range s.tabs {
		if stop {
			w.rawf("\x1b[%dG\x1bH", x+1)
		}
	}
}

func (w *painter) modes(m Modes) {
	fresh := Modes{CursorVisible: true, Autowrap: true}
	for _, mode := range [...]int{1, 7, 12, 25, 66, 1004, 2004, 2026} {
		if on := *m.private(mode); on != *fresh.private(mode) {
			w.rawf("\x1b[?%d%c", mode, "lh"[b2i(on)])
		}
	}
	if m.Mouse != MouseOff {
		w.rawf("\x1b[?%dh", [...]int{0, 9, 1000, 1002, 1003}[m.Mouse])
	}
	if m.MouseEncoding != MouseBytes {
		w.rawf("\x1b[?%dh", [...]int{0, 1005, 1006, 1015, 1016}[m.MouseEncoding])
	}
	if m.NewLine {
		w.raw("\x1b[20h")
	}
}
