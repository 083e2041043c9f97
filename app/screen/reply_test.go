package screen

import "testing"

func TestReplies(t *testing.T) {
	fg, bg := uint32(0xc0ffee), uint32(0x102030)
	for name, row := range map[string]struct{ in, want string }{
		"who are you":                        {"\x1b[c", "\x1b[?62;22c"},
		"who are you, with a zero":           {"\x1b[0c", "\x1b[?62;22c"},
		"another number is another question": {"\x1b[1c", ""},
		"secondary attributes":               {"\x1b[>c", "\x1b[>0;276;0c"},
		"tertiary attributes":                {"\x1b[=c", ""},
		"version":                            {"\x1b[>q", "\x1bP>|termic(9)\x1b\\"},
		"are you well":                       {"\x1b[5n", "\x1b[0n"},
		"cursor":                             {"\x1b[3;4H\x1b[6n", "\x1b[3;4R"},
		"cursor, private":                    {"\x1b[3;4H\x1b[?6n", "\x1b[?3;4R"},
		"cursor on a full row":               {"12345678901234567890\x1b[6n", "\x1b[1;20R"},
		"cursor from the origin":             {"\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"},
		"size":                               {"\x1b[18t\x1b[19t", "\x1b[8;5;20t\x1b[9;5;20t"},
		"a mode that is set":                 {"\x1b[?2026h\x1b[?2026$p", "\x1b[?2026;1$y"},
		"a mode that is not":                 {"\x1b[?2026$p", "\x1b[?2026;2$y"},
		"a mode that is set when new":        {"\x1b[?7$p\x1b[?25$p", "\x1b[?7;1$y\x1b[?25;1$y"},
		"a mode that we do not know":         {"\x1b[?2048$p", "\x1b[?2048;0$y"},
		"grapheme clusters, always":          {"\x1b[?2027$p", "\x1b[?2027;3$y"},
		"mouse and its encoding":             {"\x1b[?1002;1006h\x1b[?1000$p\x1b[?1002$p\x1b[?1006$p", "\x1b[?1000;2$y\x1b[?1002;1$y\x1b[?1006;1$y"},
		"alternate screen":                   {"\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"},
		"an ANSI mode":                       {"\x1b[4h\x1b[4$p\x1b[20$p\x1b[2$p", "\x1b[4;1$y\x1b[20;2$y\x1b[2;0$y"},
		"colours":                            {"\x1b]10;?\a\x1b]11;?\x1b\\", "\x1b]10;rgb:c0c0/ffff/eeee\x1b\\\x1b]11;rgb:1010/2020/3030\x1b\\"},
		"the pen":                            {"\x1b[1;31m\x1bP$qm\x1b\\", "\x1bP1$r0;1;31m\x1b\\"},
		"the region":                         {"\x1b[2;4r\x1bP$qr\x1b\\", "\x1bP1$r2;4r\x1b\\"},
		"the cursor's shape":                 {"\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
		"protection":                         {"\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"},
		"a setting that we do not know":      {"\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			s := New(Options{Cols: 20, Rows: 5, Version: "9", Foreground: &fg, Background: &bg, Reply: func(p []byte) { got += string(p) }})
			write(s, []byte(row.in))
			if got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
			New(Options{Cols: 20, Rows: 5}).Write([]byte(row.in)) // and nobody listens
		})
	}
}
