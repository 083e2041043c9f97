package tab

import (
	"termic/app/pty"
	"termic/app/settle"
)

// Look is what a tab shows of its program's input at one moment, for whoever tests an agent's definition.
type Look struct {
	// Hold is why no text would be typed now; empty when one would be.
	Hold Hold
	// Before and Above are the cursor's row left of it and the row above: what a Box matches.
	Before, Above string
	// Framed tells that a text would be typed as one bracketed paste.
	Framed bool
	// Reports counts what the agent's hooks reported.
	Reports int
	// Wait is what an agent that waits asks for.
	Wait settle.Wait
}

// Look returns what the tab shows now.
func (t *Tab) Look() Look {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.screen.CursorLine()
	look := Look{Before: line.Before, Above: line.Above, Framed: t.bracketed(), Reports: t.told, Wait: t.machine.Wait()}
	switch {
	case t.exit != (pty.ExitStatus{}) || t.hasEnded():
		look.Hold = HoldExited
	default:
		look.Hold = t.boxHolds(line)
	}
	return look
}
