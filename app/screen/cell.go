package screen

// color of text: 0 is the terminal's own, else the kind is in the top byte.
type color uint32

const (
	indexed   color = 1 << 24 // palette entry 0-255 in the low byte
	truecolor color = 2 << 24 // 0xRRGGBB in the low three
)

type attr uint16

const (
	bold attr = 1 << iota
	faint
	italic
	blink
	inverse
	invisible
	strike
	overline
	guarded // DECSCA: selective erase spares it
	wide    // takes two cells; the next one is its spacer
	spacer  // second cell of a wide one

	underShift = iota // the underline's style: 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
	underMask  = attr(7) << underShift
	shape      = wide | spacer // not of the pen
)

// style of a cell. 12 bytes, compared with ==.
type style struct {
	fg, bg color
	attr   attr
	extra  uint16 // underline colour and hyperlink, see extras
}

// cell is one position of the grid. 16 bytes, zero when nothing was ever written there.
type cell struct {
	ch uint32 // a rune, 0 for none, or clusterBit and a number in clusters
	style
}

const clusterBit = 1 << 31

func (c *cell) empty() bool { return c.ch == 0 && c.attr&spacer == 0 }

// ink makes an empty cell a blank.
func (c *cell) ink() {
	if c.empty() {
		c.ch = ' '
	}
}

// look is the style without what belongs to the grid.
func (c *cell) look() style {
	st := c.style
	st.attr &^= shape
	return st
}

// blank is an erased cell: it has the background of the pen and nothing else (xterm's "bce").
func (s *Screen) blank() cell { return cell{style: style{bg: s.pen.bg}} }
