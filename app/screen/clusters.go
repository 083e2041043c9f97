package screen

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// clusters holds the texts of cells that hold more than one rune: a letter with its accents, an emoji sequence, a flag.
type clusters struct {
	texts []string
	index map[string]uint32
	sweep int // number of texts at which unused ones are looked for
}

const (
	maxCluster  = 64      // bytes; the longest emoji sequence of Unicode 16 takes 35. What is beyond is dropped
	maxClusters = 1 << 16 // distinct ones on the two grids; beyond, marks are dropped
	minSweep    = 1 << 12
)

func (c *clusters) text(ch uint32) string { return c.texts[ch&^clusterBit] }

// cluster returns the number of a text, with clusterBit; false when there is no room.
func (s *Screen) cluster(text []byte) (uint32, bool) {
	c := &s.clusters
	if n, ok := c.index[string(text)]; ok {
		return n, true
	}
	if len(c.texts) >= max(c.sweep, minSweep) {
		s.sweepClusters()
		if len(c.texts) >= maxClusters {
			return 0, false
		}
	}
	if c.index == nil {
		c.index = make(map[string]uint32)
	}
	n := uint32(len(c.texts)) | clusterBit
	t := string(text)
	c.texts = append(c.texts, t)
	c.index[t] = n
	return n, true
}

// sweepClusters drops the texts that no cell shows, and renumbers the rest.
func (s *Screen) sweepClusters() {
	old := s.clusters
	s.clusters = clusters{index: make(map[string]uint32)}
	c := &s.clusters
	for _, b := range []*buffer{&s.main, &s.alt} {
		for y := range b.rows {
			for x := range b.rows[y].cells {
				cell := &b.rows[y].cells[x]
				if cell.ch&clusterBit == 0 {
					continue
				}
				t := old.text(cell.ch)
				n, ok := c.index[t]
				if !ok {
					n = uint32(len(c.texts)) | clusterBit
					c.texts = append(c.texts, t)
					c.index[t] = n
				}
				cell.ch = n
			}
		}
	}
	c.sweep = min(2*len(c.texts), maxClusters)
}

// runeWidth is the number of cells that a rune takes when it begins a cluster; 0 for one that only changes others.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1 // Latin-1 and the like; control characters do not come here, SOFT HYPHEN shows in xterm.js as well
	}
	return min(displaywidth.Rune(r), 2)
}

// clusterWidth is the number of cells of a cluster: that of the widest of its beginnings, so that it can only grow while
// it is received, rune by rune, and is the same when it is received again.
func clusterWidth(text []byte) int { return clamp(displaywidth.Bytes(text), 1, 2) }

// joins tells whether r belongs to the cluster that is in the cell before it.
func joins(before []byte, r rune) bool {
	if r < 0x300 {
		return false // ASCII and Latin-1 begin a cell, also after the few characters that UAX 29 lets precede them
	}
	if mark(r) {
		return true
	}
	if first, n := utf8.DecodeRune(before); n == len(before) && plain(first) && plain(r) {
		return false
	}
	var buf [maxCluster + 2*utf8.UTFMax]byte
	text := utf8.AppendRune(append(buf[:0], before...), r)
	it := graphemes.FromBytes(text)
	it.Next()
	return len(it.Value()) == len(text) || runeWidth(r) == 0
}

// mark tells of the marks that join whatever is before them and never widen it. It need not know them all.
func mark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1ace || r >= 0x20d0 && r <= 0x20f0 && r != 0x20e3
}

// plain tells of the characters that most text is made of that they neither join what is before them nor let follow what
// would begin a cell of its own. TestPlain compares it with the library.
func plain(r rune) bool {
	switch {
	case r < 0x300:
		return r != 0xad
	case r < 0x370:
		return false
	case r < 0x483, r >= 0x48a && r < 0x530: // Greek, Cyrillic
		return true
	case r >= 0x2010 && r <= 0x2027, r >= 0x2030 && r <= 0x205e, r >= 0x2190 && r <= 0x2bff: // punctuation, arrows, boxes
		return true
	case r >= 0x3001 && r <= 0x3029, r >= 0x3031 && r <= 0x303c, r >= 0x3041 && r <= 0x3096, r >= 0x309b && r <= 0x30ff: // kana
		return true
	case r >= 0x3400 && r <= 0x9fff, r >= 0xff01 && r <= 0xff60: // ideographs, full width forms
		return true
	}
	return false
}
