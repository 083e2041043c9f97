package screen

// extra is what few cells have, kept once for all that share it.
type extra struct {
	under color
	link  string // "parameters;URI" as OSC 8 sends it
}

// extras numbers them; 0 is none.
type extras struct {
	list  []extra // list[0] is none
	index map[extra]uint16
	free  []uint16
	bytes int // of all links
	wait  int // rows that must go into the history before unused ones are looked for again
}

const (
	maxExtras     = 1 << 12 // distinct pairs that are held
	maxLink       = 2083    // bytes of parameters and URI; VTE's limit for the URI
	maxLinkBytes  = 1 << 20
	rowsPerSearch = 1000 // a search reads the whole history: about 10 ms for 10,000 rows
)

// extraOf returns the number of a pair; 0 when there is no room, so that text keeps no link rather than a wrong one.
func (s *Screen) extraOf(e extra) uint16 {
	if e == (extra{}) {
		return 0
	}
	x := &s.extras
	if n, ok := x.index[e]; ok {
		return n
	}
	if len(x.index) >= maxExtras || x.bytes+len(e.link) > maxLinkBytes {
		if x.wait > 0 {
			return 0
		}
		s.sweepExtras()
		x.wait = rowsPerSearch
		if len(x.index) >= maxExtras || x.bytes+len(e.link) > maxLinkBytes {
			return 0
		}
	}
	if x.index == nil {
		x.index = make(map[extra]uint16)
		x.list = make([]extra, 1)
	}
	var n uint16
	if last := len(x.free) - 1; last >= 0 {
		n, x.free = x.free[last], x.free[:last]
		x.list[n] = e
	} else {
		n = uint16(len(x.list))
		x.list = append(x.list, e)
	}
	x.index[e] = n
	x.bytes += len(e.link)
	return n
}

func (x *extras) of(n uint16) extra {
	if n == 0 {
		return extra{}
	}
	return x.list[n]
}

// sweepExtras frees the numbers that nothing shows any more.
func (s *Screen) sweepExtras() {
	x := &s.extras
	used := make([]bool, len(x.list))
	for _, b := range []*buffer{&s.main, &s.alt} {
		used[b.saved.pen.extra] = true
		for y := range b.rows {
			for i := range b.rows[y].cells {
				used[b.rows[y].cells[i].extra] = true
			}
		}
	}
	used[s.pen.extra] = true
	for i := range s.history.count {
		unpack(s.history.bytes(i), func(g glyph) { used[g.style.extra] = true })
	}
	for n := 1; n < len(x.list); n++ {
		e := x.list[n]
		if used[n] || e == (extra{}) {
			continue
		}
		delete(x.index, e)
		x.bytes -= len(e.link)
		x.list[n] = extra{}
		x.free = append(x.free, uint16(n))
	}
}

// decorate renews the pen's extra after its link or underline colour changed.
func (s *Screen) decorate() {
	s.pen.extra = s.extraOf(extra{under: s.under, link: s.link})
}
