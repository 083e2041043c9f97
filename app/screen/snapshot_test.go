package screen

import (
	"fmt"
	"testing"
)

// TestSnapshotOfAttributes reads each attribute back, cell by cell.
func TestSnapshotOfAttributes(t *testing.T) {
	for _, code := range []string{
		"1", "2", "3", "4", "4:2", "4:3", "4:4", "4:5", "5", "7", "8", "9", "21", "53",
		"31", "97", "38;5;200", "38;2;1;2;3", "38:2::1:2:3", "38:5:9", "42", "107", "48;5;17", "48;2;250;251;252",
		"4;58:2::9:8:7", "4:3;58:5:33", "1;3;4;31;44",
	} {
		s := New(Options{Cols: 20, Rows: 3})
		write(s, []byte("a\x1b["+code+"mb\x1b[mc\r\n\x1b["+code+"md\x1b[K"))
		copied := New(Options{Cols: 20, Rows: 3})
		write(copied, s.Snapshot())
		for y := range s.rows {
			for x := range s.cols {
				got, want := copied.main.rows[y].cells[x], s.main.rows[y].cells[x]
				if g, w := copied.extras.of(got.extra), s.extras.of(want.extra); g != w {
					t.Errorf("%s: extra %+v, want %+v at %d,%d", code, g, w, x, y)
				}
				got.extra, want.extra = 0, 0
				if got != want {
					t.Errorf("%s: %+v, want %+v at %d,%d", code, got, want, x, y)
				}
			}
		}
		if code != "" && s.main.rows[0].cells[1].style == (style{}) {
			t.Errorf("%s sets nothing", code)
		}
		gotPen, wantPen := copied.pen, s.pen
		gotPen.extra, wantPen.extra = 0, 0
		if gotPen != wantPen || copied.under != s.under {
			t.Errorf("%s: pen %+v, want %+v", code, copied.pen, s.pen)
		}
	}
}

func TestSGRResets(t *testing.T) {
	for on, off := range map[string]string{
		"1": "22", "2": "22", "3": "23", "4:3": "24", "21": "24", "4": "4:0", "5": "25", "7": "27", "8": "28", "9": "29", "53": "55",
		"31": "39", "91": "39", "44": "49", "48;2;1;2;3": "49", "58:2::1:2:3": "59", "1;31;44": "0", "32": "",
	} {
		s := New(Options{})
		write(s, []byte("\x1b["+on+"m\x1b["+off+"m"))
		if s.pen != (style{}) {
			t.Errorf("%s then %s: %+v", on, off, s.pen)
		}
	}
	for _, bad := range []string{"38;5", "38;2;1;2", "38;5;256", "38;2;1;2;300", "38;9", "38", "48:2", "999"} {
		s := New(Options{})
		write(s, []byte("\x1b["+bad+"m"))
		if s.pen != (style{}) {
			t.Errorf("%s: %+v", bad, s.pen)
		}
	}
}

// TestSnapshotGoesOn takes a snapshot after every byte of a stream: the copy must end like the original.
func TestSnapshotGoesOn(t *testing.T) {
	for name, c := range loadCases(t) {
		for i := range len(c.In) {
			s, copied := New(Options{Cols: c.W, Rows: c.H}), New(Options{Cols: c.W, Rows: c.H})
			write(s, []byte(c.In[:i]))
			snapshot := s.Snapshot()
			write(copied, snapshot)
			write(s, []byte(c.In[i:]))
			write(copied, []byte(c.In[i:]))
			same(t, fmt.Sprintf("%s after %d bytes, snapshot %q", name, i, snapshot), copied, s)
		}
	}
}

func TestSnapshotAsksNothing(t *testing.T) {
	s, _ := heard(Options{Cols: 20, Rows: 4})
	write(s, []byte("\x1b]2;t\a\x1b]8;;http://x\a\x1b[?1049h\x1b[2;3r\x1b[5 q漢\x1b]133;A\a\x1b]9;hi\a\a\x1b[6n"))
	copied, got := heard(Options{Cols: 20, Rows: 4})
	write(copied, s.Snapshot())
	if len(*got) != 1 || (*got)[0] != `title "t"` {
		t.Errorf("events %q", *got)
	}
}

func TestSnapshotOfTheRest(t *testing.T) {
	const in = "\x1b[3g\x1b[5G\x1bH\x1b[9G\x1bH\x1b)0\x0e\x1b[2;4r\x1b[3 q\x1b[22;2t\x1b]2;second\a\x1b[2;3H\x1b[1;35m\x1b7\x1b[4;6H\x1b[32m"
	s := New(Options{Cols: 12, Rows: 5})
	write(s, []byte(in))
	copied := New(Options{Cols: 12, Rows: 5})
	write(copied, s.Snapshot())
	same(t, "copy", copied, s)
	for what, pair := range map[string][2]any{
		"tab stops":    {copied.tabs, s.tabs},
		"charsets":     {copied.sets, s.sets},
		"region":       {[2]int{copied.buf.top, copied.buf.bottom}, [2]int{s.buf.top, s.buf.bottom}},
		"shape":        {copied.shape, s.shape},
		"titles":       {copied.titles, s.titles},
		"saved cursor": {copied.buf.saved, s.buf.saved},
		"pen":          {copied.pen, s.pen},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}
