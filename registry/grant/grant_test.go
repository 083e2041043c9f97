package grant

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

func fullGrant(task ident.Task) Grant {
	return Grant{Task: task, Scope: registry.Full, Ceiling: registry.Destructive, Channel: HostPort, Name: "test"}
}

func TestATokenIsItsGrantUntilItIsRevoked(t *testing.T) {
	book := NewBook()
	token, id := book.Issue(fullGrant("t-one"))
	caller, ok := book.Caller(HostPort, token)
	if !ok || caller.Grant != id || caller.Task != "t-one" || caller.Way != registry.MCP || caller.Scope != registry.Full {
		t.Fatalf("Caller = %+v, %v", caller, ok)
	}
	_, ended, _ := book.Get(id)
	if n := book.Revoke(func(g Grant) bool { return g.Task == "t-one" }); n != 1 {
		t.Errorf("%d revoked", n)
	}
	select {
	case <-ended:
	default:
		t.Error("the grant's end was not told")
	}
	if caller, ok := book.Caller(HostPort, token); ok {
		t.Errorf("still accepted: %+v", caller)
	}
}

func TestTokensThatAreNoneAllGetTheSameAnswer(t *testing.T) {
	book := NewBook()
	live, _ := book.Issue(fullGrant("t-live"))
	dead, _ := book.Issue(fullGrant("t-dead"))
	book.Revoke(func(g Grant) bool { return g.Task == "t-dead" })
	for name, c := range map[string]struct {
		channel Channel
		token   string
		ok      bool
	}{
		"the live one":          {HostPort, live, true},
		"absent":                {HostPort, "", false},
		"malformed":             {HostPort, "Bearer x", false},
		"unknown":               {HostPort, NewToken(), false},
		"revoked":               {HostPort, dead, false},
		"cut short":             {HostPort, live[:len(live)-1], false},
		"longer":                {HostPort, live + "A", false},
		"in another case":       {HostPort, strings.ToUpper(live), false},
		"on another's channel":  {OwnCage, live, false},
		"on no channel":         {ChannelNone, live, false},
		"a null byte behind it": {HostPort, live + "\x00", false},
	} {
		caller, ok := book.Caller(c.channel, c.token)
		if ok != c.ok || !ok && caller != (registry.Caller{}) {
			t.Errorf("%s: %+v, %v", name, caller, ok)
		}
		if digests, comparisons := workOf(book, c.channel, c.token); digests != 1 || comparisons != 1 {
			t.Errorf("%s cost %d digests and %d comparisons, want one of each", name, digests, comparisons)
		}
	}
}

// workOf returns how many digests and comparisons a token costs.
func workOf(book *Book, channel Channel, token string) (digests, comparisons int) {
	sum, same := book.sum, book.same
	defer func() { book.sum, book.same = sum, same }()
	book.sum = func(text []byte) [sha256.Size]byte { digests++; return sum(text) }
	book.same = func(x, y []byte) int {
		if len(x) == sha256.Size && len(y) == sha256.Size { // else it is not all that is compared
			comparisons++
		}
		return same(x, y)
	}
	_, _ = book.Caller(channel, token)
	return digests, comparisons
}

func TestAGrantWithoutAScopeReachesNothing(t *testing.T) {
	book := NewBook()
	token, _ := book.Issue(Grant{Channel: HostPort})
	if _, ok := book.Caller(HostPort, token); ok {
		t.Error("accepted")
	}
	if _, _, ok := book.Get(""); ok {
		t.Error("the empty id names a grant")
	}
}

func TestTheBookHoldsNoToken(t *testing.T) {
	book := NewBook()
	token, id := book.Issue(fullGrant("t-one"))
	grant, _, _ := book.Get(id)
	var dump bytes.Buffer
	for sum, e := range book.grants {
		dump.Write(sum[:])
		dump.WriteString(e.grant.Name + string(e.grant.ID) + string(e.grant.Task))
	}
	dump.WriteString(grant.Name)
	if bytes.Contains(dump.Bytes(), []byte(token)) {
		t.Error("a token is kept")
	}
}

func TestRedactTakesOutLiveTokensOnly(t *testing.T) {
	book := NewBook()
	live, _ := book.Issue(fullGrant("t-one"))
	secret := NewToken()
	book.Keep(secret)
	other := NewToken()
	text := "a " + live + " b " + other + " c " + secret + " d termic_short"
	got := string(book.Redact([]byte(text)))
	want := "a " + Redacted + " b " + other + " c " + Redacted + " d termic_short"
	if got != want {
		t.Errorf("Redact = %q, want %q", got, want)
	}
}

// testWorld is a small model: two projects, three tasks.
type testWorld struct{}

func (testWorld) Projects() []Project {
	return []Project{{"p-shop", "shop"}, {"p-lib", "lib"}}
}

func (testWorld) Support(capability.Mode) capability.Support { return capability.Support{} }

func (testWorld) Tasks() []Task {
	return []Task{
		{ID: "t-aa", Name: "fix", Project: "p-shop", Tabs: []Tab{{ID: "b-1", Name: "shell"}, {ID: "b-2", Name: "claude", Agent: true}, {ID: "b-3", Name: "shell-2"}}},
		{ID: "t-ab", Name: "fix", Project: "p-lib", Tabs: []Tab{{ID: "b-4", Name: "shell"}}},
		{ID: "t-ac", Name: "fix-more", Project: "p-lib"},
		{ID: "t-ad", Name: "old", Project: "p-shop", Archived: true},
	}
}

func TestTheGuardFindsWhatASelectorMeans(t *testing.T) {
	guard := NewGuard(NewBook(), testWorld{})
	for name, c := range map[string]struct {
		target registry.Target
		want   registry.Subject
		code   refusal.Code
	}{
		"an id":                           {registry.Target{Task: "t-aa"}, registry.Subject{Task: "t-aa", Project: "p-shop"}, ""},
		"a name in two projects":          {registry.Target{Task: "fix"}, registry.Subject{}, refusal.Ambiguous},
		"a name with its project":         {registry.Target{Task: "lib/fix"}, registry.Subject{Task: "t-ab", Project: "p-lib"}, ""},
		"a prefix that only one has":      {registry.Target{Task: "fix-"}, registry.Subject{Task: "t-ac", Project: "p-lib"}, ""},
		"a prefix of an id":               {registry.Target{Task: "t-ac"}, registry.Subject{Task: "t-ac", Project: "p-lib"}, ""},
		"no such task":                    {registry.Target{Task: "none"}, registry.Subject{}, refusal.NotFound},
		"an archived task":                {registry.Target{Task: "old"}, registry.Subject{}, refusal.NotFound},
		"an archived task, asked for":     {registry.Target{Task: "old", Tasks: registry.ArchivedTasks}, registry.Subject{Task: "t-ad", Project: "p-shop"}, ""},
		"an archived task among all":      {registry.Target{Task: "old", Tasks: registry.AllTasks}, registry.Subject{Task: "t-ad", Project: "p-shop"}, ""},
		"the main tab is an agent's":      {registry.Target{Task: "t-aa", MainTab: true}, registry.Subject{Task: "t-aa", Project: "p-shop", Tab: "b-2"}, ""},
		"else the first":                  {registry.Target{Task: "t-ab", MainTab: true}, registry.Subject{Task: "t-ab", Project: "p-lib", Tab: "b-4"}, ""},
		"no tab at all":                   {registry.Target{Task: "t-ac", MainTab: true}, registry.Subject{Task: "t-ac", Project: "p-lib"}, refusal.NotFound},
		"a tab by name":                   {registry.Target{Task: "t-aa", Tab: "shell"}, registry.Subject{Task: "t-aa", Project: "p-shop", Tab: "b-1"}, ""},
		"another task's tab":              {registry.Target{Task: "t-aa", Tab: "b-4"}, registry.Subject{Task: "t-aa", Project: "p-shop"}, refusal.NotFound},
		"a project":                       {registry.Target{Project: "sh"}, registry.Subject{Project: "p-shop"}, ""},
		"a new task without its project":  {registry.Target{Child: &registry.Wish{}}, registry.Subject{}, refusal.BadInput},
		"further projects":                {registry.Target{Project: "shop", Projects: []string{"lib"}}, registry.Subject{Project: "p-shop", Projects: []ident.Project{"p-lib"}}, ""},
		"a further project that is none":  {registry.Target{Project: "shop", Projects: []string{"x"}}, registry.Subject{}, refusal.NotFound},
		"the own task of one without one": {registry.Target{OwnTask: true}, registry.Subject{}, refusal.BadInput},
	} {
		t.Run(name, func(t *testing.T) {
			got := guard.Check(context.Background(), registry.Person(registry.CLI), verbs.TaskStatus.Verb(), c.target)
			if got.Allow != (c.code == "") {
				t.Fatalf("%+v", got)
			}
			if !got.Allow {
				if got.Refusal.Code != c.code {
					t.Errorf("code %q, want %q", got.Refusal.Code, c.code)
				}
				return
			}
			if got.Subject.Task != c.want.Task || got.Subject.Tab != c.want.Tab || got.Subject.Project != c.want.Project || len(got.Subject.Projects) != len(c.want.Projects) {
				t.Errorf("found %+v, want %+v", got.Subject, c.want)
			}
		})
	}
}

func TestATasksOwnAgentMayLeaveItsTaskAndProjectOut(t *testing.T) {
	book := NewBook()
	guard := NewGuard(book, testWorld{})
	token, _ := book.Issue(fullGrant("t-ac"))
	caller, _ := book.Caller(HostPort, token)
	own := guard.Check(context.Background(), caller, verbs.TaskStatus.Verb(), registry.Target{OwnTask: true})
	if !own.Allow || own.Subject.Task != "t-ac" || own.Ended == nil {
		t.Errorf("own task: %+v", own)
	}
	child := guard.Check(context.Background(), caller, verbs.TaskNew.Verb(), registry.Target{Child: &registry.Wish{}})
	if !child.Allow || child.Subject.Project != "p-lib" {
		t.Errorf("new task: %+v", child)
	}
}

func TestTheGuardRefuses(t *testing.T) {
	book := NewBook()
	guard := NewGuard(book, testWorld{})
	token, id := book.Issue(fullGrant("t-aa"))
	live, _ := book.Caller(HostPort, token)
	revoked := live
	revoked.Grant = ident.NewGrant()
	scoped := live
	scoped.Scope = registry.Scoped
	low, _ := book.Issue(Grant{Task: "t-aa", Scope: registry.Full, Ceiling: registry.Write, Channel: HostPort})
	lower, _ := book.Caller(HostPort, low)
	higher := lower
	higher.Ceiling = registry.Destructive
	for name, c := range map[string]struct {
		caller registry.Caller
		target registry.Target
		code   refusal.Code
	}{
		"nobody's call":                         {registry.Caller{}, registry.Target{}, refusal.NotPermitted},
		"MCP without a grant":                   {registry.Caller{Way: registry.MCP, Scope: registry.Full}, registry.Target{}, refusal.NotPermitted},
		"a grant that has ended":                {revoked, registry.Target{}, refusal.Revoked},
		"a caller that claims another scope":    {scoped, registry.Target{Task: "t-aa"}, refusal.NotPermitted},
		"a caller that claims a higher ceiling": {higher, registry.Target{Project: "shop", Child: &registry.Wish{}}, refusal.NotPermitted},
		"but not with its own":                  {lower, registry.Target{Project: "shop", Child: &registry.Wish{}}, ""},
		"a live checkout over MCP":              {live, registry.Target{Project: "shop", Live: true, Child: &registry.Wish{}}, refusal.NotPermitted},
		"but not the same by the person":        {registry.Person(registry.CLI), registry.Target{Project: "shop", Live: true, Child: &registry.Wish{}}, ""},
		"an agent that asks nothing, over MCP":  {live, registry.Target{Project: "shop", Bypass: true, Child: &registry.Wish{}}, refusal.NotPermitted},
		"but not the same by the person too":    {registry.Person(registry.CLI), registry.Target{Project: "shop", Bypass: true, Child: &registry.Wish{}}, ""},
		"nor the same without a live checkout":  {live, registry.Target{Project: "shop", Child: &registry.Wish{}}, ""},
		"a full caller that has it fetched":     {live, registry.Target{Project: "shop", Fetch: true, Child: &registry.Wish{}}, ""},
	} {
		got := guard.Check(context.Background(), c.caller, verbs.TaskNew.Verb(), c.target)
		if got.Allow != (c.code == "") || !got.Allow && got.Refusal.Code != c.code {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, _, ok := book.Get(id); !ok {
		t.Error("the live grant is gone")
	}
}

// TestACeilingChangesUnderItsToken: the token and the grant's id stay, and what goes on ends where less is allowed than before.
func TestACeilingChangesUnderItsToken(t *testing.T) {
	book := NewBook()
	token, id := book.Issue(fullGrant("t-aa"))
	other, otherID := book.Issue(fullGrant("t-bb"))
	mine := func(g Grant) bool { return g.ID == id }
	isOver := func(ended <-chan struct{}) bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	_, otherEnds, _ := book.Get(otherID)
	for _, step := range []struct {
		says    string
		ceiling registry.Class
		ends    bool
	}{
		{"the same", registry.Destructive, false},
		{"lower", registry.Read, true},
		{"higher", registry.Write, false},
		{"lower again", registry.ClassNone, true},
	} {
		_, before, _ := book.Get(id)
		if n := book.Cap(mine, step.ceiling); n != 1 {
			t.Fatalf("%s: %d grants matched", step.says, n)
		}
		caller, ok := book.Caller(HostPort, token)
		if !ok || caller.Ceiling != step.ceiling || caller.Grant != id {
			t.Errorf("%s: the token stands for %+v, %v", step.says, caller, ok)
		}
		got, after, live := book.Get(id)
		if !live || got.Ceiling != step.ceiling || isOver(before) != step.ends || isOver(after) {
			t.Errorf("%s: %+v, live %v; what went on ended %v, what begins now %v", step.says, got, live, isOver(before), isOver(after))
		}
	}
	if caller, ok := book.Caller(HostPort, other); !ok || caller.Ceiling != registry.Destructive || isOver(otherEnds) {
		t.Errorf("another grant was touched: %+v, %v", caller, ok)
	}
	listed := book.List()
	if len(listed) != 2 || listed[0].ID != id || listed[0].Used.IsZero() || listed[0].Issued.IsZero() {
		t.Errorf("listed: %+v", listed)
	}
	_, last, _ := book.Get(id)
	if book.Revoke(mine) != 1 || !isOver(last) {
		t.Error("revoking does not end what began after the last change")
	}
	if book.Cap(mine, registry.Destructive) != 0 {
		t.Error("a grant that has ended was changed")
	}
}

func TestWhatDoesNotExistAndWhatIsHiddenLookTheSame(t *testing.T) {
	guard := NewGuard(NewBook(), testWorld{})
	var texts []string
	for _, selector := range []string{"none", "sold", "a-much-longer-name-that-does-not-exist"} {
		got := guard.Check(context.Background(), registry.Person(registry.CLI), verbs.TaskLog.Verb(), registry.Target{Task: selector})
		texts = append(texts, got.Refusal.Error())
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("answers differ: %q", texts)
	}
}

// TestOnlyWhoSeesEverythingIsToldThatATaskIsArchived: to a scoped caller its own archived worker, another's, and none are one.
func TestOnlyWhoSeesEverythingIsToldThatATaskIsArchived(t *testing.T) {
	w, book := newFakeWorld(), NewBook()
	guard := NewGuard(book, w)
	log := verbs.TaskLog.Verb()
	if got := check(guard, registry.Person(registry.CLI), log, registry.Target{Task: "old"}); got.Allow || got.Refusal.Reason != "that task is archived" {
		t.Errorf("the person: %+v", got)
	}
	var texts []string
	for _, who := range []ident.Task{"t-b1", "t-a1"} { // its maker, and a stranger
		caller := scopedCaller(t, w, book, who)
		for _, selector := range []string{"old", "t-old", "none"} {
			texts = append(texts, check(guard, caller, log, registry.Target{Task: selector}).Refusal.Error())
		}
	}
	if slices.Sort(texts); texts[0] != texts[len(texts)-1] {
		t.Errorf("answers differ: %q", texts)
	}
}
