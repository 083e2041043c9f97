package settle

import (
	"strconv"
	"strings"
)

// ScreenRules are RE2 patterns over the bottom of the live screen (Bottom). They are tried in this order; a screen that matches none
// says nothing.
type ScreenRules struct {
	Permission []Pattern `json:"permission,omitempty"`
	Question   []Pattern `json:"question,omitempty"` // any other thing that is asked, and start-up dialogs
	Working    []Pattern `json:"working,omitempty"`
	Idle       []Pattern `json:"idle,omitempty"`
	// Background tells that commands or sub-agents run beside the agent, whatever else the screen says. A number in the first group
	// is how many; without one it is one.
	Background []Pattern `json:"background,omitempty"`
}

// Seen is what a screen says.
type Seen struct {
	State      State // Unknown: nothing
	Kind       string
	Background int
}

// Empty tells that there is no rule, so that nobody needs to look.
func (r ScreenRules) Empty() bool {
	return len(r.Permission)+len(r.Question)+len(r.Working)+len(r.Idle)+len(r.Background) == 0
}

// Read reads the bottom of a screen.
func (r ScreenRules) Read(bottom string) Seen {
	seen := Seen{Background: count(r.Background, bottom)}
	for _, rule := range []struct {
		patterns []Pattern
		state    State
		kind     string
	}{{r.Permission, Waiting, "permission"}, {r.Question, Waiting, "question"}, {r.Working, Working, ""}, {r.Idle, Idle, ""}} {
		for _, p := range rule.patterns {
			if p.Match(bottom) {
				seen.State, seen.Kind = rule.state, rule.kind
				return seen
			}
		}
	}
	return seen
}

func count(patterns []Pattern, text string) int {
	n := 0
	for _, p := range patterns {
		if p.re == nil {
			continue
		}
		for _, match := range p.re.FindAllStringSubmatch(text, maxChildren) {
			many := 1
			if len(match) > 1 {
				if v, err := strconv.Atoi(match[1]); err == nil && v >= 0 && v <= maxChildren {
					many = v
				}
			}
			n += many
		}
	}
	return n
}

// What is looked at of a screen: at 80 columns the last 14 rows that are not blank, which hold the longest picker's end and its
// question (claude's, 2026-11-29); a narrower screen breaks the same text into more rows.
const (
	bottomRows = 14
	bottomCols = 80
)

// Bottom returns the text of the last rows of a screen as one line: rows joined by one blank, frames and runs of blanks dropped. So it
// is the same text at any width that does not break a word. row returns row y of rows, from 0.
func Bottom(rows, cols int, row func(y int) string) string {
	left := bottomRows
	if cols > 0 && cols < bottomCols {
		left = (bottomRows*bottomCols + cols - 1) / cols
	}
	var parts []string
	for y := rows - 1; y >= 0 && left > 0; y-- {
		if text := unframed(row(y)); text != "" {
			parts = append(parts, text)
			left--
		}
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(parts[i])
	}
	return b.String()
}

// unframed drops the characters of frames and shades (box drawing and block elements), and blanks but single ones.
func unframed(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		if r == ' ' || r == '\u00a0' || r >= 0x2500 && r <= 0x259f {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
