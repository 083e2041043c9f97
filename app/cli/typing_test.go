package cli

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// tape is a tab that keeps what is typed, and when.
type tape struct {
	typed []byte
	last  time.Time
	fails bool
}

func (t *tape) Type(p []byte) error {
	if t.fails {
		return errors.New("gone")
	}
	t.typed, t.last = append(t.typed, p...), time.Now()
	return nil
}

func TestWhatComesInPiecesIsPutTogether(t *testing.T) {
	for _, c := range []struct {
		name     string
		pieces   []string // "" is a pause that is longer than a split
		want     string
		detached bool
	}{
		{"plain words", []string{"ls", " -l\r"}, "ls -l\r", false},
		{"ctrl-] of the keyboard protocol", []string{"a\x1b[93;", "5u", "b"}, "a", true},
		{"the same of xterm", []string{"\x1b", "[27;5;9", "3~", "b"}, "", true},
		{"ctrl-] behind an answer that has no end", []string{"\x1b]11;rgb:00", "\x1d"}, "\x1b]11;rgb:00", true},
		{"an answer in two pieces", []string{"a\x1b[?62;", "22cb"}, "ab", false},
		{"a colour in four, its terminator split", []string{"\x1b", "]11;rgb:0000/", "0000/0000\x1b", "\\x"}, "x", false},
		{"a version", []string{"\x1bP>|xterm(", "379)\x1b\\"}, "", false},
		{"an arrow in two pieces", []string{"\x1b", "[A"}, "\x1b[A", false},
		{"escape, then a bracket by hand", []string{"\x1b", "", "[", "", "A"}, "\x1b[A", false},
		{"half an answer, and no more of it", []string{"\x1b[?62;", "", "22c"}, "\x1b[?62;22c", false},
		{"alt and a bracket", []string{"\x1b]", "", "x"}, "\x1b]x", false},
		{"a paste whose frame is split", []string{"\x1b[20", "0~a\x1b[201", "~"}, "\x1b[200~a\x1b[201~", false},
		{"a sequence that has no end", []string{"\x1b]" + string(bytes.Repeat([]byte("x"), maxSplit))}, "\x1b]" + string(bytes.Repeat([]byte("x"), maxSplit)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pieces, done, tab := make(chan []byte), make(chan bool), &tape{}
				go func() { done <- typeUntilDetached(pieces, tab) }()
				for _, piece := range c.pieces {
					synctest.Wait()
					if piece == "" {
						time.Sleep(2 * splitDelay)
						continue
					}
					select {
					case pieces <- []byte(piece):
					case got := <-done:
						if !got || !c.detached {
							t.Fatalf("it ended before %q: %v", piece, got)
						}
						if string(tab.typed) != c.want {
							t.Errorf("typed %q, want %q", tab.typed, c.want)
						}
						return
					}
				}
				close(pieces)
				if !<-done || string(tab.typed) != c.want {
					t.Errorf("typed %q, want %q", tab.typed, c.want)
				}
			})
		})
	}
}

// The escape key arrives, and not later than a split takes.
func TestTheEscapeKeyIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pieces, done, tab := make(chan []byte), make(chan bool), &tape{}
		go func() { done <- typeUntilDetached(pieces, tab) }()
		pressed := time.Now()
		pieces <- []byte("\x1b")
		time.Sleep(time.Second)
		synctest.Wait()
		if string(tab.typed) != "\x1b" || tab.last.Sub(pressed) != splitDelay {
			t.Errorf("typed %q after %v", tab.typed, tab.last.Sub(pressed))
		}
		close(pieces)
		<-done
	})
}

func TestATabThatIsGoneTakesNothing(t *testing.T) {
	pieces := make(chan []byte, 1)
	pieces <- []byte("x")
	if typeUntilDetached(pieces, &tape{fails: true}) {
		t.Error("it says that the person detached")
	}
}

func FuzzUnfinished(f *testing.F) {
	f.Add([]byte("a\x1b[?62;22c"), 4)
	f.Add([]byte("\x1b]11;x\x1b\\y\x1b"), 8)
	f.Add([]byte("\x1bPq\x1b[A"), 3)
	f.Fuzz(func(t *testing.T, typed []byte, at int) {
		whole := unfinished(typed)
		if whole < 0 || whole > len(typed) || whole < len(typed) && typed[whole] != 0x1b {
			t.Fatalf("%q is unfinished from %d", typed, whole)
		}
		// However it is cut, what is passed on in the end is the same, where no part is too long to be held.
		if at < 0 || at > len(typed) || len(typed) > maxSplit {
			return
		}
		first := unfinished(typed[:at])
		parts := append(withoutAnswers(bytes.Clone(typed[:first])), withoutAnswers(bytes.Clone(typed[first:]))...)
		if once := withoutAnswers(bytes.Clone(typed)); !bytes.Equal(parts, once) {
			t.Errorf("%q cut at %d (held from %d) becomes %q, whole %q", typed, at, first, parts, once)
		}
	})
}
