package screen

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// trial is one input for both terminals: what is written, where it is resized, and when it is looked at besides the end.
type trial struct {
	Cols       int   `json:"cols"`
	Rows       int   `json:"rows"`
	Scrollback int   `json:"scrollback,omitempty"`
	Ops        []any `json:"ops"` // []byte to write, size to resize to, look
}

type size [2]int

// look asks for the state in the middle of a trial.
type look struct{}

// MarshalJSON writes look as the oracle reads it.
func (look) MarshalJSON() ([]byte, error) { return []byte("true"), nil }

// written is a trial that writes one text.
func written(cols, rows int, in string) trial {
	return trial{Cols: cols, Rows: rows, Ops: []any{[]byte(in)}}
}

// view is all that can be seen of a terminal.
type view struct {
	History []seenRow `json:"history"`
	Rows    []seenRow `json:"rows"`
	X       int       `json:"x"`
	Y       int       `json:"y"`
	Alt     bool      `json:"alt"`
	Title   string    `json:"title"`
	Answers string    `json:"answers"` // base64
	Modes   []bool    `json:"modes"`
	Mouse   int       `json:"mouse"`
}

// seenRow is a row's cells, each as its text and its style.
type seenRow struct {
	Cells []string `json:"cells"`
	Cont  bool     `json:"cont"`
}

type verdict struct {
	Looks []view `json:"looks"`
	Error string `json:"error"`
}

// asked gives the trials to @xterm/headless and calls with each result in turn.
func asked(t testing.TB, trials []trial, with func(i int, v verdict)) {
	t.Helper()
	cmd := exec.Command("node", "testdata/xterm.mjs")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: the reference terminal needs Node; run build/setup.sh node", err)
	}
	go func() {
		w := bufio.NewWriter(in)
		for _, one := range trials {
			line, err := json.Marshal(one)
			if err == nil {
				_, err = w.Write(append(line, '\n'))
			}
			if err != nil {
				break // the process has ended; its output says why
			}
		}
		_ = w.Flush()
		_ = in.Close()
	}()
	answers := json.NewDecoder(bufio.NewReaderSize(out, 1<<20))
	n := 0
	for ; ; n++ {
		var v verdict
		if err := answers.Decode(&v); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		with(n, v)
	}
	if err := cmd.Wait(); err != nil || n != len(trials) {
		t.Fatalf("the reference terminal answered %d of %d: %v (npm ci in frontend installs it)\n%s", n, len(trials), err, errors.String())
	}
}

// run does to a screen of ours what the oracle does to its own.
func (one trial) run() []view {
	var answers bytes.Buffer
	scrollback := one.Scrollback
	if scrollback == 0 {
		scrollback = 1000
	}
	s := New(Options{Cols: one.Cols, Rows: one.Rows, Scrollback: scrollback, Reply: func(p []byte) { answers.Write(p) }})
	var looks []view
	for _, op := range one.Ops {
		switch op := op.(type) {
		case []byte:
			_, _ = s.Write(op)
		case size:
			s.Resize(op[0], op[1])
		case look:
			looks = append(looks, seen(s, answers.Bytes()))
		}
	}
	return append(looks, seen(s, answers.Bytes()))
}

func seen(s *Screen, answers []byte) view {
	m := s.modes
	st := view{
		X: s.x, Y: s.y, Alt: m.AltScreen, Title: s.title, Answers: base64.StdEncoding.EncodeToString(answers),
		Modes: []bool{m.AppCursorKeys, m.AppKeypad, m.BracketedPaste, m.Insert, m.Origin, m.FocusEvents, m.Autowrap, m.Sync},
		Mouse: int(m.Mouse),
	}
	for i := range s.history.count {
		if s.buf == &s.main {
			st.History = append(st.History, seenRow{packedCells(s.history.bytes(i)), s.history.continues(i)})
		}
	}
	for y := range s.buf.rows {
		st.Rows = append(st.Rows, seenRow{gridCells(s, s.buf.rows[y].cells), s.buf.rows[y].cont})
	}
	return st
}

func gridCells(s *Screen, cells []cell) []string {
	var out []string
	s.glyphs(cells, func(g glyph) { out = append(out, seenText(g), seenStyle(g)) })
	return trimmed(out)
}

func packedCells(data []byte) []string {
	var out []string
	unpack(data, func(g glyph) { out = append(out, seenText(g), seenStyle(g)) })
	return trimmed(out)
}

// trimmed drops the cells at the end that look as if never written.
func trimmed(out []string) []string {
	for n := len(out); n > 0 && out[n-1] == "" && out[n-2] == ""; n = len(out) {
		out = out[:n-2]
	}
	return out
}

// seenText is the text of a cell. A blank is as good as none: where a line wraps, ours fills the cell that was erased.
func seenText(g glyph) string {
	if string(g.text) == " " {
		return ""
	}
	return string(g.text)
}

// seenStyle writes a style as the oracle does; of an empty cell the background alone.
func seenStyle(g glyph) string {
	st := g.style
	if len(g.text) == 0 {
		st = style{bg: st.bg}
	}
	var flags strings.Builder
	for _, f := range []struct {
		bit  attr
		name byte
	}{{bold, 'b'}, {faint, 'd'}, {italic, 'i'}, {blink, 'k'}, {inverse, 'v'}, {invisible, 'h'}, {strike, 's'}, {overline, 'o'}} {
		if st.attr&f.bit != 0 {
			flags.WriteByte(f.name)
		}
	}
	if under := st.attr & underMask >> underShift; under != 0 {
		fmt.Fprintf(&flags, "u%d", under)
	}
	fg, bg := seenColor(st.fg), seenColor(st.bg)
	if flags.Len() == 0 && fg == "" && bg == "" {
		return ""
	}
	return flags.String() + ";" + fg + ";" + bg
}

func seenColor(c color) string {
	switch {
	case c == 0:
		return ""
	case c&truecolor != 0:
		return fmt.Sprintf("#%06x", c&0xffffff)
	}
	return fmt.Sprint(c & 0xff)
}

// differs returns what is not the same in two states, in words; nothing when all is.
func differs(got, want view) string {
	var b strings.Builder
	say := func(what string, got, want any) {
		if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
			fmt.Fprintf(&b, "  %s\n    ours     %s\n    xterm.js %s\n", what, g, w)
		}
	}
	say("rows of history", len(got.History), len(want.History))
	for i := range min(len(got.History), len(want.History)) {
		say(fmt.Sprint("history ", i), got.History[i].Cells, want.History[i].Cells)
	}
	for y := range min(len(got.Rows), len(want.Rows)) {
		say(fmt.Sprint("row ", y), got.Rows[y].Cells, want.Rows[y].Cells)
		if got.Rows[y].Cont && !want.Rows[y].Cont {
			say(fmt.Sprint("row ", y, " continues"), true, false)
		}
	}
	say("cursor", size{got.X, got.Y}, size{want.X, want.Y})
	say("alternate screen", got.Alt, want.Alt)
	say("title", got.Title, want.Title)
	say("modes", got.Modes, want.Modes)
	say("mouse", got.Mouse, want.Mouse)
	if got.Answers != want.Answers {
		g, _ := base64.StdEncoding.DecodeString(got.Answers)
		w, _ := base64.StdEncoding.DecodeString(want.Answers)
		say("answers", g, w)
	}
	return b.String()
}

// compare runs the trials on both terminals and fails for each that differs, naming it and showing the first few. Without answers
// what the terminals answered does not count.
func compare(t *testing.T, trials []trial, answers bool, name func(i int) string) {
	t.Helper()
	bad, threw := 0, 0
	asked(t, trials, func(i int, v verdict) {
		if v.Error != "" {
			threw++
			return
		}
		ours := trials[i].run()
		for k := range v.Looks {
			if !answers {
				ours[k].Answers, v.Looks[k].Answers = "", ""
			}
			diff := differs(ours[k], v.Looks[k])
			if diff == "" {
				continue
			}
			if bad++; bad <= 5 {
				t.Errorf("%s, look %d, %dx%d, differs:\n%s", name(i), k, trials[i].Cols, trials[i].Rows, diff)
			}
			break
		}
	})
	if bad > 0 {
		t.Errorf("%d of %d differ", bad, len(trials))
	}
	if threw > len(trials)/100 {
		t.Errorf("xterm.js threw on %d of %d", threw, len(trials))
	}
	if os.Getenv("TERMIC_TEST_VERBOSE") != "" {
		t.Logf("%d trials, xterm.js threw on %d", len(trials), threw)
	}
}
