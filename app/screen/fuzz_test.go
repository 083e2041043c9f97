package screen

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"unicode/utf8"
)

// terminalCase is one case of testdata/terminal-cases.json.
type terminalCase struct {
	W    int      `json:"w"`
	H    int      `json:"h"`
	In   string   `json:"in"`
	Rows []string `json:"rows"` // without blanks at the end, and without blank rows at the end
	X    int      `json:"x"`    // cursor; w when the row is full
	Y    int      `json:"y"`
}

func loadCases(t testing.TB) map[string]terminalCase {
	t.Helper()
	data, err := os.ReadFile("testdata/terminal-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]terminalCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// FuzzScreen feeds anything and checks what must always hold.
func FuzzScreen(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add([]byte(c.In), uint8(c.W), uint8(c.H), uint16(1))
	}
	for _, seed := range seeds {
		f.Add([]byte(seed), uint8(7), uint8(3), uint16(2))
	}
	f.Add([]byte("字ぢ字か"), uint8(0), uint8(46), uint16(334))
	f.Add([]byte("\x1b[;10H"), uint8(8), uint8(0), uint16(39))
	f.Add([]byte("ab0\ufe0f\x1b[4h"), uint8(1), uint8(1), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, w, h uint8, split uint16) {
		if len(in) > 1<<12 {
			return // the properties do not depend on length, and a snapshot of much scrollback is slow
		}
		checkScreen(t, in, 2+int(w%30), 1+int(h%12), int(split))
	})
}

// seeds are inputs that once broke a property, or that reach what the cases do not.
var seeds = []string{
	"\x1b[?1049h\x1b[5;3Hx\x1b7\x1b[2;3r\x1b[?6h\x1b[9;9Hy",
	"\x1b[41mab\x1b[Kc\r\n\x1b[mdefghijklmn\x1b[2J",
	"\x1b]8;id=1;http://a\x1b\\link\x1b]8;;\x1b\\ \x1b[4:3;58:2::1:2:3mcurly",
	"e\u0301\u0301漢字\U0001F469\u200d\U0001F469\u200d\U0001F467|\U0001F1E9\U0001F1EA\u2764\ufe0f",
	"\x1b[4hab\x1b[Gxy\u2764\ufe0f\x1b[?7lzzzzzzzzzzz漢",
	"\x1b[3g\x1b[3G\x1bH\ta\x1b(0qqq\x0e\x1b)0lqk",
	"\x1b[1\"qsafe\x1b[0\"qgone\x1b[?2J\x1b[?K",
	"1\r\n2\r\n3\r\n4\r\n5\x1b[A\x1b[2Lx\x1b[3S\x1b[2T",
}

func checkScreen(t *testing.T, in []byte, cols, rows, split int) {
	t.Helper()
	s := New(Options{Cols: cols, Rows: rows, Scrollback: 20})
	write(s, in)
	checkGrid(t, s)

	chunked := New(Options{Cols: cols, Rows: rows, Scrollback: 20})
	for i, rest := 0, in; len(rest) > 0; i++ {
		n := min(1+(split>>(i%12))%7, len(rest))
		write(chunked, rest[:n])
		rest = rest[n:]
	}
	same(t, "written in pieces", chunked, s)

	copied := New(Options{Cols: cols, Rows: rows, Scrollback: 20})
	snapshot := s.Snapshot()
	if !utf8.Valid(in) || utf8.Valid(snapshot) || s.parser.parts > 0 {
		write(copied, snapshot)
	} else {
		t.Errorf("snapshot of valid input is not valid: %q", snapshot)
	}
	same(t, fmt.Sprintf("from the snapshot %q", snapshot), copied, s)

	// The copy goes on as the original does.
	more := "\u0301more \x1b[31mtext\r\nand\x1b[H\x1b[Kmore\r\n\x1b8x"
	if s.joinable && !s.reprints() {
		more = more[len("\u0301"):]
	}
	write(s, []byte(more))
	write(copied, []byte(more))
	same(t, fmt.Sprintf("after more, from the snapshot %q", snapshot), copied, s)

	s.Resize(2+split%37, 1+split%11)
	checkGrid(t, s)
	s.Resize(cols, rows)
	write(s, in)
	checkGrid(t, s)
}

func write(s *Screen, p []byte) {
	if n, err := s.Write(p); n != len(p) || err != nil {
		panic("a write was refused")
	}
}

// same compares all that a caller can see of two screens.
func same(t *testing.T, what string, got, want *Screen) {
	t.Helper()
	for _, o := range []TextOptions{{}, {Scrollback: true}, {Lines: 2, Scrollback: true}} {
		if g, w := got.Text(o), want.Text(o); g != w {
			t.Fatalf("%s: text %+v\n got %q\nwant %q", what, o, g, w)
		}
	}
	for y := range want.rows {
		if g, w := got.Row(y), want.Row(y); g != w {
			t.Fatalf("%s: row %d\n got %q\nwant %q", what, y, g, w)
		}
	}
	if g, w := got.Cursor(), want.Cursor(); g != w {
		t.Fatalf("%s: cursor %+v, want %+v", what, g, w)
	}
	if g, w := got.Modes(), want.Modes(); g != w {
		t.Fatalf("%s: modes %+v, want %+v", what, g, w)
	}
	if g, w := got.Title(), want.Title(); g != w {
		t.Fatalf("%s: title %q, want %q", what, g, w)
	}
}

// checkGrid checks what the code relies on.
func checkGrid(t *testing.T, s *Screen) {
	t.Helper()
	cols, rows := s.Size()
	if c := s.Cursor(); c.Col < 0 || c.Col >= cols || c.Row < 0 || c.Row >= rows {
		t.Fatalf("cursor %+v outside of %dx%d", c, cols, rows)
	}
	if s.buf.top < 0 || s.buf.top > s.buf.bottom || s.buf.bottom >= rows {
		t.Fatalf("region %d-%d in %d rows", s.buf.top, s.buf.bottom, rows)
	}
	for _, b := range []*buffer{&s.main, &s.alt} {
		if b == &s.alt && !s.modes.AltScreen {
			continue
		}
		if len(b.rows) != rows {
			t.Fatalf("%d rows, want %d", len(b.rows), rows)
		}
		for y := range b.rows {
			cells := b.rows[y].cells
			if b.rows[y].cont && !follows(s.endingOf(b, y), cells) {
				t.Fatalf("row %d continues nothing", y)
			}
			if len(cells) != cols {
				t.Fatalf("row %d has %d cells, want %d", y, len(cells), cols)
			}
			for x := range cells {
				paired := x > 0 && cells[x-1].attr&wide != 0
				if (cells[x].attr&spacer != 0) != paired || x == cols-1 && cells[x].attr&wide != 0 {
					t.Fatalf("half of a wide character at %d,%d", x, y)
				}
				if cells[x].attr&spacer != 0 && (cells[x].ch != 0 || cells[x].look() != cells[x-1].look()) {
					t.Fatalf("second half differs from the first at %d,%d", x, y)
				}
			}
		}
	}
	if s.history.count > s.history.limit {
		t.Fatalf("%d rows of history, limit %d", s.history.count, s.history.limit)
	}
}
