package screen

import (
	"encoding/binary"
	"unicode/utf8"
)

// scrollback holds the rows that have left the main screen, packed: a grid cell is 16 bytes, a packed one of plain text is
// one. Rows lie one after the other in chunks; the oldest chunk goes when its last row does.
//
// A packed row is a sequence of segments of one style. Each begins with a byte that says which parts of the style follow and
// whether its cells are single ASCII bytes, then the number of cells, those parts, and the cells.
type scrollback struct {
	limit  int // rows
	budget int // bytes; the oldest rows go when it is exceeded, whatever the limit
	size   int // bytes of all rows held

	gone uint64 // lines that were held before the first

	refs  []ref // ring: the oldest is at head
	head  int
	count int

	chunks []chunk // the oldest first
	first  int     // number of chunks[0]
	spare  []byte  // an emptied chunk, for reuse
	packed []byte  // a row while it is packed
}

type chunk struct {
	data []byte
	live int // rows in it
}

// ref says where a row is.
type ref struct {
	chunk, off, n uint32
	flags         byte
}

const (
	rowCont byte = 1 << iota // continues the row before it
	rowFull                  // its last cell holds text: the next row may continue it
	rowGap                   // only its last cell is empty: a wide character did not fit
)

const (
	chunkSize = 32 << 10 // bytes, a size class of the allocator; a row of 120 columns of text takes about 125
	maxRefs   = 1 << 20  // rows; bounds what Options.Scrollback can ask for
	cellCost  = 14       // bytes of budget a cell: 17 MB for 10,000 rows of 120. Only marks upon marks take more than 8
)

func historyBudget(limit, cols int) int { return min(limit, maxRefs) * max(cols, 80) * cellCost }

func (h *scrollback) clear() {
	*h = scrollback{limit: min(h.limit, maxRefs), budget: h.budget, gone: h.gone + h.lines()}
}

func (h *scrollback) at(i int) *ref { return &h.refs[(h.head+i)%len(h.refs)] }

func (h *scrollback) bytes(i int) []byte {
	r := h.at(i)
	return h.chunks[int(r.chunk)-h.first].data[r.off : r.off+r.n]
}

// continues tells whether row i is the same line as the one before it.
func (h *scrollback) continues(i int) bool { return i > 0 && h.at(i).flags&rowCont != 0 }

// ending returns how the last row ends, for the one that follows it.
func (h *scrollback) ending() byte {
	if h.count == 0 {
		return 0
	}
	return h.at(h.count-1).flags & (rowFull | rowGap)
}

// remember packs a row into the history.
func (s *Screen) remember(r *row) {
	h := &s.history
	if h.limit <= 0 {
		if !r.cont {
			h.gone++
		}
		return
	}
	if s.extras.wait > 0 {
		s.extras.wait--
	}
	flags := ending(r.cells)
	if r.cont && h.count > 0 {
		flags |= rowCont
	}
	h.packed = s.pack(h.packed[:0], r.cells)
	h.push(flags, h.packed)
}

// ending tells how a row ends, for the row that may continue it.
func ending(cells []cell) byte {
	last := len(cells) - 1
	switch {
	case !cells[last].empty():
		return rowFull
	case last > 0 && !cells[last-1].empty():
		return rowGap
	}
	return 0
}

// follows tells whether a row can continue the one that ends so: it begins with text, and the row before ends with text, or
// with the one empty cell that a wide character did not fit into (it may have been overwritten by a narrow one).
func follows(ending byte, next []cell) bool {
	return ending&(rowFull|rowGap) != 0 && next[0].ch != 0
}

// push appends a packed row.
func (h *scrollback) push(flags byte, data []byte) {
	last := len(h.chunks) - 1
	if last < 0 || len(h.chunks[last].data)+len(data) > cap(h.chunks[last].data) {
		h.chunks = append(h.chunks, chunk{data: h.newChunk(len(data))})
		last++
	}
	c := &h.chunks[last]
	off := len(c.data)
	c.data = append(c.data, data...)
	c.live++
	h.size += len(data)
	if h.count == len(h.refs) {
		h.growRefs()
	}
	h.count++
	*h.at(h.count - 1) = ref{chunk: uint32(h.first + last), off: uint32(off), n: uint32(len(data)), flags: flags}
	for h.count > h.limit || h.size > h.budget && h.count > 1 {
		h.dropOldest()
	}
}

func (h *scrollback) newChunk(row int) []byte {
	data := h.spare
	h.spare = nil
	if cap(data) < row {
		data = make([]byte, 0, max(chunkSize, row))
	}
	return data[:0]
}

func (h *scrollback) growRefs() {
	refs := make([]ref, min(max(256, 2*len(h.refs)), h.limit+1))
	for i := range h.count {
		refs[i] = *h.at(i)
	}
	h.refs, h.head = refs, 0
}

func (h *scrollback) dropOldest() {
	h.size -= int(h.at(0).n)
	h.head = (h.head + 1) % len(h.refs)
	h.count--
	if h.count == 0 || h.at(0).flags&rowCont == 0 {
		h.gone++
	}
	h.chunks[0].live--
	for len(h.chunks) > 1 && h.chunks[0].live == 0 {
		if cap(h.chunks[0].data) == chunkSize {
			h.spare = h.chunks[0].data
		}
		h.chunks[0].data = nil
		h.chunks = h.chunks[1:]
		h.first++
	}
}

// dropNewest takes back the last row.
func (h *scrollback) dropNewest() {
	r := h.at(h.count - 1)
	h.size -= int(r.n)
	h.count--
	c := &h.chunks[int(r.chunk)-h.first]
	c.data = c.data[:r.off]
	c.live--
	if last := len(h.chunks) - 1; last > 0 && h.chunks[last].live == 0 {
		h.chunks = h.chunks[:last]
	}
}

const (
	segText byte = 1 << iota // cells are strings, not bytes
	segSame                  // the style of the segment before
	segFg                    // parts of the style that follow; the others are zero
	segBg
	segAttr
	segExtra
)

const packedWide = 0x80 // in a cell's length byte

// pack appends a row without its empty end.
func (s *Screen) pack(dst []byte, cells []cell) []byte {
	end := len(cells)
	for end > 0 && cells[end-1] == (cell{}) {
		end--
	}
	var last style
	for i := 0; i < end; {
		st, text := cells[i].look(), cells[i].ch >= 0x80
		j := i + 1
		for j < end && (cells[j].attr&spacer != 0 || cells[j].look() == st && cells[j].ch >= 0x80 == text) {
			j++
		}
		dst = s.packSegment(dst, cells[i:j], st, &last, text)
		i = j
	}
	return dst
}

func (s *Screen) packSegment(dst []byte, cells []cell, st style, last *style, text bool) []byte {
	at := len(dst)
	dst = append(dst, 0)
	dst = binary.AppendUvarint(dst, uint64(len(cells)))
	var head byte
	if text {
		head = segText
	}
	if st == *last {
		head |= segSame
	} else {
		dst, head = st.pack(dst, head)
	}
	dst[at] = head
	*last = st
	if !text {
		for i := range cells {
			dst = append(dst, byte(cells[i].ch))
		}
		return dst
	}
	for i := range cells {
		c := &cells[i]
		if c.attr&spacer != 0 {
			continue
		}
		at := len(dst)
		dst = append(dst, 0)
		dst = s.appendCell(dst, c)
		n := byte(len(dst) - at - 1)
		if c.attr&wide != 0 {
			n |= packedWide
		}
		dst[at] = n
	}
	return dst
}

// pack appends the parts of a style that are not zero, and tells in head which.
func (st *style) pack(dst []byte, head byte) ([]byte, byte) {
	if st.fg != 0 {
		head |= segFg
		dst = binary.LittleEndian.AppendUint32(dst, uint32(st.fg))
	}
	if st.bg != 0 {
		head |= segBg
		dst = binary.LittleEndian.AppendUint32(dst, uint32(st.bg))
	}
	if st.attr != 0 {
		head |= segAttr
		dst = binary.LittleEndian.AppendUint16(dst, uint16(st.attr))
	}
	if st.extra != 0 {
		head |= segExtra
		dst = binary.LittleEndian.AppendUint16(dst, st.extra)
	}
	return dst, head
}

// unpackStyle is the reverse of pack.
func unpackStyle(data []byte, head byte) (st style, rest []byte) {
	if head&segFg != 0 {
		st.fg, data = color(binary.LittleEndian.Uint32(data)), data[4:]
	}
	if head&segBg != 0 {
		st.bg, data = color(binary.LittleEndian.Uint32(data)), data[4:]
	}
	if head&segAttr != 0 {
		st.attr, data = attr(binary.LittleEndian.Uint16(data)), data[2:]
	}
	if head&segExtra != 0 {
		st.extra, data = binary.LittleEndian.Uint16(data), data[2:]
	}
	return st, data
}

// glyph is one cell (or the two of a wide character) as packed rows and grid rows are read.
type glyph struct {
	text  []byte // none for a cell in which nothing was written; valid until the next glyph
	wide  bool
	style style
}

// unpack calls visit for every glyph of a packed row.
func unpack(data []byte, visit func(glyph)) {
	var st style
	for len(data) > 0 {
		head := data[0]
		count, n := binary.Uvarint(data[1:])
		data = data[1+n:]
		if head&segSame == 0 {
			st, data = unpackStyle(data, head)
		}
		if head&segText == 0 {
			for i := range int(count) {
				g := glyph{style: st}
				if data[i] != 0 {
					g.text = data[i : i+1]
				}
				visit(g)
			}
			data = data[count:]
			continue
		}
		for count > 0 {
			size := int(data[0] &^ packedWide)
			g := glyph{style: st, wide: data[0]&packedWide != 0, text: data[1 : 1+size]}
			visit(g)
			data = data[1+size:]
			count--
			if g.wide {
				count--
			}
		}
	}
}

// glyphs calls visit for every glyph of a grid row up to its last cell that differs from an empty one.
func (s *Screen) glyphs(cells []cell, visit func(glyph)) {
	end := len(cells)
	for end > 0 && cells[end-1] == (cell{}) {
		end--
	}
	for i := range end {
		c := &cells[i]
		if c.attr&spacer != 0 {
			continue
		}
		s.scratch = s.appendCell(s.scratch[:0], c)
		visit(glyph{text: s.scratch, wide: c.attr&wide != 0, style: c.look()})
	}
}

// appendCell appends the text of a cell; nothing for an empty one.
func (s *Screen) appendCell(dst []byte, c *cell) []byte {
	switch {
	case c.ch == 0:
		return dst
	case c.ch&clusterBit != 0:
		return append(dst, s.clusters.text(c.ch)...)
	}
	return utf8.AppendRune(dst, rune(c.ch))
}
