package screen

// Bounds of a screen's size. Two columns are needed to place a wide character; the upper ones keep a hostile resize from
// taking memory (both grids at the largest size: 16 MB) and are beyond any monitor.
const (
	minCols, minRows = 2, 1
	maxCols, maxRows = 1000, 500
)

const defaultScrollback = 10_000 // rows; xterm.js has 1,000, which one test run of a large project exceeds

// Options of a new screen. Sizes out of bounds are brought within them.
type Options struct {
	Cols, Rows int // 80x24 when zero
	Scrollback int // rows kept above the screen; 10,000 when zero, none when negative

	// Version is told to programs that ask who we are (XTVERSION): "termic(Version)".
	Version string

	// Foreground and Background answer a program that asks for the colours (OSC 10 and 11), as 0xRRGGBB. Without them it
	// gets no answer.
	Foreground, Background *uint32

	// Reply takes the answers to a program's questions, in the order of the questions. It is called from Write and must not
	// block; the slice is its own. Without it nothing is answered.
	Reply func([]byte)

	Events Events
}

// Events are called from Write while it goes on; none may call the screen back. A nil one is not called.
//
// Everything they carry was chosen by the program in the terminal. Text is valid UTF-8 without control characters, and
// bounded.
type Events struct {
	Title    func(title string)       // OSC 0 and 2, also when it is the same again
	Progress func(state, value int)   // OSC 9;4: state 0 none, 1 normal, 2 error, 3 unknown, 4 paused; value 0-100
	Bell     func()                   // BEL
	Prompt   func(Mark)               // OSC 133: where a shell's prompt, input and output begin
	Cwd      func(url string)         // OSC 7, as sent: file://host/path
	Status   func(payload string)     // OSC 7501, all that follows the number. Its query is answered only when this is set
	Notify   func(title, body string) // OSC 9 and 777;notify; OSC 9 has no title
	// Clipboard is OSC 52, all that follows the number: targets, ";", base64 or "?".
	Clipboard func(payload string)
}

// Mark is one shell integration mark.
type Mark struct {
	Kind   byte // 'A' prompt begins, 'B' input begins, 'C' output begins, 'D' command ended
	Exit   int  // of 'D'
	Exited bool // of 'D': the shell told Exit
}

// Screen is one terminal. Use New.
type Screen struct {
	cols, rows int
	main, alt  buffer
	buf        *buffer // main or alt

	x, y  int // cursor; x == cols means that the next character wraps first
	pen   style
	link  string // open hyperlink, "parameters;URI"
	under color  // underline colour of the pen
	sets  charsets
	modes Modes
	shape int // DECSCUSR, 0 when never set
	tabs  []bool

	title  string
	titles []string // XTWINOPS 22 and 23

	history  scrollback
	erased   uint64 // how often the whole main screen was erased
	extras   extras
	clusters clusters

	scratch  []byte // text of one cell
	joinable bool   // the last thing that happened is that the cell before the cursor was printed
	parser   parser

	version string
	fg, bgc *uint32
	reply   func([]byte)
	events  Events
}

// New returns an empty screen with the cursor at its top left.
func New(o Options) *Screen {
	if o.Cols == 0 {
		o.Cols = 80
	}
	if o.Rows == 0 {
		o.Rows = 24
	}
	switch {
	case o.Scrollback == 0:
		o.Scrollback = defaultScrollback
	case o.Scrollback < 0:
		o.Scrollback = 0
	}
	s := &Screen{
		cols:    clamp(o.Cols, minCols, maxCols),
		rows:    clamp(o.Rows, minRows, maxRows),
		version: o.Version,
		fg:      o.Foreground,
		bgc:     o.Background,
		reply:   o.Reply,
		events:  o.Events,
	}
	s.history.limit = o.Scrollback
	s.reset()
	return s
}

// reset is RIS: everything but the size, the options and the title, which is not the screen's to take away.
func (s *Screen) reset() {
	s.main = newBuffer(s.cols, s.rows)
	s.alt = buffer{}
	s.buf = &s.main
	s.x, s.y = 0, 0
	s.pen, s.link, s.under = style{}, "", 0
	s.sets = charsets{}
	s.modes = Modes{CursorVisible: true, Autowrap: true}
	s.shape = 0
	s.tabs = defaultTabs(nil, s.cols)
	s.titles = nil
	s.history.clear()
	s.erased++
	s.history.budget = historyBudget(s.history.limit, s.cols)
	s.extras = extras{}
	s.clusters = clusters{}
	s.joinable = false
}

// Write feeds output of the program. It takes everything and never fails; a sequence or a character may be split anywhere
// between two calls.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		p = p[s.feed(p):]
	}
	return n, nil
}

// Size is the number of columns and rows.
func (s *Screen) Size() (cols, rows int) { return s.cols, s.rows }

// Title is the last title that was set, cleaned.
func (s *Screen) Title() string { return s.title }

// Modes are the modes that the program has set.
func (s *Screen) Modes() Modes { return s.modes }

// Cursor is where the next character goes.
type Cursor struct {
	Col, Row int  // from 0
	Wrap     bool // the line is full: the next character begins the next one
	Visible  bool
}

// Cursor returns the cursor of the screen that shows.
func (s *Screen) Cursor() Cursor {
	return Cursor{Col: min(s.x, s.cols-1), Row: s.y, Wrap: s.x >= s.cols, Visible: s.modes.CursorVisible}
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }
