package tab

import (
	"errors"
	"strings"
	"testing"

	"termic/app/screen"
)

// shown returns a tab in which nothing runs and that shows text.
func shown(t *testing.T, agent, text string) *Tab {
	t.Helper()
	tab := Restore(Saved{ID: "b-x", Name: "x", Cols: 20, Rows: 4}, "t-x", builtin(t, agent), 100)
	_, _ = tab.screen.Write([]byte(text))
	return tab
}

func TestALogSinceAMark(t *testing.T) {
	for name, row := range map[string]struct {
		agent, before, after, want string
		lines                      int
		more                       bool
	}{
		"a shell's line goes on":                         {"shell", "1\r\n2\r\n$ ", "ls\r\na", "$ ls\na", 9, false},
		"of an agent the screen then is a part":          {"claude", "1\r\n2\r\n3\r\n4\r\n5\r\n6", "\r\n7", "3\n4\n5\n6\n7", 9, false},
		"at most so many, and it is said that more came": {"shell", "$ ", "ls\r\na\r\nb", "a\nb", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			tab := shown(t, row.agent, row.before)
			first, err := tab.ReadLog(LogOptions{Lines: 9})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = tab.screen.Write([]byte(row.after))
			got, err := tab.ReadLog(LogOptions{Lines: row.lines, Since: first.Mark})
			if err != nil || got.Text != row.want || got.More != row.more {
				t.Errorf("%q, more %t, %v; want %q", got.Text, got.More, err, row.want)
			}
		})
	}
}

func TestAMarkIsOneTerminals(t *testing.T) {
	tab, other := shown(t, "shell", "a"), shown(t, "shell", "a")
	log, err := tab.ReadLog(LogOptions{Lines: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tab.ReadLog(LogOptions{Lines: 9, Since: log.Mark}); err != nil {
		t.Errorf("its own: %v", err)
	}
	for _, mark := range []string{"x", log.Mark + " ", log.Mark + "0x", tab.epoch + "-1-0-0", tab.epoch + "--1-0-0", tab.epoch + "-01-1-0"} {
		if _, err := tab.ReadLog(LogOptions{Lines: 9, Since: mark}); !errors.Is(err, ErrMark) {
			t.Errorf("%q: %v", mark, err)
		}
	}
	if _, err := other.ReadLog(LogOptions{Lines: 9, Since: log.Mark}); !errors.Is(err, ErrMark) {
		t.Errorf("another tab's: %v", err)
	}
}

// TestAStyledLogHoldsNoSecretAndNoOtherSequence: a secret whose middle has another colour is taken out all the same.
func TestAStyledLogHoldsNoSecretAndNoOtherSequence(t *testing.T) {
	tab := shown(t, "shell", "\x1b[31mred\x1b[m \x1b]0;title\a\x1b]8;;http://a.example\alink\x1b]8;;\a\r\nsec\x1b[32mret\x1b[m end")
	blank := func(line string) string { return strings.ReplaceAll(line, "secret", "***") }
	log, err := tab.ReadLog(LogOptions{Lines: 9, Styled: true, Blank: blank})
	if err != nil || log.Text != "\x1b[0;31mred\x1b[0m link\n*** end" {
		t.Errorf("%q, %v", log.Text, err)
	}
	again := screen.New(screen.Options{Cols: 20, Rows: 4})
	_, _ = again.Write([]byte(strings.ReplaceAll(log.Text, "\n", "\r\n")))
	if text := again.Text(screen.TextOptions{}); text != "red link\n*** end" || again.Title() != "" {
		t.Errorf("shows %q, title %q", text, again.Title())
	}
}
