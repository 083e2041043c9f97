package screen

import (
	"reflect"
	"testing"
)

// TestModes sets each mode, sees it in Modes, and resets it. Each field of Modes must be in the table.
func TestModes(t *testing.T) {
	fresh := Modes{CursorVisible: true, Autowrap: true}
	seen := map[string]bool{}
	for name, row := range map[string]struct {
		set, reset string
		want       func(*Modes)
	}{
		"BracketedPaste": {"\x1b[?2004h", "\x1b[?2004l", func(m *Modes) { m.BracketedPaste = true }},
		"AltScreen":      {"\x1b[?1049h", "\x1b[?1049l", func(m *Modes) { m.AltScreen = true }},
		"AppCursorKeys":  {"\x1b[?1h", "\x1b[?1l", func(m *Modes) { m.AppCursorKeys = true }},
		"AppKeypad":      {"\x1b=", "\x1b>", func(m *Modes) { m.AppKeypad = true }},
		"Mouse":          {"\x1b[?1003h", "\x1b[?1003l", func(m *Modes) { m.Mouse = MouseMotion }},
		"MouseEncoding":  {"\x1b[?1006h", "\x1b[?1006l", func(m *Modes) { m.MouseEncoding = MouseSGR }},
		"FocusEvents":    {"\x1b[?1004h", "\x1b[?1004l", func(m *Modes) { m.FocusEvents = true }},
		"Sync":           {"\x1b[?2026h", "\x1b[?2026l", func(m *Modes) { m.Sync = true }},
		"CursorVisible":  {"\x1b[?25l", "\x1b[?25h", func(m *Modes) { m.CursorVisible = false }},
		"CursorBlink":    {"\x1b[?12h", "\x1b[?12l", func(m *Modes) { m.CursorBlink = true }},
		"Autowrap":       {"\x1b[?7l", "\x1b[?7h", func(m *Modes) { m.Autowrap = false }},
		"Origin":         {"\x1b[?6h", "\x1b[?6l", func(m *Modes) { m.Origin = true }},
		"Insert":         {"\x1b[4h", "\x1b[4l", func(m *Modes) { m.Insert = true }},
		"NewLine":        {"\x1b[20h", "\x1b[20l", func(m *Modes) { m.NewLine = true }},
	} {
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			s := New(Options{})
			write(s, []byte(row.set))
			want := fresh
			row.want(&want)
			if s.Modes() != want {
				t.Errorf("set: %+v, want %+v", s.Modes(), want)
			}
			copied := New(Options{})
			write(copied, s.Snapshot())
			if copied.Modes() != want {
				t.Errorf("from the snapshot: %+v, want %+v", copied.Modes(), want)
			}
			write(s, []byte(row.reset))
			if s.Modes() != fresh {
				t.Errorf("reset: %+v", s.Modes())
			}
			write(s, []byte(row.set+"\x1bc"))
			if s.Modes() != fresh {
				t.Errorf("after RIS: %+v", s.Modes())
			}
		})
	}
	for f := range reflect.TypeFor[Modes]().Fields() {
		if !seen[f.Name] {
			t.Errorf("no row for %s", f.Name)
		}
	}
}

func TestModesInOneSequence(t *testing.T) {
	s := New(Options{})
	write(s, []byte("\x1b[?1;1000;1006;2004h"))
	want := Modes{CursorVisible: true, Autowrap: true, AppCursorKeys: true, Mouse: MouseButton, MouseEncoding: MouseSGR, BracketedPaste: true}
	if s.Modes() != want {
		t.Errorf("%+v, want %+v", s.Modes(), want)
	}
}

func TestAlternateScreen(t *testing.T) {
	for name, row := range map[string]struct {
		in         string
		text, both string
	}{
		"shows nothing of the main one":   {"main\x1b[?1049h", "", ""},
		"has no scrollback":               {"main\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4", "2\n3\n4", "2\n3\n4"},
		"gives the main one back":         {"main\x1b[?1049halt\x1b[?1049l", "main", "main"},
		"begins empty the second time":    {"\x1b[?1049halt\x1b[?1049l\x1b[?1049h", "", ""},
		"keeps the main one's scrollback": {"1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[2J\x1b[3J\x1b[?1049l", "2\n3\n4", "1\n2\n3\n4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Cols: 10, Rows: 3})
			write(s, []byte(row.in))
			if got := s.Text(TextOptions{}); got != row.text {
				t.Errorf("text %q, want %q", got, row.text)
			}
			if got := s.Text(TextOptions{Scrollback: true}); got != row.both {
				t.Errorf("with scrollback %q, want %q", got, row.both)
			}
		})
	}
}
