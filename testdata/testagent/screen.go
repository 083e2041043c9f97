package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// phase is what the agent shows.
type phase int

const (
	idle phase = iota
	working
	asking
	failed // 7501 alone tells it from idle
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// screen draws: lines of answer above, the box on the last line. It is safe for concurrent use.
type screen struct {
	mu      sync.Mutex
	signals map[string]bool
	phase   phase
	draft   string
	paste   string // stands for the draft when it is long
	frame   int
	running int // background commands
	box     bool
}

// open turns bracketed paste on and shows the box.
func (s *screen) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box = true
	fmt.Fprint(os.Stdout, "\x1b[?2004h")
	s.tell("")
	s.draw()
}

// close takes everything back that a shell would not like.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box = false
	out := "\r\x1b[2K\x1b[?2004l"
	if s.signals["title"] {
		out += "\x1b]0;\x07"
	}
	if s.signals["status"] {
		out += "\x1b]7501;state=clear\x1b\\"
	}
	fmt.Fprint(os.Stdout, out)
}

// print puts a line of answer above the box.
func (s *screen) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(os.Stdout, "\r\x1b[2K"+strings.ReplaceAll(line, "\n", "\r\n")+"\r\n")
	s.draw()
}

// raw writes pieces above the box as they are, each by a write of its own; between is called between them.
func (s *screen) raw(between func(), pieces ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(os.Stdout, "\r\x1b[2K")
	for i, p := range pieces {
		if i > 0 {
			between()
		}
		fmt.Fprint(os.Stdout, p)
	}
	fmt.Fprint(os.Stdout, "\r\n")
	s.draw()
}

// show changes the phase and sends its signals. message goes into the 7501 report.
func (s *screen) show(p phase, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = p
	s.draw()
	s.tell(message)
}

// spin steps the spinner in box and title, while there is one.
func (s *screen) spin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != working {
		return
	}
	s.frame++
	s.title()
	s.draw()
}

// edit shows the draft; a long one as a token, as real agents do.
func (s *screen) edit(draft string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draft, s.paste = draft, ""
	if n := strings.Count(draft, "\n"); n > 8 || len(draft) > 800 {
		s.paste = fmt.Sprintf("[Pasted text +%d lines]", n)
	}
	s.draw()
}

// background notes how many background commands run.
func (s *screen) background(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += change
	if s.signals["status"] {
		if change > 0 {
			fmt.Fprintf(os.Stdout, "\x1b]7501;state=working:app=%s:id=bg\x07", name)
		} else if s.running == 0 {
			fmt.Fprint(os.Stdout, "\x1b]7501;state=clear:id=bg\x07")
		}
	}
	s.tell("")
}

// draw writes the box; the lock is held.
func (s *screen) draw() {
	if !s.box {
		return
	}
	cols, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || cols < 20 {
		cols = 80
	}
	text := s.paste
	if text == "" {
		text = s.draft[strings.LastIndexByte(s.draft, '\n')+1:]
	}
	if s.phase == asking { // the picker takes the box's place, as in real agents
		fmt.Fprint(os.Stdout, "\r\x1b[2K❯ 1. Yes  2. No")
		return
	}
	mark := "> "
	if s.phase == working {
		mark = string(spinner[s.frame%len(spinner)]) + " > "
	}
	fmt.Fprint(os.Stdout, "\r\x1b[2K"+mark+tail(oneLine(text), cols-6))
}

// tell sends the phase's signals; the lock is held.
func (s *screen) tell(message string) {
	s.title()
	if s.signals["progress"] {
		state := map[phase]string{idle: "0", failed: "0", working: "3", asking: "4"}[s.phase]
		fmt.Fprint(os.Stdout, "\x1b]9;4;"+state+";0\x07")
	}
	if !s.signals["status"] {
		return
	}
	state := map[phase]string{idle: "idle", failed: "error", working: "working", asking: "blocked:kind=permission"}[s.phase]
	if s.phase == idle && s.running > 0 {
		state = "working"
	}
	report := "\x1b]7501;state=" + strings.Replace(state, ":", ":app="+name+":", 1)
	if !strings.Contains(state, ":") {
		report += ":app=" + name
	}
	if message != "" {
		report += ":msg=" + base64.StdEncoding.EncodeToString([]byte(tail(message, 200)))
	}
	fmt.Fprint(os.Stdout, report+"\x07")
}

func (s *screen) title() {
	if !s.signals["title"] {
		return
	}
	text := "✳ ready"
	switch s.phase {
	case working:
		text = string(spinner[s.frame%len(spinner)]) + " working…"
	case asking:
		text = "✋ Action Required (" + name + ")"
	}
	fmt.Fprint(os.Stdout, "\x1b]0;"+text+"\x07")
}

// oneLine drops what would move the cursor.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// tail returns at most n characters from the end of s.
func tail(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}
