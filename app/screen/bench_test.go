package screen

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// logText is plain log output of about 1 MB.
func logText() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "2026-11-29T12:00:%02d.%03dZ info request %d served path=/api/v1/items/%d status=200 bytes=%d\r\n", i%60, i%1000, i, i%97, i*31%9000)
	}
	return b.Bytes()
}

// colourText is coloured output with some wide characters.
func colourText() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "\x1b[32m%6d\x1b[0m \x1b[1;34mpkg/file_%d.go\x1b[0m: \x1b[38;2;%d;120;200mwarning\x1b[m 漢字 ✳ done — ok │ é\r\n", i, i%31, i%256)
	}
	return b.Bytes()
}

// tuiText redraws a screen of boxes in place, as an agent's interface does.
func tuiText() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		b.WriteString("\x1b[?2026h\x1b[H")
		for y := range 30 {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2m│\x1b[0m\x1b[1m line %d of frame %d\x1b[22m\x1b[K\x1b[%d;100H│", y+1, y, i, y+1)
		}
		b.WriteString("\x1b[?2026l")
	}
	return b.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	for name, text := range map[string][]byte{"log": logText(), "colour": colourText(), "tui": tuiText()} {
		b.Run(name, func(b *testing.B) {
			s := New(Options{Cols: 120, Rows: 40})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for rest := text; len(rest) > 0; {
					n := min(64<<10, len(rest))
					write(s, rest[:n])
					rest = rest[n:]
				}
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := New(Options{Cols: 120, Rows: 40})
	for range 20 {
		write(s, logText())
	}
	for b.Loop() {
		b.SetBytes(int64(len(s.Snapshot())))
	}
}

// TestMemoryIsBounded measures what 10,000 rows of 120 columns cost. 20 MB is the bar; plain text takes a tenth.
func TestMemoryIsBounded(t *testing.T) {
	const cols = 120
	rainbow := func(i int) string { // every cell in a colour of its own
		var b strings.Builder
		for x := range cols {
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm%c", i%256, x, (i*x)%256, 'a'+x%26)
		}
		return b.String() + "\r\n"
	}
	marks := func(i int) string { // as many distinct marks as a cell takes, and more
		var b strings.Builder
		for x := range cols {
			b.WriteByte(byte('a' + x%26))
			for k := range 40 {
				b.WriteRune(rune(0x300 + (i+x*7+k*13)%0x70))
			}
		}
		return b.String() + "\r\n"
	}
	for name, row := range map[string]struct {
		rows  int
		limit float64 // MB
		line  func(int) string
	}{
		"plain text":      {10_000, 2, func(i int) string { return fmt.Sprintf("%0*d\r\n", cols, i) }},
		"wide characters": {10_000, 5, func(i int) string { return strings.Repeat("漢", cols/2) + "\r\n" }},
		"a colour a cell": {1_000, 2, rainbow}, // a tenth of the rows in a tenth of the memory
		"marks on marks":  {100, 3, marks},     // the texts of the cells on the screen
		"a link a row": {10_000, 5, func(i int) string {
			return fmt.Sprintf("\x1b]8;;http://example.org/%d\x1b\\%0*d\x1b]8;;\x1b\\\r\n", i, cols, i)
		}},
		"a title without end": {1_000, 1, func(i int) string { return "\x1b]0;" + strings.Repeat("x", 1000) }},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			s := New(Options{Cols: cols, Rows: 40, Scrollback: row.rows})
			for i := range row.rows + 40 {
				write(s, []byte(row.line(i)))
			}
			mb := float64(heap()-before) / 1e6
			t.Logf("%.1f MB, %d rows of history", mb, s.history.count)
			if mb > row.limit {
				t.Errorf("%.1f MB, want at most %.1f", mb, row.limit)
			}
			if s.history.size > s.history.budget {
				t.Errorf("%d bytes of history, budget %d", s.history.size, s.history.budget)
			}
			runtime.KeepAlive(s)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkGiven writes the file that TERMIC_BENCH_TEXT names, as `make bench` does with each of its peers.
func BenchmarkGiven(b *testing.B) {
	name := os.Getenv("TERMIC_BENCH_TEXT")
	if name == "" {
		b.Skip("needs TERMIC_BENCH_TEXT, a file")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	s := New(Options{Cols: 120, Rows: 40})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for rest := text; len(rest) > 0; {
			n := min(64<<10, len(rest))
			write(s, rest[:n])
			rest = rest[n:]
		}
	}
}

// BenchmarkKept tells what a screen keeps that was given the file which TERMIC_BENCH_TEXT names.
func BenchmarkKept(b *testing.B) {
	name := os.Getenv("TERMIC_BENCH_TEXT")
	if name == "" {
		b.Skip("needs TERMIC_BENCH_TEXT, a file")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		before := heap()
		s := New(Options{Cols: 120, Rows: 40, Scrollback: 10_000})
		for rest := text; len(rest) > 0; {
			n := min(64<<10, len(rest))
			write(s, rest[:n])
			rest = rest[n:]
		}
		b.ReportMetric(float64(heap()-before), "kept-B")
		runtime.KeepAlive(s)
	}
}
