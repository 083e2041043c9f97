package screen

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitle  = 512 // bytes; more is in no tab and no log line
	maxTitles = 10  // saved ones, as xterm.js
	maxNotice = 2 << 10
)

// osc carries out an operating system command. Those that are not named here are ignored. OSC 52, which sets a clipboard,
// is told and no more, and its query gets no answer.
func (s *Screen) osc(data []byte) {
	number, rest, _ := bytes.Cut(data, []byte{';'})
	n, err := strconv.ParseUint(string(number), 10, 16)
	if err != nil {
		return
	}
	switch text := string(rest); n {
	case 0, 2:
		s.setTitle(clean(text, maxTitle))
		if s.events.Title != nil {
			s.events.Title(s.title)
		}
	case 7:
		if s.events.Cwd != nil {
			s.events.Cwd(clean(text, maxOSC))
		}
	case 8:
		s.setLink(text)
	case 9:
		s.osc9(text)
	case 10:
		s.reportColor(10, text, s.fg)
	case 11:
		s.reportColor(11, text, s.bgc)
	case 52:
		if s.events.Clipboard != nil {
			s.events.Clipboard(text)
		}
	case 133:
		s.mark(text)
	case 777:
		s.notify777(text)
	case 7501:
		s.status(text)
	}
}

func (s *Screen) setTitle(title string) { s.title = title }

// pushTitle and popTitle are XTWINOPS 22 and 23.
func (s *Screen) pushTitle() {
	if len(s.titles) == maxTitles {
		s.titles = append(s.titles[:0], s.titles[1:]...)
	}
	s.titles = append(s.titles, s.title)
}

func (s *Screen) popTitle() {
	last := len(s.titles) - 1
	if last < 0 {
		return
	}
	s.setTitle(s.titles[last])
	s.titles = s.titles[:last]
	if s.events.Title != nil {
		s.events.Title(s.title)
	}
}

// osc9 is ConEmu's family of commands, of which 4 is progress, or a notification.
func (s *Screen) osc9(text string) {
	command, rest, _ := strings.Cut(text, ";")
	if n, err := strconv.Atoi(command); err != nil || n < 1 || n > 12 {
		if s.events.Notify != nil && text != "" {
			s.events.Notify("", clean(text, maxNotice))
		}
		return
	}
	if command != "4" || s.events.Progress == nil {
		return
	}
	first, second, _ := strings.Cut(rest, ";")
	state, err := strconv.Atoi(first)
	if err != nil || state < 0 || state > 4 {
		return
	}
	value, err := strconv.Atoi(second)
	if err != nil && second != "" {
		return
	}
	s.events.Progress(state, clamp(value, 0, 100))
}

// mark is OSC 133: "A", "B", "C", "D" or "D;exit", each with options that we do not read.
func (s *Screen) mark(text string) {
	if s.events.Prompt == nil || text == "" || text[0] < 'A' || text[0] > 'D' || len(text) > 1 && text[1] != ';' {
		return
	}
	m := Mark{Kind: text[0]}
	if m.Kind == 'D' && len(text) > 2 {
		code, _, _ := strings.Cut(text[2:], ";")
		if exit, err := strconv.ParseInt(code, 10, 32); err == nil {
			m.Exit, m.Exited = int(exit), true
		}
	}
	s.events.Prompt(m)
}

func (s *Screen) notify777(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	if kind != "notify" || s.events.Notify == nil {
		return
	}
	title, body, _ := strings.Cut(rest, ";")
	s.events.Notify(clean(title, maxTitle), clean(body, maxNotice))
}

// status is OSC 7501, the program status protocol. "?" asks whether we understand it.
func (s *Screen) status(text string) {
	switch {
	case s.events.Status == nil:
	case text == "?":
		s.answer("\x1b]7501;?\x1b\\")
	default:
		s.events.Status(clean(text, maxOSC))
	}
}

// clean returns text without control characters and characters that change the direction or cannot be seen, in at most
// limit bytes. It is shown in places that are not a terminal.
func clean(text string, limit int) string {
	hidden := func(r rune) bool {
		return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}
	if strings.ContainsFunc(text, hidden) {
		text = strings.Map(func(r rune) rune {
			if hidden(r) {
				return -1
			}
			return r
		}, text)
	}
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
