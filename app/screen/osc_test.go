package screen

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// heard collects events in order, as text.
func heard(o Options) (*Screen, *[]string) {
	var got []string
	note := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	o.Events = Events{
		Title:    func(t string) { note("title %q", t) },
		Progress: func(state, value int) { note("progress %d %d", state, value) },
		Bell:     func() { note("bell") },
		Prompt:   func(m Mark) { note("prompt %c %d %v", m.Kind, m.Exit, m.Exited) },
		Cwd:      func(url string) { note("cwd %s", url) },
		Status:   func(p string) { note("status %s", p) },
		Notify:   func(title, body string) { note("notify %q %q", title, body) },
		Clipboard: func(p string) {
			if len(p) > 100 {
				p = fmt.Sprint(len(p), " bytes")
			}
			note("clipboard %s", p)
		},
	}
	o.Reply = func(p []byte) { note("reply %q", p) }
	return New(o), &got
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("é", 1000)
	for name, row := range map[string]struct {
		in   string
		want []string
	}{
		"a title that ends with BEL":              {"\x1b]2;one\a", []string{`title "one"`}},
		"a title that ends with ST":               {"\x1b]0;two\x1b\\", []string{`title "two"`}},
		"a title with a byte 0x9c in a character": {"\x1b]0;✳ Claude\a", []string{`title "✳ Claude"`}},
		"the same title again":                    {"\x1b]2;x\a\x1b]2;x\a", []string{`title "x"`, `title "x"`}},
		"an icon name is no title":                {"\x1b]1;icon\a", nil},
		"control characters leave a title":        {"\x1b]2;a\tb\x01c\x7f\a", []string{`title "abc"`}},
		"a C1 control ends a string":              {"\x1b]2;a\u0085", nil},
		"direction overrides leave a title":       {"\x1b]2;a\u202eb\u200bc\a", []string{`title "abc"`}},
		"a long title is cut between characters":  {"\x1b]2;" + long + "\a", []string{fmt.Sprintf("title %q", strings.Repeat("é", maxTitle/2))}},
		"a title cut off by CAN":                  {"\x1b]2;gone\x18", nil},
		"an OSC that exceeds its limit":           {"\x1b]2;" + strings.Repeat("x", maxOSC) + "\a\x1b]2;next\a", []string{`title "next"`}},
		"a text for the clipboard":                {"\x1b]52;c;b25l\a", []string{"clipboard c;b25l"}},
		"the longest text for the clipboard":      {"\x1b]52;c;" + strings.Repeat("x", maxClipboard-5) + "\a", []string{fmt.Sprint("clipboard ", maxClipboard-3, " bytes")}},
		"a text for the clipboard that is longer": {"\x1b]52;c;" + strings.Repeat("x", maxClipboard-4) + "\a\x1b]2;next\a", []string{`title "next"`}},
		"an OSC without a number":                 {"\x1b];x\a\x1b]x\a\x1b]-2;x\a", nil},

		"progress":                            {"\x1b]9;4;1;50\x1b\\", []string{"progress 1 50"}},
		"progress is over":                    {"\x1b]9;4;0;\a\x1b]9;4;0\a", []string{"progress 0 0", "progress 0 0"}},
		"progress beyond a hundred":           {"\x1b]9;4;1;250\a", []string{"progress 1 100"}},
		"progress of an unknown state":        {"\x1b]9;4;7;1\a\x1b]9;4;x;1\a\x1b]9;4;1;x\a", nil},
		"another command of ConEmu":           {"\x1b]9;9;C:\\\a\x1b]9;1;500\a", nil},
		"a notification":                      {"\x1b]9;build failed\a", []string{`notify "" "build failed"`}},
		"a notification that begins with a 4": {"\x1b]9;4 tests failed\a", []string{`notify "" "4 tests failed"`}},
		"a notification with a title":         {"\x1b]777;notify;T;B;b\a", []string{`notify "T" "B;b"`}},
		"another command of rxvt":             {"\x1b]777;precmd\a", nil},

		"prompt marks": {
			"\x1b]133;A\a\x1b]133;B\a\x1b]133;C;cmdline=x\a\x1b]133;D;7\a\x1b]133;D\a",
			[]string{"prompt A 0 false", "prompt B 0 false", "prompt C 0 false", "prompt D 7 true", "prompt D 0 false"},
		},
		"marks that nobody knows": {"\x1b]133;Z\a\x1b]133;\a\x1b]133;AA\a\x1b]133;P;k=i\a", nil},
		"the working directory":   {"\x1b]7;file://host/a%20b\a", []string{"cwd file://host/a%20b"}},
		"a status":                {"\x1b]7501;state=working:app=claude-code\a", []string{"status state=working:app=claude-code"}},
		"the order at an agent's start": {
			"\x1b[>0q\x1b[?u\x1b]7501;?\a\x1b[c",
			[]string{`reply "\x1bP>|termic(1.2)\x1b\\"`, `reply "\x1b]7501;?\x1b\\"`, `reply "\x1b[?62;22c"`},
		},
		"a bell":                              {"\a", []string{"bell"}},
		"a BEL that ends a string is no bell": {"\x1b]1;x\a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := heard(Options{Version: "1.2"})
			write(s, []byte(row.in))
			if !reflect.DeepEqual(*got, row.want) {
				t.Errorf("got  %q\nwant %q", *got, row.want)
			}
			if s.parser.state != ground {
				t.Errorf("parser is left in state %d", s.parser.state)
			}
		})
	}
}

// Nothing reads or writes a clipboard, and no question is answered with what a program put on the screen (public report:
// the answer is typed into the shell).
func TestNothingIsTypedForTheProgram(t *testing.T) {
	for name, in := range map[string]string{
		"clipboard write":        "\x1b]52;c;ZXZpbA==\a",
		"clipboard query":        "\x1b]52;c;?\a",
		"title query":            "\x1b]2;rm -rf /\a\x1b[21t\x1b[20t",
		"palette query":          "\x1b]4;1;?\a\x1b]12;?\a\x1b]104;1\a",
		"colours we do not know": "\x1b]10;?\a\x1b]11;?\a",
		"answerback":             "\x05",
		"kitty keyboard query":   "\x1b[?u",
		"termcap query":          "\x1bP+q544e\x1b\\",
	} {
		t.Run(name, func(t *testing.T) {
			s, got := heard(Options{})
			write(s, []byte(in))
			for _, e := range *got {
				if strings.HasPrefix(e, "reply") {
					t.Error(e)
				}
			}
			if text := s.Text(TextOptions{}); text != "" {
				t.Errorf("on the screen: %q", text)
			}
		})
	}
}

func TestStatusQueryIsAnsweredOnlyToWhoListens(t *testing.T) {
	var got []byte
	s := New(Options{Reply: func(p []byte) { got = append(got, p...) }})
	write(s, []byte("\x1b]7501;?\a"))
	if len(got) > 0 {
		t.Errorf("answered %q", got)
	}
}

func TestLinks(t *testing.T) {
	s := New(Options{Cols: 20, Rows: 2})
	write(s, []byte("\x1b]8;id=7;http://a.example\x1b\\in\x1b]8;;\x1b\\out"))
	cells := s.main.rows[0].cells
	if got := s.extras.of(cells[1].extra).link; got != "id=7;http://a.example" {
		t.Errorf("link %q", got)
	}
	if got := s.extras.of(cells[2].extra).link; got != "" {
		t.Errorf("text after the link has %q", got)
	}
	for name, in := range map[string]string{
		"too long":                   "\x1b]8;;http://" + strings.Repeat("x", maxLink) + "\a",
		"with a hidden character":    "\x1b]8;;http://a\u202e.example\a",
		"without a second semicolon": "\x1b]8;x\a",
	} {
		s := New(Options{Cols: 20, Rows: 2})
		write(s, []byte(in+"x"))
		if got := s.extras.of(s.main.rows[0].cells[0].extra).link; got != "" {
			t.Errorf("%s: link %q", name, got)
		}
	}
}

// Links without end do not take memory without end, and never show a target that is not theirs.
func TestLinksAreBounded(t *testing.T) {
	s := New(Options{Cols: 20, Rows: 3, Scrollback: 100})
	for i := range 3 * maxExtras {
		write(s, fmt.Appendf(nil, "\x1b]8;;http://x/%d\a%d\x1b]8;;\a\r\n", i, i))
		if i%37 == 0 {
			checkLinks(t, s)
		}
	}
	if n := len(s.extras.list); n > maxExtras+1 {
		t.Errorf("%d links are held", n)
	}
	if checkLinks(t, s) == 0 {
		t.Error("no link is left")
	}
}

// checkLinks checks that text in the history that has a link has its own, and counts the linked cells.
func checkLinks(t *testing.T, s *Screen) (linked int) {
	t.Helper()
	for i := range s.history.count {
		text := s.history.text(i)
		unpack(s.history.bytes(i), func(g glyph) {
			if link := s.extras.of(g.style.extra).link; link != "" {
				linked++
				if link != ";http://x/"+text {
					t.Fatalf("%q links to %q", text, link)
				}
			}
		})
	}
	return linked
}

func TestTitleStack(t *testing.T) {
	s := New(Options{})
	write(s, []byte("\x1b]2;shell\a\x1b[22;0t\x1b]2;vim\a"))
	if s.Title() != "vim" {
		t.Errorf("title %q", s.Title())
	}
	write(s, []byte("\x1b[23;0t"))
	if s.Title() != "shell" {
		t.Errorf("title after pop %q", s.Title())
	}
	write(s, []byte("\x1b[23t"))
	if s.Title() != "shell" {
		t.Errorf("title after pop of nothing %q", s.Title())
	}
	for range 100 {
		write(s, []byte("\x1b[22t"))
	}
	if len(s.titles) != maxTitles {
		t.Errorf("%d titles are kept", len(s.titles))
	}
}
