package screen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// trials is how many generated sequences are compared, and seed the fixed beginning of the generator: a failure is the same on
// every machine.
const (
	trials = 10_000
	seed   = 20261129
)

// TestGeneratedSequences compares whole states (text, styles, wraps, history, cursor, modes, title, answers) after sequences
// made of everything that both terminals know, on small screens, where borders are near. What the two are known to disagree
// on is not generated: TestKnownDifferences pins each of these. That is why there are two alphabets: tab stops that were set
// and the alternate screen, or wide characters and no wrapping, do not go together.
func TestGeneratedSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 1))
	alphabets := [][]maker{slices.Concat(common, withAlternate), slices.Concat(common, withTabs)}
	list := make([]trial, trials)
	for i := range list {
		w, h := 2+r.IntN(12), 1+r.IntN(7)
		list[i] = written(w, h, generate(r, alphabets[i%2], w, h))
	}
	compare(t, list, true, func(i int) string { return fmt.Sprintf("%q", list[i].Ops[0]) })
}

// generate returns up to 65 sequences for a screen of w columns and h rows.
func generate(r *rand.Rand, makers []maker, w, h int) string {
	var b strings.Builder
	for range 5 + r.IntN(60) {
		makers[r.IntN(len(makers))](&b, r, w, h)
	}
	return b.String()
}

// oneOf is a maker of one of a few fixed sequences.
func oneOf(list ...string) maker {
	return func(b *strings.Builder, r *rand.Rand, _, _ int) { b.WriteString(list[r.IntN(len(list))]) }
}

// upTo is a maker of a sequence with a number between 0 and just beyond the width or the height, and one of several finals.
func upTo(height bool, format, finals string) maker {
	return func(b *strings.Builder, r *rand.Rand, w, h int) {
		limit := w
		if height {
			limit = h
		}
		fmt.Fprintf(b, format, r.IntN(limit+2), finals[r.IntN(len(finals))])
	}
}

func letters(b *strings.Builder, r *rand.Rand, w, _ int) {
	for range 1 + r.IntN(w+3) {
		b.WriteByte(byte('a' + r.IntN(26)))
	}
}

func place(b *strings.Builder, r *rand.Rand, w, h int) {
	fmt.Fprintf(b, "\x1b[%d;%dH", r.IntN(h+2), r.IntN(w+2))
}

func region(b *strings.Builder, r *rand.Rand, _, h int) {
	fmt.Fprintf(b, "\x1b[%d;%dr", r.IntN(h+2), r.IntN(h+2))
}

func rarely(n int, m maker) maker {
	return func(b *strings.Builder, r *rand.Rand, w, h int) {
		if r.IntN(n) == 0 {
			m(b, r, w, h)
		}
	}
}

type maker func(b *strings.Builder, r *rand.Rand, w, h int)

// common makers are drawn from with equal chance; text stands several times.
var common = []maker{
	letters, letters, letters, letters, letters, letters, letters,
	oneOf("\r\n"), oneOf("\r\n"), oneOf("\r\n"),
	oneOf("é", "ae\u0301", "bx\u0301\u0302", "ｱ", "—", "│", "\u2764"),
	oneOf("\r", "\n", "\b", "\t", "\v", "\b\b", "\x07", "\x00", "\x7f"),
	place,
	upTo(false, "\x1b[%d%c", "ABCD"), upTo(true, "\x1b[%d%c", "EFGde`a"),
	oneOf("\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J", "\x1b[?J", "\x1b[?1J"), oneOf("\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[?1K", "\x1b[?2K"),
	upTo(false, "\x1b[%d%c", "X"), upTo(false, "\x1b[%d%c", "@"), upTo(false, "\x1b[%d%c", "P"),
	upTo(true, "\x1b[%d%c", "L"), upTo(true, "\x1b[%d%c", "M"), upTo(true, "\x1b[%d%c", "S"), upTo(true, "\x1b[%d%c", "T"),
	upTo(false, "\x1b[%d%c", "b"),
	region,
	oneOf("\x1bM", "\x1bD", "\x1bE"),
	oneOf("\x1b[4h", "\x1b[4l", "\x1b[4l"), oneOf("\x1b[20h", "\x1b[20l", "\x1b[20l"),
	oneOf("\x1b[m", "\x1b[1m", "\x1b[2;3m", "\x1b[31m", "\x1b[44m", "\x1b[7m", "\x1b[42m", "\x1b[4m", "\x1b[4:3m", "\x1b[24m", "\x1b[97;101m",
		"\x1b[38;5;200m", "\x1b[48;2;1;2;3m", "\x1b[38:2::9:8:7m", "\x1b[9;53m", "\x1b[22m", "\x1b[39;49m", "\x1b[8m", "\x1b[28m"),
	oneOf("\x1b(0\x0f", "\x1b(B\x0f", "\x1b)0\x0e", "\x1b(A\x0f", "lqk\x60~"),
	oneOf("\x1b[I", "\x1b[Z", "\x1b[2Z"),
	rarely(4, oneOf("\x1b#8")), rarely(4, oneOf("\x1b[20l\x1bc")),
	oneOf("\x1b[!p", "\x1b[1\"qgud\x1b[0\"q"),
	oneOf("\x1b[1 @", "\x1b[2 A", "\x1b[G\x1b['}", "\x1b[2G\x1b[2'~"),
	oneOf("\x1b]0;t✳x\x07", "\x1b]2;y\x1b\\", "\x1b[?2026h", "\x1b[?2026l", "\x1b_abc\x1b\\", "\x1b[1;2z", "\x1b[1?m", "\x1b[ 1m", "\u0085", "\u009b2C"),
	oneOf("\x1b[?1h", "\x1b[?1l", "\x1b=", "\x1b>", "\x1b[?2004h", "\x1b[?2004l", "\x1b[?1004h", "\x1b[?1004l"),
	oneOf("\x1b[?9h", "\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1000l", "\x1b[?1003l", "\x1b[?1006h"),
	oneOf("\x1b[5n", "\b\x1b[6n", "\r\x1b[?6n"),
	oneOf("\x1b[?7$p", "\x1b[?25$p", "\x1b[?2004$p", "\x1b[?1049$p", "\x1b[4$p", "\x1b[20$p", "\x1b[?2026$p", "\x1b[?9999$p"),
	oneOf("\x1bP$qr\x1b\\", "\x1bP$q\"q\x1b\\", "\x1b[>c"),
	oneOf("\x1b]8;;http://a.example\x1b\\", "\x1b]8;;\x1b\\", "\x1b]7;file://h/x\x07", "\x1b]133;A\x07", "\x1b]52;c;?\x07", "\x1b]9;4;1;50\x07"),
}

var withAlternate = []maker{
	oneOf("漢", "字漢", "한", "\U0001F600", "⚡"),
	oneOf("\x1b[?1047l\x1b[?1049h", "\x1b[?1047l\x1b[?1049hxy\x1b[Bz\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l"),
}

var withTabs = []maker{
	oneOf("\x1b[?7l", "\x1b[?7h", "\x1b[?7h"),
	oneOf("\x1bH", "\x1b[g", "\x1b[3g", "\t"),
}
