package registry

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// elicitHolder asks about every call, by way of the callers' clients.
type elicitHolder struct {
	// policy is asked where it is set; else every call is asked about.
	policy func() (bool, *refusal.Refusal)
	// trusts tells of a caller by name whether it may ask for itself; nil: every one.
	trusts func(name string) bool
}

func (h *elicitHolder) Policy(Call, *Verb) (bool, *refusal.Refusal) {
	if h.policy != nil {
		return h.policy()
	}
	return true, nil
}

func (*elicitHolder) Ask(context.Context, Question) *refusal.Refusal {
	return refusal.New(refusal.Held, "nobody is there", "")
}

func (h *elicitHolder) Elicits(call Call) bool { return h.trusts == nil || h.trusts(call.Caller.Name) }

func outsider(name string) Caller {
	return Caller{Way: MCP, Scope: Full, Ceiling: Destructive, Grant: ident.Grant("g-" + name), Name: name}
}

// through makes a call whose client can ask, and returns what it has to ask.
func (r *rig) through(t *testing.T, caller Caller, arguments string, dialog Dialog) (*Asks, error) {
	t.Helper()
	dialog.Offered = true
	_, err := r.Dispatch(WithDialog(t.Context(), &dialog), caller, "test_write", json.RawMessage(arguments))
	return dialog.Asks, err
}

func elicitRig(t *testing.T) (*rig, *elicitHolder) {
	t.Helper()
	r, h := newRig(t, allow, nil), &elicitHolder{}
	r.HoldWith(h)
	return r, h
}

func TestAConfirmedCallIsMadeOnce(t *testing.T) {
	r, _ := elicitRig(t)
	asks, err := r.through(t, outsider("one"), `{"text":"hi","n":1}`, Dialog{})
	if codeOf(err) != refusal.Held || asks == nil || r.calls != 0 || r.sink.phases() != "held" {
		t.Fatalf("%v, %v; %d calls; recorded %s", asks, err, r.calls, r.sink.phases())
	}
	if strings.Contains(asks.State, "hi") {
		t.Error("the state tells of the arguments")
	}
	// The client may write the same arguments in another order.
	if _, err := r.through(t, outsider("one"), `{"n":1,"text":"hi"}`, Dialog{State: asks.State, Reply: Yes}); err != nil || r.calls != 1 {
		t.Errorf("%v; %d calls", err, r.calls)
	}
	if got := r.sink.phases(); got != "held decided finished" {
		t.Errorf("recorded %s", got)
	}
	first, second := r.sink.events[0], r.sink.events[1]
	if first.Rule != "elicit" || second.Rule != "elicit" || !second.Allow || !strings.Contains(second.Why, string(first.Request)) {
		t.Errorf("recorded %+v and %+v", first, second)
	}
	if _, err := r.through(t, outsider("one"), `{"text":"hi","n":1}`, Dialog{State: asks.State, Reply: Yes}); codeOf(err) != refusal.NotPermitted || r.calls != 1 {
		t.Errorf("a second time: %v; %d calls", err, r.calls)
	}
}

func TestAStateIsForTheCallThatWasAskedAbout(t *testing.T) {
	r, h := elicitRig(t)
	r.guard = guardFunc(func(_ Caller, _ *Verb, target Target) Decision {
		return Decision{Allow: true, Subject: Subject{Task: ident.Task("t-" + target.Task)}}
	})
	const arguments = `{"text":"hi"}`
	asked, err := r.through(t, outsider("one"), arguments, Dialog{})
	if asked == nil {
		t.Fatal(err)
	}
	state := asked.State
	other := "A" // a first character that the state does not begin with
	if state[0] == 'A' {
		other = "B"
	}
	inTask := outsider("one")
	inTask.Task = "t-own"
	for name, c := range map[string]struct {
		caller    Caller
		arguments string
		state     string
		change    func()
	}{
		"another caller":                   {outsider("two"), arguments, state, nil},
		"a caller that runs in a task":     {inTask, arguments, state, nil},
		"other arguments":                  {outsider("one"), `{"text":"ho"}`, state, nil},
		"more arguments":                   {outsider("one"), `{"text":"hi","n":1}`, state, nil},
		"altered at its beginning":         {outsider("one"), arguments, other + state[1:], nil},
		"altered at its end":               {outsider("one"), arguments, state[:len(state)-4] + "AAAA", nil},
		"cut":                              {outsider("one"), arguments, state[:len(state)-4], nil},
		"no state of ours":                 {outsider("one"), arguments, "x", nil},
		"the target is another one by now": {outsider("one"), arguments, state, func() { r.guard = allow }},
		"the client is not trusted by now": {outsider("one"), arguments, state, func() { h.trusts = func(string) bool { return false } }},
		"of another run of the app":        {outsider("one"), arguments, newConfirms().ask(Question{Call: Call{Caller: outsider("one")}, Verb: writeVerb.Verb()}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			guard := r.guard
			if c.change != nil {
				c.change()
			}
			defer func() { r.guard, h.trusts = guard, nil }()
			before := r.calls
			asks, err := r.through(t, c.caller, c.arguments, Dialog{State: c.state, Reply: Yes})
			if codeOf(err) != refusal.NotPermitted || asks != nil || r.calls != before {
				t.Errorf("%v, %v; %d calls", asks, err, r.calls-before)
			}
			if last := r.sink.events[len(r.sink.events)-1]; last.Allow || last.Rule != "elicit" || last.Why == "" {
				t.Errorf("recorded %+v", last)
			}
		})
	}
	if _, err := r.through(t, outsider("one"), arguments, Dialog{State: state, Reply: Yes}); err != nil { // the twin: none of these used it up
		t.Error(err)
	}
}

func TestOnlyAYesIsAYes(t *testing.T) {
	r, h := elicitRig(t)
	ask := func() string {
		asks, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{})
		if asks == nil {
			t.Fatal(err)
		}
		return asks.State
	}
	if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: ask(), Reply: No}); codeOf(err) != refusal.NotPermitted || r.calls != 0 {
		t.Errorf("a no: %v", err)
	}
	again, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: ask()})
	if codeOf(err) != refusal.Held || again == nil || r.calls != 0 {
		t.Errorf("no answer: %v, %v", again, err)
	}
	state := ask()
	h.policy = func() (bool, *refusal.Refusal) { return false, refusal.New(refusal.NotPermitted, "denied by now", "") }
	if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: state, Reply: Yes}); codeOf(err) != refusal.NotPermitted || r.calls != 0 {
		t.Errorf("denied meanwhile: %v", err)
	}
	h.policy = func() (bool, *refusal.Refusal) { return false, nil }
	if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: state, Reply: No}); codeOf(err) != refusal.NotPermitted || r.calls != 0 {
		t.Errorf("a no to what is allowed without asking by now: %v", err)
	}
	if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{}); err != nil || r.calls != 1 {
		t.Errorf("twin: %v", err)
	}
}

func TestACallerInATaskIsNeverAskedThroughItsClient(t *testing.T) {
	r, _ := elicitRig(t)
	caller := outsider("one")
	caller.Task = "t-own"
	if asks, err := r.through(t, caller, `{"text":"hi"}`, Dialog{}); asks != nil || codeOf(err) != refusal.Held {
		t.Errorf("%v, %v", asks, err)
	}
	cannot := Dialog{}
	if _, err := r.Dispatch(WithDialog(t.Context(), &cannot), outsider("one"), "test_write", json.RawMessage(`{"text":"hi"}`)); cannot.Asks != nil || codeOf(err) != refusal.Held {
		t.Errorf("a client that cannot ask: %v, %v", cannot.Asks, err)
	}
	if asks, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{}); asks == nil { // the twin
		t.Error(err)
	}
}

func TestAStateEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		want  refusal.Code
	}{"just in time": {confirmFor - time.Second, ""}, "too late": {confirmFor + time.Second, refusal.NotPermitted}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := elicitRig(t)
				asks, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{})
				if asks == nil {
					t.Fatal(err)
				}
				time.Sleep(c.after)
				if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: asks.State, Reply: Yes}); codeOf(err) != c.want {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestAGrantHasFewOpenQuestions(t *testing.T) {
	r, _ := elicitRig(t)
	var states []string
	for range maxConfirms + 1 {
		asks, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{})
		if asks == nil {
			t.Fatal(err)
		}
		states = append(states, asks.State)
	}
	other, err := r.through(t, outsider("two"), `{"text":"hi"}`, Dialog{}) // which takes nothing from the first
	if other == nil || len(r.confirms.open) != maxConfirms+1 {
		t.Fatalf("%d open, %v", len(r.confirms.open), err)
	}
	if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: states[0], Reply: Yes}); codeOf(err) != refusal.NotPermitted {
		t.Errorf("the one that was given up: %v", err)
	}
	for _, state := range states[1:] {
		if _, err := r.through(t, outsider("one"), `{"text":"hi"}`, Dialog{State: state, Reply: Yes}); err != nil {
			t.Errorf("twin: %v", err)
		}
	}
}
