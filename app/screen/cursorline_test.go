package screen

import "testing"

func TestTheCursorsLineTellsTextFromHints(t *testing.T) {
	for name, c := range map[string]struct {
		out                string
		before, text, hint string
	}{
		"an empty box":                         {"\x1b[2;1H> ", "> ", "", ""},
		"a draft, cursor behind it":            {"\x1b[2;1H> half", "> half", "", ""},
		"a draft, cursor at its start":         {"\x1b[2;1H> half\x1b[2;3H", "> ", "half", ""},
		"a faint placeholder":                  {"\x1b[2;1H> \x1b[2mAsk me\x1b[m\x1b[2;3H", "> ", "", "Askme"},
		"a grey placeholder, 24 bits":          {"\x1b[2;1H> \x1b[38;2;175;175;175mAsk\x1b[m\x1b[2;3H", "> ", "", "Ask"},
		"a grey placeholder of the palette":    {"\x1b[2;1H> \x1b[38;5;244mAsk\x1b[m\x1b[2;3H", "> ", "", "Ask"},
		"a bright text":                        {"\x1b[2;1H> \x1b[38;2;238;238;238mAsk\x1b[m\x1b[2;3H", "> ", "Ask", ""},
		"a coloured text":                      {"\x1b[2;1H> \x1b[38;2;175;175;120mAsk\x1b[m\x1b[2;3H", "> ", "Ask", ""},
		"a drawn cursor on nothing":            {"\x1b[2;1H> \x1b[7m \x1b[m\x1b[2;3H", "> ", "", ""},
		"a drawn cursor on a placeholder":      {"\x1b[2;1H> \x1b[7mA\x1b[m\x1b[2msk\x1b[m\x1b[2;3H", "> ", "", "Ask"},
		"a drawn cursor on a draft's start":    {"\x1b[2;1H> \x1b[7mh\x1b[malf\x1b[2;3H", "> ", "half", ""},
		"a drawn cursor on a draft of one":     {"\x1b[2;1H> \x1b[7mh\x1b[m\x1b[2;3H", "> ", "h", ""},
		"a draft before a hint (ghost text)":   {"\x1b[2;1H> ls\x1b[2m -la\x1b[m\x1b[2;5H", "> ls", "", "-la"},
		"wide characters before the cursor":    {"\x1b[2;1H> 漢", "> 漢", "", ""},
		"a row that is full":                   {"\x1b[2;1H0123456789abcdefghij", "0123456789abcdefghij", "", ""},
		"something behind a gap, after a hint": {"\x1b[2;1H> \x1b[2mAsk\x1b[m  x\x1b[2;3H", "> ", "x", "Ask"},
	} {
		s := New(Options{Cols: 20, Rows: 4})
		_, _ = s.Write([]byte("above\r\n" + c.out))
		got := s.CursorLine()
		if got.Before != c.before || got.Text != c.text || got.Hint != c.hint || got.Above != "above" || got.Row != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
