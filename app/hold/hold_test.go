package hold

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"termic/app/store"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var known = Known{
	Verb:    func(name string) bool { return name == "task_send" || name == "task_archive" || name == "task_log" },
	Project: func(id ident.Project) bool { return id == "p-one" },
}

func newPolicy(t *testing.T, rules ...Rule) *Policy {
	t.Helper()
	s := openStore(t, filepath.Join(t.TempDir(), "data"))
	if err := rulesFile.Save(s, rules); err != nil {
		t.Fatal(err)
	}
	p, err := OpenPolicy(s, known)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func client(name string) registry.Call {
	return registry.Call{
		Caller:  registry.Caller{Way: registry.MCP, Scope: registry.Full, Grant: ident.Grant("g-" + name), Name: name},
		Subject: registry.Subject{Project: "p-one", Task: "t-target"},
	}
}

func byTask(id ident.Task) registry.Call {
	c := client("task")
	c.Caller.Task = id
	return c
}

func TestPolicy(t *testing.T) {
	send, archive := verbs.TaskSend.Verb(), verbs.TaskArchive.Verb()
	rule := func(holder, verb string, mode Mode) Rule { return Rule{Holder: holder, Verb: verb, Policy: mode} }
	for name, c := range map[string]struct {
		rules []Rule
		call  registry.Call
		verb  *registry.Verb
		want  Mode
	}{
		"a client's write":                           {nil, client("editor"), send, Allow},
		"a client's destructive call":                {nil, client("editor"), archive, Ask},
		"a task's destructive call":                  {nil, byTask("t-one"), archive, Allow},
		"the person's":                               {[]Rule{rule("cli", "task_archive", Denied)}, registry.Call{Caller: registry.Person(registry.CLI)}, archive, Allow},
		"asked about by rule":                        {[]Rule{rule("t-one", "task_send", Ask)}, byTask("t-one"), send, Ask},
		"another task's":                             {[]Rule{rule("t-one", "task_send", Ask)}, byTask("t-two"), send, Allow},
		"another verb":                               {[]Rule{rule("t-one", "task_send", Ask)}, byTask("t-one"), archive, Allow},
		"denied":                                     {[]Rule{rule("editor", "task_send", Denied)}, client("editor"), send, Denied},
		"denied and allowed":                         {[]Rule{rule("editor", "task_send", Allow), {Holder: "editor", Verb: "task_send", Project: "p-one", Policy: Denied}}, client("editor"), send, Denied},
		"allowed for good on this task":              {[]Rule{rule("editor", "task_send", Ask), {Holder: "editor", Verb: "task_send", Task: "t-target", Policy: Allow}}, client("editor"), send, Allow},
		"on another task":                            {[]Rule{rule("editor", "task_send", Ask), {Holder: "editor", Verb: "task_send", Task: "t-other", Policy: Allow}}, client("editor"), send, Ask},
		"a destructive one allowed":                  {[]Rule{rule("editor", "task_archive", Allow)}, client("editor"), archive, Allow},
		"a destructive one, for good but also asked": {[]Rule{rule("editor", "task_archive", Ask), {Holder: "editor", Verb: "task_archive", Task: "t-target", Policy: Allow}}, client("editor"), archive, Ask},
		"a rule with a project that is gone":         {[]Rule{{Holder: "editor", Verb: "task_send", Project: "p-gone", Policy: Allow}}, client("editor"), send, Denied},
		"it covers its verb only":                    {[]Rule{{Holder: "editor", Verb: "task_send", Project: "p-gone", Policy: Allow}}, client("editor"), archive, Ask},
		"a rule with a verb that is none":            {[]Rule{rule("editor", "task_sned", Ask)}, client("editor"), send, Denied},
		"it covers its caller only":                  {[]Rule{rule("editor", "task_sned", Ask)}, client("other"), send, Allow},
		"a policy that is none":                      {[]Rule{rule("editor", "task_send", "maybe")}, client("editor"), send, Denied},
	} {
		if got := newPolicy(t, c.rules...).Of(c.call, c.verb); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// asking puts one question and returns where its answer comes.
func asking(ctx context.Context, h *Holds, call registry.Call, verb *registry.Verb, digest string) <-chan *refusal.Refusal {
	answer := make(chan *refusal.Refusal, 1)
	go func() { answer <- h.Ask(ctx, registry.Question{Call: call, Verb: verb, Digest: digest}) }()
	return answer
}

// pending waits until n calls wait.
func pending(h *Holds, n int) []Pending {
	for {
		list, changed := h.Pending()
		if len(list) == n {
			return list
		}
		<-changed
	}
}

func codeOf(err error) refusal.Code {
	if no, ok := refusal.From(err); ok {
		return no.Code
	}
	return ""
}

func TestAnAnswerIsForTheCallThatWasShown(t *testing.T) {
	h := New(newPolicy(t), 0)
	result := asking(t.Context(), h, client("editor"), verbs.TaskArchive.Verb(), "digest-one")
	id := pending(h, 1)[0].ID
	for name, c := range map[string]struct {
		id, digest string
		answer     Answer
		code       refusal.Code
	}{
		"another call":                  {"h-other", "digest-one", Once, refusal.NotFound},
		"other arguments":               {id, "digest-two", Once, refusal.Conflict},
		"no answer":                     {id, "digest-one", "", refusal.BadInput},
		"always for a destructive verb": {id, "digest-one", Always, refusal.BadInput},
	} {
		if err := h.Answer(c.id, c.digest, c.answer); codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case no := <-result:
		t.Fatalf("it went on: %v", no)
	default:
	}
	if err := h.Answer(id, "digest-one", Once); err != nil {
		t.Fatal(err)
	}
	if no := <-result; no != nil {
		t.Errorf("%v", no)
	}
	if err := h.Answer(id, "digest-one", Once); codeOf(err) != refusal.NotFound {
		t.Errorf("a second answer: %v", err)
	}
}

func TestANoIsANo(t *testing.T) {
	h := New(newPolicy(t), 0)
	result := asking(t.Context(), h, client("editor"), verbs.TaskSend.Verb(), "d")
	if err := h.Answer(pending(h, 1)[0].ID, "d", Deny); err != nil {
		t.Fatal(err)
	}
	if no := <-result; no == nil || no.Code != refusal.NotPermitted {
		t.Errorf("%v", no)
	}
}

func TestAlwaysIsForThisCallerVerbTaskAndProject(t *testing.T) {
	p := newPolicy(t, Rule{Holder: "editor", Verb: "task_send", Policy: Ask})
	h := New(p, 0)
	result := asking(t.Context(), h, client("editor"), verbs.TaskSend.Verb(), "d")
	if err := h.Answer(pending(h, 1)[0].ID, "d", Always); err != nil {
		t.Fatal(err)
	}
	if no := <-result; no != nil {
		t.Fatalf("%v", no)
	}
	elsewhere := client("editor")
	elsewhere.Subject.Task = "t-elsewhere"
	for what, c := range map[string]struct {
		call registry.Call
		want bool
	}{"the same": {client("editor"), false}, "another task": {elsewhere, true}} {
		if ask, no := h.Policy(c.call, verbs.TaskSend.Verb()); ask != c.want || no != nil {
			t.Errorf("%s: asked %v, %v", what, ask, no)
		}
	}
	rules, _ := p.Rules()
	i := len(rules) - 1
	if err := p.Forget(rules[i].ID, true); err != nil {
		t.Fatal(err)
	}
	if ask, _ := h.Policy(client("editor"), verbs.TaskSend.Verb()); !ask {
		t.Error("not asked again after it was taken back")
	}
	if err := p.Forget(rules[0].ID, true); codeOf(err) != refusal.NotPermitted {
		t.Errorf("a restriction was taken away from the command line: %v", err)
	}
	if err := p.Forget(rules[0].ID, false); err != nil {
		t.Errorf("twin, at the window: %v", err)
	}
}

func TestThreeCallsOfAGrantMayWait(t *testing.T) {
	h := New(newPolicy(t), 0)
	ctx, cancel := context.WithCancel(t.Context())
	for range maxPending {
		asking(ctx, h, client("editor"), verbs.TaskSend.Verb(), "d")
	}
	pending(h, maxPending)
	if no := h.Ask(ctx, registry.Question{Call: client("editor"), Verb: verbs.TaskSend.Verb()}); no == nil || no.Code != refusal.Busy {
		t.Errorf("the fourth: %v", no)
	}
	other := asking(ctx, h, client("other"), verbs.TaskSend.Verb(), "d")
	pending(h, maxPending+1) // twin: another grant's
	cancel()
	if no := <-other; no == nil || no.Code != refusal.Cancelled {
		t.Errorf("given up: %v", no)
	}
	pending(h, 0)
}

func TestAWaitEndsByItself(t *testing.T) {
	policy := newPolicy(t)
	synctest.Test(t, func(t *testing.T) {
		h := New(policy, time.Minute)
		began := time.Now()
		no := h.Ask(t.Context(), registry.Question{Call: client("editor"), Verb: verbs.TaskArchive.Verb()})
		if no == nil || no.Code != refusal.Held || no.Remedy == "" || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", no, time.Since(began))
		}
		if list, _ := h.Pending(); len(list) != 0 {
			t.Errorf("still waits: %v", list)
		}
	})
}

func TestAWaitEndsWithTheGrant(t *testing.T) {
	h := New(newPolicy(t), 0)
	call := client("editor")
	ended := make(chan struct{})
	call.Ended = ended
	result := asking(t.Context(), h, call, verbs.TaskSend.Verb(), "d")
	pending(h, 1)
	close(ended)
	if no := <-result; no == nil || no.Code != refusal.Revoked {
		t.Errorf("%v", no)
	}
}

func TestRulesAreKeptAndBadOnesRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := OpenPolicy(s, known)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rule Rule
		ok   bool
	}{
		"a good one":           {Rule{Holder: "editor", Verb: "task_send", Policy: Ask}, true},
		"no caller":            {Rule{Verb: "task_send", Policy: Ask}, false},
		"no such verb":         {Rule{Holder: "editor", Verb: "x", Policy: Ask}, false},
		"no such project":      {Rule{Holder: "editor", Verb: "task_send", Project: "p-x", Policy: Ask}, false},
		"no such policy":       {Rule{Holder: "editor", Verb: "task_send", Policy: "x"}, false},
		"the good one, denied": {Rule{Holder: "editor", Verb: "task_log", Policy: Denied}, true},
	} {
		if err := p.Add(c.rule); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(s.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := OpenPolicy(openStore(t, dir), known)
	if err != nil {
		t.Fatal(err)
	}
	if rules, refused := again.Rules(); len(rules) != 2 || len(refused) != 0 {
		t.Errorf("%v %v", rules, refused)
	}
}
