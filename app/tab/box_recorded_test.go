package tab

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBoxesOfRecordedSessions classifies the input box in every frame of every recorded session. A text that was pasted and not sent stands
// in it: it is never taken for empty then, nor while a picker is open; and it is empty whenever the agent is known to rest.
func TestBoxesOfRecordedSessions(t *testing.T) {
	for _, file := range recordings(t) {
		t.Run(nameOf(file), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { replayBoxes(t, readRecording(t, file)) })
		})
	}
}

func replayBoxes(t *testing.T, r recording) {
	tab := playing(t, r, nil)
	defer tab.tick.Stop()
	start := time.Now()
	var pasted string // the end of a text that was pasted, while Enter was not pressed
	var before sight
	frames := map[Hold]int{}
	drafts, rests := 0, 0
	for _, e := range r.events {
		time.Sleep(time.Until(start.Add(e.at)))
		synctest.Wait()
		look := tab.Look()
		switch e.kind {
		case "i":
			pasted = ""
			if text, ok := strings.CutPrefix(e.text, "\x1b[200~"); ok {
				pasted = tailOf(strings.TrimSuffix(text, "\x1b[201~"))
				before = tab.sees(pasted)
			}
		case "o":
			tab.take([]byte(e.text))
			look = tab.Look()
			frames[look.Hold]++
			if pasted != "" && tab.sees(pasted).shows(before) && look.Hold == HoldNone {
				t.Errorf("at %v a pasted text is on the screen, and the box is taken for empty: %q below %q", e.at, look.Before, look.Above)
			}
		case "m":
			switch e.text {
			case "deliver again": // Enter comes next
				if pasted != "" && tab.sees(pasted).shows(before) {
					drafts++
				}
			case "is idle", "is done":
				if rests++; look.Hold != HoldNone {
					t.Errorf("at %v the agent rests, and its box is %q: %q below %q", e.at, look.Hold, look.Before, look.Above)
				}
			case "is waiting", "is waiting permission", "is waiting question":
				if look.Hold == HoldNone {
					t.Errorf("at %v a picker is open, and the box is taken for empty: %q below %q", e.at, look.Before, look.Above)
				}
			}
			tab.mark(e)
		}
	}
	t.Logf("%d drafts, %d rests, frames: empty %d, with a text or none there %d", drafts, rests, frames[HoldNone], frames[HoldBox]+frames[HoldDraft])
	if len(r.events) > 200 && (drafts < 5 || rests < 5 || frames[HoldNone] == 0 || frames[HoldBox]+frames[HoldDraft] == 0) {
		t.Error("the session shows too little to tell")
	}
}

// sees is sightOf for tests.
func (t *Tab) sees(tail string) sight {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sightOf(tail)
}
