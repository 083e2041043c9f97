package screen

import "testing"

func TestCells(t *testing.T) {
	s := New(Options{Cols: 8, Rows: 2})
	write(s, []byte("a\x1b[2;38;5;240mb\x1b[0;1;4:3;48;2;1;2;3m漢\x1b[0;3;5;7;8;9;53;31me\u0301\x1b]8;id=1;https://a.example/x\x1b\\\x1b[0ml"))
	for x, want := range []Cell{
		{Text: "a"},
		{Text: "b", Style: Style{Faint: true, Foreground: Color{PaletteColor, 240}}},
		{Text: "漢", Wide: true, Style: Style{Bold: true, Underline: 3, Background: Color{RGBColor, 0x010203}}},
		{Style: Style{Bold: true, Underline: 3, Background: Color{RGBColor, 0x010203}}},
		{Text: "e\u0301", Style: Style{Italic: true, Blink: true, Inverse: true, Invisible: true, Strikeout: true, Overline: true, Foreground: Color{PaletteColor, 1}}},
		{Text: "l", Style: Style{Link: "https://a.example/x"}},
		{}, {},
	} {
		if got := s.Cells(0)[x]; got != want {
			t.Errorf("cell %d: %+v, want %+v", x, got, want)
		}
	}
	if got := s.Cells(2); got != nil {
		t.Errorf("a row below the screen: %v", got)
	}
	if got := s.Cells(-1); got != nil {
		t.Errorf("a row above the screen: %v", got)
	}
}

func TestOnlySafeLinksAreLinks(t *testing.T) {
	for uri, safe := range map[string]bool{
		"https://example.org/a?b=c#d": true, "http://127.0.0.1:8080": true, "HTTPS://EXAMPLE.ORG": true, "mailto:a@example.org": true,
		"file:///etc/passwd": false, "javascript:alert(1)": false, "vscode://x/y": false, "data:text/html,x": false, "ssh://host": false,
		"//example.org": false, "example.org": false, "http:": false, "http://": false, " https://example.org": false,
		"https://bank.example@evil.example/": false, "https://bank.example:443@evil.example/": false, "https:example.org": false,
	} {
		s := New(Options{Cols: 8, Rows: 2})
		write(s, []byte("\x1b]8;;"+uri+"\x1b\\x\x1b]8;;\x1b\\y"))
		cells := s.Cells(0)
		if got := cells[0].Style.Link; (got != "") != safe || safe && got != uri {
			t.Errorf("%s: link %q", uri, got)
		}
		if cells[0].Text != "x" || cells[1].Style.Link != "" {
			t.Errorf("%s: %+v", uri, cells[:2])
		}
	}
}
