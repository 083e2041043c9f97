package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// sgrOf returns the sequence that sets a style from scratch.
func (s *Screen) sgrOf(st style) string {
	var b strings.Builder
	b.WriteString("\x1b[0")
	for _, one := range [...]struct {
		attr attr
		code string
	}{{bold, ";1"}, {faint, ";2"}, {italic, ";3"}, {blink, ";5"}, {inverse, ";7"}, {invisible, ";8"}, {strike, ";9"}, {overline, ";53"}} {
		if st.attr&one.attr != 0 {
			b.WriteString(one.code)
		}
	}
	if under := int(st.attr & underMask >> underShift); under == 1 {
		b.WriteString(";4")
	} else if under > 1 {
		b.WriteString(";4:" + strconv.Itoa(under))
	}
	writeColor(&b, st.fg, 30, ";38")
	writeColor(&b, st.bg, 40, ";48")
	writeColor(&b, s.extras.of(st.extra).under, 0, ";58")
	b.WriteByte('m')
	return b.String()
}

// writeColor writes a colour; base is that of the eight colours that have codes of their own, 0 if they have none.
func writeColor(b *strings.Builder, c color, base int, long string) {
	switch v := int(c & 0xffffff); {
	case c == 0:
	case c&truecolor != 0 && base == 0:
		fmt.Fprintf(b, "%s:2::%d:%d:%d", long, v>>16, v>>8&0xff, v&0xff) // 58 is known with colons only
	case c&truecolor != 0:
		fmt.Fprintf(b, "%s;2;%d;%d;%d", long, v>>16, v>>8&0xff, v&0xff)
	case base == 0:
		fmt.Fprintf(b, "%s:5:%d", long, v)
	case v < 8:
		fmt.Fprintf(b, ";%d", base+v)
	case v < 16:
		fmt.Fprintf(b, ";%d", base+60+v-8)
	default:
		fmt.Fprintf(b, "%s;5;%d", long, v)
	}
}
