package screen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestReflow compares the lines, however they are broken, that text with styles, wide characters and wraps has after each of
// several resizes, with the cursor on a line of its own below the text: there both terminals promise to lose nothing. Where
// rows are broken is not: ours breaks those of the scrollback when they are drawn, and xterm.js leaves gaps where a wide
// character once did not fit. TestResizeLosesNoText has what only we promise.
func TestReflow(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 2))
	var trials []trial
	for range 400 {
		one := trial{Cols: 3 + r.IntN(30), Rows: 2 + r.IntN(8)}
		one.Ops = append(one.Ops, []byte(paragraphs(r)))
		for range 1 + r.IntN(3) {
			one.Ops = append(one.Ops, size{3 + r.IntN(30), one.Rows}, look{})
		}
		trials = append(trials, one)
	}
	bad := 0
	asked(t, trials, func(i int, v verdict) {
		if v.Error != "" {
			t.Fatalf("xterm.js threw %s", v.Error)
		}
		for k, ours := range trials[i].run() {
			diff := differs(lines(ours), lines(v.Looks[k]))
			if diff != "" {
				if bad++; bad <= 5 {
					t.Errorf("%q, look %d, differs:\n%s", trials[i].Ops, k, diff)
				}
				break
			}
		}
	})
	if bad > 0 {
		t.Errorf("%d of %d differ", bad, len(trials))
	}
}

// lines returns the view with each line on a row of its own, history and screen together, without blanks: a seenRow has lost
// those at its end.
func lines(v view) view {
	var out []seenRow
	for _, row := range append(slices.Clone(v.History), v.Rows...) {
		if last := len(out) - 1; row.Cont && last >= 0 {
			out[last].Cells = append(out[last].Cells, inked(row.Cells)...)
			continue
		}
		out = append(out, seenRow{Cells: inked(row.Cells)})
	}
	for len(out) > 0 && len(out[len(out)-1].Cells) == 0 {
		out = out[:len(out)-1]
	}
	return view{Rows: out}
}

func inked(cells []string) []string {
	var out []string
	for i := 0; i < len(cells); i += 2 {
		if cells[i] != "" {
			out = append(out, cells[i:i+2]...)
		}
	}
	return out
}

// paragraphs returns lines of text, the last one ended.
func paragraphs(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		for range r.IntN(10) {
			switch r.IntN(6) {
			case 0:
				b.WriteString("漢字")
			case 1:
				fmt.Fprintf(&b, "\x1b[3%dmred\x1b[m", r.IntN(8))
			default:
				b.WriteString(strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(7)))
				b.WriteByte(' ')
			}
		}
		b.WriteString("\r\n")
	}
	return b.String()
}
