package tab

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"termic/app/screen"
	"termic/app/settle"
)

// Hold is why a text is not typed now. The empty one: it can be.
type Hold string

// The holds.
const (
	HoldNone     Hold = ""
	HoldStarting Hold = "starting" // the agent has not shown itself yet
	HoldWorking  Hold = "working"
	HoldQuestion Hold = "question" // it asks for a permission or an answer
	HoldUnknown  Hold = "unknown"  // nothing tells what it is doing
	HoldTyping   Hold = "typing"   // the person has just pressed a key
	HoldDraft    Hold = "draft"    // the person's half-typed text may stand in its box
	HoldBox      Hold = "box"      // its input box is not on its screen, or is not where the cursor is
	HoldBehind   Hold = "behind"   // other texts come first
	HoldExited   Hold = "exited"   // nothing runs in the tab
)

// still is how long the person must have typed nothing.
const stillFor = 2 * time.Second

// holds returns why no text may be typed now; t.mu is held. What the agent says of itself can only hold a text back: that its box
// is there and empty is seen on the screen, and by what the person typed.
func (t *Tab) holds(now time.Time) Hold {
	state, _, _ := t.machine.State()
	switch state {
	case settle.Exited:
		return HoldExited
	case settle.Waiting:
		return HoldQuestion
	case settle.Starting:
		return HoldStarting
	case settle.Working:
		return HoldWorking
	case settle.Unknown:
		return HoldUnknown
	}
	if now.Sub(t.keys.at) < stillFor {
		return HoldTyping
	}
	return t.boxHolds(t.screen.CursorLine())
}

// boxHolds returns what in the program's box holds a text back. Where the box is known it must be there and empty, whatever was typed:
// the person may have taken a draft back by the mouse, and the agent may have put one there. Else what was typed
// decides, and the line as it was when nothing had been.
func (t *Tab) boxHolds(line screen.CursorLine) Hold {
	if rule := t.spec.Agent.Box; rule.Known() {
		at := rule.Empty.Match(line.Before) && (rule.Above.String() == "" || rule.Above.Match(line.Above))
		switch {
		case at && line.Text == "":
			return HoldNone
		case at || t.keys.draft:
			return HoldDraft
		}
		return HoldBox
	}
	if !t.keys.draft {
		t.resting = &line
		return HoldNone
	}
	if r := t.resting; r != nil && strings.TrimSpace(r.Before) != "" && r.Before == line.Before && r.Text == line.Text {
		return HoldNone
	}
	return HoldDraft
}

// pasted matches what agents show in place of a long paste, without its blanks: "[Pasted text #1 +12 lines]" (Claude Code 2.1.332),
// "[Pasted Content 1048576 chars]" (Codex 0.171.0), "[Pasted Text: 13 lines]" (Gemini CLI 0.61.0), "[Pasted ~13 lines]"
// (opencode 1.18.33).
var pasted = regexp.MustCompile(`\[Pasted(text|Text|Content|~)`)

// tailRunes is how much of a text's end is looked for: more than a word, and less than the narrowest box takes in two rows.
const tailRunes = 24

// regionRows is how many rows above the cursor may show the end of a text: agents show a draft of some ten lines whole.
const regionRows = 12

// tailOf returns the end of a text's last line that is not blank, as bare prints it: some agents show one line only.
func tailOf(clean string) string {
	line := strings.TrimRight(clean, " \t\n")
	line = line[strings.LastIndexByte(line, '\n')+1:]
	tail := []rune(bare(line[max(0, len(line)-16*tailRunes):]))
	return string(tail[max(0, len(tail)-tailRunes):])
}

// bare drops what a box does to a text: blanks, where it wraps; lines around it; and marks without a width of their own.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= 0x2500 && r <= 0x259f || !unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			return -1
		}
		return r
	}, text)
}

// sight is what is seen of a text near the cursor.
type sight struct {
	tails  int // how often its end is there
	tokens int // how many pasted texts stand for themselves
	row    int // of the cursor
	line   string
}

// sightOf looks at the rows around the cursor; t.mu is held.
func (t *Tab) sightOf(tail string) sight {
	cursor := t.screen.Cursor()
	_, rows := t.screen.Size()
	var b strings.Builder
	for y := max(0, cursor.Row-regionRows); y < min(rows, cursor.Row+2); y++ {
		b.WriteString(bare(t.screen.Row(y)))
	}
	region := b.String()
	seen := sight{tokens: len(pasted.FindAllStringIndex(region, -1)), row: cursor.Row, line: bare(t.screen.CursorLine().Before)}
	if tail != "" {
		seen.tails = strings.Count(region, tail)
	}
	return seen
}

// shows tells whether a text that was not there before is there now.
func (now sight) shows(before sight) bool {
	return now.tails > before.tails || now.tokens > before.tokens
}
