package tab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"termic/app/agent"
	"termic/app/settle"
)

// key types as the person does.
func key(t *testing.T, tab *Tab, keys string) {
	t.Helper()
	if err := tab.Type(t.Context(), []byte(keys)); err != nil {
		t.Fatal(err)
	}
}

// rest makes as if the person had typed nothing for long.
func rest(tab *Tab) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.keys.at = tab.keys.at.Add(-2 * stillFor)
}

// fateOf waits until something is known of a text, and returns it.
func fateOf(t *testing.T, tab *Tab, receipt Receipt) Past {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		tab.mu.Lock()
		past, known := tab.fate(receipt.ID)
		changed := tab.changed
		tab.mu.Unlock()
		if known {
			return past
		}
		select {
		case <-changed:
		case <-time.After(patience):
		}
	}
	t.Fatalf("nothing became of %s", receipt.ID)
	return Past{}
}

func TestATextNeverGoesIntoADraftOfThePerson(t *testing.T) {
	for name, c := range map[string]struct {
		keys, shown, clear string
		hold               Hold
	}{
		"a half-typed line":           {"my half", "> my half", "\x03", HoldDraft},
		"a key pressed just now":      {"x\x7f", "", "", HoldTyping},
		"a draft that is sent":        {"say mine", "> say mine", "\r", HoldDraft},
		"a draft that is erased":      {"ab", "> ab", "\x7f\x7f", HoldDraft},
		"a draft that came by paste":  {"\x1b[200~pasted\x1b[201~", "> pasted", "\x03", HoldDraft},
		"a draft of more than a line": {"a\nb", "> b", "\x03", HoldDraft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := scripted(t)
			wait(t, tab, Idle)
			key(t, tab, c.keys)
			if c.hold == HoldDraft {
				see(t, tab, c.shown)
				rest(tab)
			}
			receipt, err := tab.Send(t.Context(), Message{Text: "say from elsewhere"})
			if err != nil || receipt.Hold != c.hold || receipt.Fate != "" {
				t.Fatalf("%+v, %v", receipt, err)
			}
			if c.clear != "" {
				key(t, tab, c.clear)
			}
			rest(tab)
			if past := fateOf(t, tab, receipt); past.Fate != Submitted {
				t.Errorf("%+v", past)
			}
			wait(t, tab, Done)
			text, _ := tab.Log(1000)
			if !strings.Contains(text, "\nfrom elsewhere") || !strings.Contains(text, "prompt: 18 bytes") { // nothing but the text
				t.Errorf("screen:\n%s", text)
			}
		})
	}
}

// The box of a known agent is seen, so a draft that something else put there counts too, and one that is gone does not.
func TestAKnownBoxIsBelievedBeforeTheKeys(t *testing.T) {
	definition := agent.Definition{ID: "test", Command: []string{testAgent}, Box: agent.Box{Empty: settle.MustPatterns(`^> $`)[0]}}.Normalize()
	tab := open(t, definition, testAgent)
	wait(t, tab, Idle)
	tab.input.Lock() // something that is not the person's keyboard
	err := tab.write(context.Background(), []byte("unseen"))
	tab.input.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	see(t, tab, "> unseen")
	receipt, err := tab.Send(t.Context(), Message{Text: "say from elsewhere"})
	if err != nil || receipt.Hold == HoldNone {
		t.Fatalf("%+v, %v", receipt, err)
	}
	tab.input.Lock()
	err = tab.write(context.Background(), []byte{3})
	tab.input.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if past := fateOf(t, tab, receipt); past.Fate != Submitted {
		t.Errorf("%+v", past)
	}
	wait(t, tab, Done)
}

func TestAHalfTypedCommandOfAShellIsLeftAlone(t *testing.T) {
	tab := shell(t)
	wait(t, tab, Idle)
	key(t, tab, "echo mine-")
	see(t, tab, "echo mine-")
	rest(tab)
	receipt, err := tab.Send(t.Context(), Message{Text: "echo theirs-$((40+2))"})
	if err != nil || receipt.Hold != HoldDraft {
		t.Fatalf("%+v, %v", receipt, err)
	}
	key(t, tab, "$((1+1))\r")
	rest(tab)
	if past := fateOf(t, tab, receipt); past.Fate != Submitted {
		t.Errorf("%+v", past)
	}
	see(t, tab, "mine-2")
	see(t, tab, "theirs-42")
}

// An agent without signals looks idle while it asks: what is pasted is dropped, so it is never shown, and Enter is not pressed.
func TestEnterIsNotPressedIntoAPickerThatNothingAnnounces(t *testing.T) {
	tab := scripted(t, "-signals", "")
	wait(t, tab, Idle)
	if _, err := tab.Send(t.Context(), Message{Text: "ask may I?"}); err != nil {
		t.Fatal(err)
	}
	see(t, tab, "1. Yes")
	wait(t, tab, Done) // so it looks, by quiet
	_, err := tab.Send(t.Context(), Message{Text: "say hello"})
	if !errors.Is(err, ErrNotDelivered) {
		t.Errorf("%v", err)
	}
	if text, _ := tab.Log(100); strings.Contains(text, "answer:") {
		t.Errorf("the question was answered; screen:\n%s", text)
	}
	if outcome, _ := tab.Wait(t.Context(), patience, ""); outcome != NotDelivered {
		t.Errorf("the wait says %q", outcome)
	}
}

func TestTheQueueIsChangedByItsOwner(t *testing.T) {
	var kept []Queued
	tab := scripted(t)
	tab.spec.Keep = func(queue []Queued) error { kept = queue; return nil } // before anything is sent
	wait(t, tab, Idle)
	send(t, tab, "work 1s")
	var ids []Receipt
	for _, text := range []string{"say one", "say two", "say three", "say four"} {
		receipt, err := tab.Send(t.Context(), Message{Text: text, Sender: Sender{Name: "cli"}})
		if err != nil || receipt.Hold == HoldNone {
			t.Fatalf("%+v, %v", receipt, err)
		}
		ids = append(ids, receipt)
	}
	first, twice := 0, 2
	for _, err := range []error{
		tab.Edit(ids[3].ID, Change{Place: &first}),
		tab.Edit(ids[1].ID, Change{Text: &Message{Text: "say second"}}),
		tab.Edit(ids[0].ID, Change{Times: &twice}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := tab.Cancel(ids[2].ID); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := tab.Cancel(ids[2].ID); !errors.Is(err, ErrNoText) {
		t.Errorf("cancelled twice: %v", err)
	}
	if err := tab.Edit("q-none", Change{Place: &first}); !errors.Is(err, ErrNoText) {
		t.Errorf("%v", err)
	}
	if outcome, err := tab.Wait(t.Context(), patience, ids[2].ID); outcome != NotDelivered || !errors.Is(err, ErrNotDelivered) {
		t.Errorf("the wait for a cancelled text: %q, %v", outcome, err)
	}
	if len(kept) != 3 || kept[0].ID != ids[3].ID || kept[1].Times != 2 || kept[2].Text != "say second" {
		t.Errorf("kept %+v", kept)
	}
	wait(t, tab, Done)
	text, _ := tab.Log(1000)
	order := []int{strings.Index(text, "\nfour"), strings.Index(text, "\none"), strings.Index(text, "\nsecond")}
	if order[0] < 0 || order[1] < order[0] || order[2] < order[1] || strings.Count(text, "\none") != 2 || strings.Contains(text, "\nthree") {
		t.Errorf("%v; screen:\n%s", order, text)
	}
	if len(kept) != 0 {
		t.Errorf("still kept: %+v", kept)
	}
}

func TestATextThatCannotBeKeptIsNotQueued(t *testing.T) {
	tab := scripted(t)
	tab.spec.Keep = func(queue []Queued) error { return errors.New("disk full") }
	wait(t, tab, Idle)
	tab.mu.Lock()
	tab.keys.draft, tab.keys.at = true, time.Now()
	tab.mu.Unlock()
	if _, err := tab.Send(t.Context(), Message{Text: "say lost"}); err == nil {
		t.Error("queued, and not kept")
	}
	if waiting, _, _ := tab.Queue(); len(waiting) != 0 {
		t.Errorf("%+v", waiting)
	}
}

func TestRepeatSendsEachTimeOnceItHasSettled(t *testing.T) {
	tab := scripted(t)
	wait(t, tab, Idle)
	receipt, err := tab.Send(t.Context(), Message{Text: "work 100ms\nsay again", Times: 3})
	if err != nil || receipt.Fate != Submitted {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if outcome, err := tab.Wait(t.Context(), patience, receipt.ID); outcome != Done || err != nil {
		t.Fatalf("%q, %v", outcome, err)
	}
	if text, _ := tab.Log(1000); strings.Count(text, "\nagain") != 3 {
		t.Errorf("screen:\n%s", text)
	}
}
