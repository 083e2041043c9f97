package screen

import (
	"reflect"
	"testing"
)

// TestTerminalCases replays 29 sequences on which terminals differ. The rows and the cursor are those of @xterm/headless 6.0.0
// for the same input, checked by hand; in "zwj" the cursor is one column further left, since emoji sequences are one
// character of two cells here (see the package comment).
func TestTerminalCases(t *testing.T) {
	for name, c := range loadCases(t) {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: c.W, Rows: c.H})
			write(s, []byte(c.In))
			var rows []string
			for y := range c.H {
				rows = append(rows, s.Row(y))
			}
			for len(rows) > 0 && rows[len(rows)-1] == "" {
				rows = rows[:len(rows)-1]
			}
			if !reflect.DeepEqual(rows, c.Rows) {
				t.Errorf("rows\n got %q\nwant %q", rows, c.Rows)
			}
			if s.x != c.X || s.y != c.Y {
				t.Errorf("cursor %d,%d, want %d,%d", s.x, s.y, c.X, c.Y)
			}
			checkGrid(t, s)
		})
	}
}
