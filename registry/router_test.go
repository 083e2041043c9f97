package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"termic/registry/ident"
	"termic/registry/refusal"
)

type echoIn struct {
	Text string   `json:"text" min:"1" max:"10" jsonschema:"what to say"`
	Kind string   `json:"kind,omitempty" enum:"a,b" jsonschema:"which kind"`
	N    int      `json:"n,omitempty" min:"0" max:"9" jsonschema:"how often"`
	Low  int      `json:"low,omitempty" min:"-9" max:"-1" jsonschema:"a number below zero"`
	List []string `json:"list,omitempty" max:"2" jsonschema:"more of it"`
	Key  string   `json:"key,omitempty" jsonschema:"repeat key"`
}

func (in echoIn) RepeatKey() string { return in.Key }
func (in echoIn) Target() Target    { return Target{Task: in.Text} }

type echoOut struct {
	Said  string   `json:"said" max:"20" jsonschema:"what was said"`
	Parts []string `json:"parts" jsonschema:"its parts"`
}

// The test's verbs: one of each class.
var (
	readVerb   = Define[echoIn, echoOut](testVerb("test_read", Read))
	writeVerb  = Define[echoIn, echoOut](testVerb("test_write", Write))
	undoneVerb = Define[echoIn, echoOut](func() Verb { v := testVerb("test_undone", Write); v.Undone = true; return v }())
	stopVerb   = Define[echoIn, echoOut](func() Verb { v := testVerb("test_stop", Write); v.Always = true; return v }())
)

func testVerb(name string, class Class) Verb {
	return Verb{
		Name: name, Summary: "say it", Doc: "Says it.", Class: class, Scope: Scoped,
		Audience: ForCLI | ForFull | ForScoped, Reach: ReachSelf,
	}
}

// guardFunc is a guard in one function. A test that sets none gets one that denies.
type guardFunc func(Caller, *Verb, Target) Decision

func (g guardFunc) Check(_ context.Context, c Caller, v *Verb, t Target) Decision {
	if g == nil {
		return Decision{}
	}
	return g(c, v, t)
}

var allow = guardFunc(func(Caller, *Verb, Target) Decision { return Decision{Allow: true, Why: "test"} })

// memorySink keeps events in memory, or fails.
type memorySink struct {
	mu     sync.Mutex
	fail   error
	events []Event
}

func (m *memorySink) Record(_ context.Context, e Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.events = append(m.events, e)
	return nil
}

func (m *memorySink) phases() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for _, e := range m.events {
		list = append(list, string(e.Phase))
	}
	return strings.Join(list, " ")
}

// rig is a router over the test's verbs, all bound to one handler.
type rig struct {
	*Router
	sink  *memorySink
	calls int
}

func newRig(t *testing.T, guard Guard, handle Handler[echoIn, echoOut]) *rig {
	t.Helper()
	r := &rig{sink: &memorySink{}}
	r.Router = NewRouter(guard, r.sink, slog.New(slog.DiscardHandler), readVerb.Verb(), writeVerb.Verb(), stopVerb.Verb(), undoneVerb.Verb())
	if handle == nil {
		handle = func(_ context.Context, _ Call, in echoIn) (echoOut, error) { return echoOut{Said: in.Text}, nil }
	}
	counted := func(ctx context.Context, call Call, in echoIn) (echoOut, error) {
		r.calls++
		return handle(ctx, call, in)
	}
	Bind(r.Router, readVerb, counted)
	Bind(r.Router, writeVerb, counted)
	Bind(r.Router, stopVerb, counted)
	Bind(r.Router, undoneVerb, counted)
	return r
}

var person = Person(CLI)

func codeOf(err error) refusal.Code {
	if no, ok := refusal.From(err); ok {
		return no.Code
	}
	return ""
}

func TestDispatchRunsTheHandlerAndRecordsBothPhases(t *testing.T) {
	r := newRig(t, allow, nil)
	raw, err := r.Dispatch(t.Context(), person, "test_write", json.RawMessage(`{"text":"hi"}`))
	if err != nil || string(raw) != `{"said":"hi","parts":[]}` {
		t.Errorf("result %s, %v", raw, err)
	}
	if got := r.sink.phases(); got != "decided finished" {
		t.Errorf("recorded %q", got)
	}
}

func TestTheDecisionIsRecordedBeforeTheHandlerRuns(t *testing.T) {
	var r *rig
	r = newRig(t, allow, func(context.Context, Call, echoIn) (echoOut, error) {
		if got := r.sink.phases(); got != "decided" {
			t.Errorf("recorded %q when the handler began", got)
		}
		return echoOut{}, nil
	})
	if _, err := r.Dispatch(t.Context(), person, "test_write", json.RawMessage(`{"text":"hi"}`)); err != nil {
		t.Error(err)
	}
}

func TestDispatchDecodesStrictly(t *testing.T) {
	for name, c := range map[string]struct {
		raw string
		ok  bool
	}{
		"all members":                  {`{"text":"hi","kind":"a","n":3,"list":["x","y"]}`, true},
		"surrounding white space":      {" \n{\"text\":\"hi\"} ", true},
		"nothing for a required one":   {``, false},
		"null":                         {`null`, false},
		"an array":                     {`[]`, false},
		"no required member":           {`{}`, false},
		"an unknown member":            {`{"text":"hi","also":1}`, false},
		"a member in another case":     {`{"Text":"hi"}`, false},
		"a member twice":               {`{"text":"hi","text":"ho"}`, false},
		"the wrong type":               {`{"text":1}`, false},
		"null for a string":            {`{"text":null}`, false},
		"a value outside the enum":     {`{"text":"hi","kind":"c"}`, false},
		"the longest text":             {`{"text":"0123456789"}`, true},
		"a text one too long":          {`{"text":"0123456789a"}`, false},
		"an empty text":                {`{"text":""}`, false},
		"the largest number":           {`{"text":"hi","n":9}`, true},
		"a number one too large":       {`{"text":"hi","n":10}`, false},
		"a negative number":            {`{"text":"hi","n":-1}`, false},
		"a fraction":                   {`{"text":"hi","n":1.5}`, false},
		"a huge number":                {`{"text":"hi","n":1e999}`, false},
		"a list one too long":          {`{"text":"hi","list":["x","y","z"]}`, false},
		"something after the value":    {`{"text":"hi"}{}`, false},
		"invalid UTF-8":                {"{\"text\":\"\xff\"}", false},
		"a lone surrogate":             {`{"text":"\ud800"}`, false},
		"nesting deeper than anything": {`{"text":"hi","list":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, false},
		"nesting that would be costly": {strings.Repeat("[", 1<<20), false},
		"half a value":                 {`{"text":"hi"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, allow, nil)
			_, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(c.raw))
			if c.ok != (err == nil) {
				t.Fatalf("%s: %v", c.raw, err)
			}
			if !c.ok && (codeOf(err) != refusal.BadInput || r.calls != 0) {
				t.Errorf("code %q after %d calls of the handler", codeOf(err), r.calls)
			}
		})
	}
}

func TestWhoGivesAWrongArgumentIsToldWhereToLook(t *testing.T) {
	r := newRig(t, allow, nil)
	typed := writeVerb.Verb()
	typed.CLI.Path = "say"
	t.Cleanup(func() { typed.CLI.Path = "" })
	for name, c := range map[string]struct {
		caller Caller
		verb   string
		want   string
	}{
		"at the command line":                {person, "test_write", "see: termic say --help"},
		"at the command line, of no command": {person, "test_read", "see the description of test_read"},
		"through MCP":                        {Caller{Way: MCP, Scope: Full}, "test_write", "see the description of test_write"},
	} {
		_, err := r.Dispatch(t.Context(), c.caller, c.verb, []byte(`{"nothing":1}`))
		if no, ok := refusal.From(err); !ok || no.Remedy != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoMayCall(t *testing.T) {
	for name, c := range map[string]struct {
		caller Caller
		verb   string
		ok     bool
	}{
		"the person at the window":   {Person(Window), "test_write", true},
		"the person at the CLI":      {Person(CLI), "test_write", true},
		"a full grant":               {Caller{Way: MCP, Scope: Full, Ceiling: Destructive}, "test_write", true},
		"a scoped grant":             {Caller{Way: MCP, Scope: Scoped, Ceiling: Write}, "test_write", true},
		"nobody":                     {Caller{}, "test_read", false},
		"no scope":                   {Caller{Way: MCP, Ceiling: Destructive}, "test_read", false},
		"no way in":                  {Caller{Scope: Full, Ceiling: Destructive}, "test_read", false},
		"a verb that does not exist": {Person(CLI), "test_missing", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, allow, nil)
			_, err := r.Dispatch(t.Context(), c.caller, c.verb, json.RawMessage(`{"text":"hi"}`))
			if c.ok != (err == nil) || !c.ok && codeOf(err) != refusal.UnknownVerb {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAGuardThatSaysNothingDenies(t *testing.T) {
	r := newRig(t, guardFunc(nil), nil)
	_, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"hi"}`))
	if codeOf(err) != refusal.NotPermitted || r.calls != 0 {
		t.Errorf("%v after %d calls of the handler", err, r.calls)
	}
	if r.sink.phases() != "decided" || r.sink.events[0].Allow {
		t.Errorf("the refusal was not recorded as one: %+v", r.sink.events)
	}
}

func TestTheTrueReasonStaysInTheAuditLog(t *testing.T) {
	guard := guardFunc(func(Caller, *Verb, Target) Decision {
		return Decision{Refusal: refusal.New(refusal.NotFound, "no such task", ""), Why: "it is another's"}
	})
	r := newRig(t, guard, nil)
	_, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"hi"}`))
	if text := err.Error(); strings.Contains(text, "another") {
		t.Errorf("the caller was told %q", text)
	}
	if r.sink.events[0].Why != "it is another's" {
		t.Errorf("recorded %q", r.sink.events[0].Why)
	}
}

func TestHandlersGetWhatTheGuardFound(t *testing.T) {
	guard := guardFunc(func(_ Caller, _ *Verb, target Target) Decision {
		return Decision{Allow: true, Subject: Subject{Task: ident.Task("found " + target.Task)}}
	})
	r := newRig(t, guard, func(_ context.Context, call Call, _ echoIn) (echoOut, error) {
		return echoOut{Said: string(call.Subject.Task)}, nil
	})
	raw, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"it"}`))
	if err != nil || !strings.Contains(string(raw), "found it") {
		t.Errorf("%s, %v", raw, err)
	}
	if got := r.sink.events[0].Subject.Task; got != "found it" {
		t.Errorf("recorded subject %q", got)
	}
}

func TestWithoutAnAuditLogOnlyWhatTakesPowerAwayRuns(t *testing.T) {
	for verb, runs := range map[string]bool{"test_read": false, "test_write": false, "test_stop": true} {
		r := newRig(t, allow, nil)
		r.sink.fail = errors.New("disk full")
		_, err := r.Dispatch(t.Context(), person, verb, json.RawMessage(`{"text":"hi"}`))
		if runs != (err == nil) || runs != (r.calls == 1) || !runs && codeOf(err) != refusal.StorageFailed {
			t.Errorf("%s: %v after %d calls of the handler", verb, err, r.calls)
		}
	}
}

func TestErrorsOfHandlersAreRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		handle Handler[echoIn, echoOut]
		want   refusal.Code
	}{
		"a refusal stays": {func(context.Context, Call, echoIn) (echoOut, error) {
			return echoOut{}, refusal.New(refusal.Conflict, "taken", "")
		}, refusal.Conflict},
		"another error is internal": {func(context.Context, Call, echoIn) (echoOut, error) {
			return echoOut{}, errors.New("open /home/someone/secret: denied")
		}, refusal.Internal},
		"a panic is internal": {func(context.Context, Call, echoIn) (echoOut, error) {
			panic("/home/someone/secret")
		}, refusal.Internal},
		"a result that breaks its schema is internal": {func(context.Context, Call, echoIn) (echoOut, error) {
			return echoOut{Said: strings.Repeat("/home/someone/secret", 2)}, nil
		}, refusal.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, allow, c.handle)
			_, err := r.Dispatch(t.Context(), person, "test_write", json.RawMessage(`{"text":"hi"}`))
			no, ok := refusal.From(err)
			if !ok || no.Code != c.want {
				t.Fatalf("%v", err)
			}
			if shown, _ := json.Marshal(no); strings.Contains(string(shown)+no.Error(), "secret") {
				t.Errorf("the caller was shown %s", shown)
			}
			if no.Request == "" {
				t.Error("the refusal names no request")
			}
			if last := r.sink.events[len(r.sink.events)-1]; last.Phase != Finished || last.Code != c.want || string(last.Request) != no.Request {
				t.Errorf("recorded %+v", last)
			}
		})
	}
}

func TestABegunWriteIsFinishedWhenItsCallerGoes(t *testing.T) {
	for verb, survives := range map[string]bool{"test_write": true, "test_read": false, "test_undone": false} {
		ctx, cancel := context.WithCancel(t.Context())
		r := newRig(t, allow, func(ctx context.Context, _ Call, _ echoIn) (echoOut, error) {
			cancel()
			if err := ctx.Err(); err != nil {
				return echoOut{}, err
			}
			return echoOut{Said: "finished"}, nil
		})
		raw, err := r.Dispatch(ctx, person, verb, json.RawMessage(`{"text":"hi"}`))
		if survives && err != nil || !survives && codeOf(err) != refusal.Cancelled {
			t.Errorf("%s: %s, %v", verb, raw, err)
		}
		if r.sink.phases() != "decided finished" {
			t.Errorf("%s: recorded %q", verb, r.sink.phases())
		}
	}
}

func TestAWriteThatHasNotBegunIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newRig(t, allow, nil)
	_, err := r.Dispatch(ctx, person, "test_write", json.RawMessage(`{"text":"hi"}`))
	if codeOf(err) != refusal.Cancelled || r.calls != 0 {
		t.Errorf("%v after %d calls of the handler", err, r.calls)
	}
}

func TestReadsEndWithTheGrant(t *testing.T) {
	ended := make(chan struct{})
	guard := guardFunc(func(Caller, *Verb, Target) Decision { return Decision{Allow: true, Ended: ended} })
	r := newRig(t, guard, func(ctx context.Context, _ Call, _ echoIn) (echoOut, error) {
		close(ended)
		<-ctx.Done()
		return echoOut{}, ctx.Err()
	})
	_, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"hi"}`))
	if codeOf(err) != refusal.Revoked {
		t.Errorf("%v", err)
	}
}

func TestResultsPassThroughTheRedactor(t *testing.T) {
	for name, c := range map[string]struct {
		redact func([]byte) []byte
		want   string
	}{
		"with one":    {func(p []byte) []byte { return bytes.ReplaceAll(p, []byte("secret"), []byte("[gone]")) }, "[gone]"},
		"without one": {nil, "secret"},
	} {
		r := newRig(t, allow, nil)
		if c.redact != nil {
			r.RedactWith(c.redact)
		}
		raw, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"secret"}`))
		if err != nil || !strings.Contains(string(raw), c.want) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}

func TestUnboundVerbsAreNamed(t *testing.T) {
	r := NewRouter(allow, &memorySink{}, slog.New(slog.DiscardHandler), readVerb.Verb(), writeVerb.Verb())
	if got := strings.Join(r.Unbound(), " "); got != "test_read test_write" {
		t.Errorf("Unbound() = %q", got)
	}
	if _, err := r.Dispatch(t.Context(), person, "test_read", json.RawMessage(`{"text":"hi"}`)); codeOf(err) != refusal.Internal {
		t.Errorf("%v", err)
	}
}

func TestDefineRefusesVerbsThatContradictThemselves(t *testing.T) {
	for name, spoil := range map[string]func(*Verb){
		"no class":                           func(v *Verb) { v.Class = ClassNone },
		"no reach":                           func(v *Verb) { v.Reach = ReachUnset },
		"no scope":                           func(v *Verb) { v.Scope = ScopeNone },
		"scoped, but not for scoped callers": func(v *Verb) { v.Audience = ForCLI },
		"full, but for scoped callers":       func(v *Verb) { v.Scope = Full },
		"a name in capitals":                 func(v *Verb) { v.Name = "TaskNew" },
		"no doc":                             func(v *Verb) { v.Doc = "" },
		"a command, but not for the CLI": func(v *Verb) {
			v.Audience, v.CLI.Path = ForFull|ForScoped, "say"
		},
	} {
		t.Run(name, func(t *testing.T) {
			verb := testVerb("test_spoilt", Read)
			spoil(&verb)
			defer func() {
				if recover() == nil {
					t.Error("defined all the same")
				}
			}()
			Define[echoIn, echoOut](verb)
		})
	}
}

func FuzzDispatchNeverPanicsAndAlwaysAnswersTyped(f *testing.F) {
	f.Add(`{"text":"hi"}`)
	f.Add(`{"text":"hi","list":[["x"]]}`)
	f.Add("\xff{")
	f.Fuzz(func(t *testing.T, raw string) {
		r := newRig(t, allow, nil)
		result, err := r.Dispatch(t.Context(), person, "test_write", json.RawMessage(raw))
		if err != nil {
			if code := codeOf(err); code != refusal.BadInput {
				t.Errorf("%q: code %q", raw, code)
			}
			return
		}
		if !json.Valid(result) {
			t.Errorf("%q: result %q", raw, result)
		}
	})
}
