package settle

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseStatus(t *testing.T) {
	long := strings.Repeat("QUFB", 684) // 2,052 bytes decoded
	tests := []struct {
		name, payload string
		want          report
		ok            bool
	}{
		{"a bare state is the root record", "state=idle:app=codex", report{state: "idle", app: "codex"}, true},
		{"a question with a message", "state=blocked:app=a:kind=question:msg=aGk=",
			report{state: "blocked", app: "a", kind: "question", message: "hi"}, true},
		{"control characters leave the message", "state=working:app=a:msg=G1szMW1hCmI=",
			report{state: "working", app: "a", message: "[31mab"}, true},
		{"an unknown key is skipped", "state=done:app=a:future=1", report{state: "done", app: "a"}, true},
		{"a child record", "state=clear:id=x", report{state: "clear", id: "x"}, true},
		{"the query is no report", "?", report{}, false},
		{"nothing is no report", "", report{}, false},
		{"no state", "app=a", report{}, false},
		{"an unknown state", "state=busy:app=a", report{}, false},
		{"a key twice", "state=idle:state=working:app=a", report{}, false},
		{"a field without a value sign", "state=idle:app", report{}, false},
		{"a message that is not base64", "state=idle:app=a:msg=%%", report{}, false},
		{"a message over its limit", "state=idle:app=a:msg=" + long, report{}, false},
		{"an empty id", "state=idle:app=a:id=", report{}, false},
		{"a report at the limit", "state=idle:app=a:x=" + strings.Repeat("y", maxStatus-19), report{state: "idle", app: "a"}, true},
		{"a report over the limit", "state=idle:app=a:x=" + strings.Repeat("y", maxStatus-18), report{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := parseStatus(test.payload)
			if ok != test.ok || (ok && got != test.want) {
				t.Errorf("parseStatus(%.60q) = %+v, %v; want %+v, %v", test.payload, got, ok, test.want, test.ok)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("state=blocked:app=claude-code:kind=permission:msg=YXBwcm92ZQ==")
	f.Add("state=clear:id=x")
	f.Fuzz(func(t *testing.T, payload string) {
		r, ok := parseStatus(payload)
		if !ok {
			return
		}
		if len(r.id) > maxID || len([]rune(r.message)) > 200 || strings.ContainsAny(r.message, "\x1b\n\x07\u009b") {
			t.Errorf("parseStatus(%q) = %+v", payload, r)
		}
	})
}

// TestChildrenAreBounded: more records than are kept count as work until everything is cleared.
func TestChildrenAreBounded(t *testing.T) {
	m := New(Rules{App: "a"})
	at := epoch
	say := func(payload string) {
		at = at.Add(time.Second)
		m.Observe(Observation{At: at, Kind: KindStatus, Text: payload})
	}
	for i := range maxChildren + 50 {
		say("state=working:app=a:id=" + strings.Repeat("x", i%60) + string(rune('a'+i/60)))
	}
	if n := len(m.children); n != maxChildren {
		t.Fatalf("%d records kept, want %d", n, maxChildren)
	}
	for id := range m.children {
		say("state=clear:id=" + id)
	}
	say("state=done:app=a")
	m.Observe(Observation{At: at.Add(time.Minute)})
	if state, _, _ := m.State(); state != Working {
		t.Errorf("state %s while records that were not kept may still run", state)
	}
	say("state=clear")
	say("state=idle:app=a")
	m.Observe(Observation{At: at.Add(time.Minute)})
	if state, _, _ := m.State(); state != Idle {
		t.Errorf("state %s after a clear of all", state)
	}
}

func TestWaitSaysWhatIsAsked(t *testing.T) {
	m := New(Rules{App: "a"})
	m.Observe(Observation{At: epoch, Kind: KindStatus, Text: "state=blocked:app=a:kind=question:msg=aGk="})
	if got, want := m.Wait(), (Wait{Kind: "question", Message: "hi"}); got != want {
		t.Errorf("Wait() = %+v, want %+v", got, want)
	}
	m.Observe(Observation{At: epoch, Kind: KindStatus, Text: "state=working:app=a"})
	if got := m.Wait(); got != (Wait{}) {
		t.Errorf("Wait() = %+v while it works", got)
	}
}

func TestZeroMachineIsUnknownAndNeverSettles(t *testing.T) {
	var m Machine
	if state, by, _ := m.State(); state != Unknown || by != None {
		t.Errorf("zero machine: %s by %s", state, by)
	}
	if ok, _, _ := m.Settled(); ok {
		t.Error("zero machine is settled")
	}
	m.Observe(Observation{Kind: KindStatus, Text: "state=done:app=a:id=x"})
	if ok, _, _ := m.Settled(); ok {
		t.Error("zero machine settled by a report")
	}
}

func TestRulesRoundTripThroughJSON(t *testing.T) {
	const text = `{"titles":{"working":["^w"],"waiting":["^a"],"idle":["^i"],"ready":["^r"]},"screen":{"idle":["box"]},"app":"x","progress":true,` +
		`"marks":true,"foreground":true,"quiet":"2s","hold":"300ms","unanswered":"5s","rank":["osc","title"]}`
	r := rulesOf(t, text)
	out, err := json.Marshal(r)
	if err != nil || string(out) != text {
		t.Errorf("got %s, %v\nwant %s", out, err, text)
	}
	for i := range reflect.TypeFor[Rules]().NumField() {
		if reflect.ValueOf(r).Field(i).IsZero() {
			t.Errorf("field %s is not in the round trip", reflect.TypeFor[Rules]().Field(i).Name)
		}
	}
	if out, err := json.Marshal(Rules{}); err != nil || string(out) != "{}" {
		t.Errorf("zero rules: %s, %v", out, err)
	}
}

func TestRulesRefuseFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a pattern that does not compile", `{"titles":{"idle":["("]}}`, "pattern"},
		{"an empty pattern", `{"titles":{"idle":[""]}}`, "pattern of 0 bytes"},
		{"a pattern over its limit", `{"titles":{"idle":["` + strings.Repeat("x", maxPattern+1) + `"]}}`, "pattern of 257 bytes"},
		{"too many patterns", `{"titles":{"idle":["x"` + strings.Repeat(`,"x"`, maxPatterns) + `]}}`, "at most 32"},
		{"a negative time", `{"quiet":"-1s"}`, "quiet: -1s"},
		{"a time over the limit", `{"hold":"11m"}`, "hold: 11m0s"},
		{"a time that is none", `{"quiet":"soon"}`, "duration"},
		{"an unknown signal", `{"rank":["smell"]}`, "smell"},
		{"no signal as a rank", `{"rank":["none"]}`, "no signal"},
		{"a signal twice", `{"rank":["osc","osc"]}`, "twice"},
		{"a long app", `{"app":"` + strings.Repeat("a", maxApp+1) + `"}`, "app: 65 bytes"},
		{"twin: all at their limits", `{"titles":{"idle":["` + strings.Repeat("x", maxPattern) + `"]},"quiet":"10m","hold":"10m",` +
			`"app":"` + strings.Repeat("a", maxApp) + `"}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r Rules
			err := json.Unmarshal([]byte(test.text), &r)
			if err == nil {
				err = r.Validate()
			}
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for s := Unknown; s <= Exited; s++ {
		var got State
		if err := got.UnmarshalText([]byte(s.String())); err != nil || got != s {
			t.Errorf("state %d: %v, %v", s, got, err)
		}
	}
	for s := None; s <= Quiet; s++ {
		var got Signal
		if err := got.UnmarshalText([]byte(s.String())); err != nil || got != s {
			t.Errorf("signal %d: %v, %v", s, got, err)
		}
		if guess := s == Title || s == Screen || s == Quiet; s.Guess() != guess {
			t.Errorf("%s: guess %v", s, s.Guess())
		}
	}
	if err := new(State).UnmarshalText([]byte("asleep")); err == nil {
		t.Error("an unknown state is read")
	}
	if State(99).String() != "unknown" || Signal(-1).String() != "none" {
		t.Error("a value out of range has a name of its own")
	}
}
