package hold

import (
	"fmt"
	"slices"
	"sync"

	"termic/app/store"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// Mode is what becomes of a call. The zero value is none, and counts as a denial.
type Mode string

const (
	Allow  Mode = "allow"
	Ask    Mode = "ask"
	Denied Mode = "deny"
)

// Rule is what the person wants of some calls of one caller. Task and Project narrow it; empty ones do not.
type Rule struct {
	ID      string        `json:"id"`
	Holder  string        `json:"holder"` // id of a task, or name of an outside client
	Verb    string        `json:"verb"`
	Task    ident.Task    `json:"task,omitempty"`
	Project ident.Project `json:"project,omitempty"`
	Policy  Mode          `json:"policy"`
}

func (r Rule) fits(call registry.Call, verb *registry.Verb) bool {
	return r.Holder == holderOf(call.Caller) && r.Verb == verb.Name &&
		(r.Task == "" || r.Task == call.Subject.Task) && (r.Project == "" || r.Project == call.Subject.Project)
}

// rulesFile keeps the rules.
var rulesFile = store.Define[[]Rule]("holds", 1)

// maxRules bounds the file: a person sets a few.
const maxRules = 1000

// Known says what a rule may name.
type Known struct {
	Verb    func(name string) bool
	Project func(id ident.Project) bool
}

// Policy is the person's rules. It is safe for concurrent use.
type Policy struct {
	store *store.Store
	known Known

	mu    sync.Mutex
	rules []Rule
}

// OpenPolicy reads the rules. One that names a verb or a project that there is not, or an unknown policy, is not taken
// over: what it covered is denied, and Refused tells of it.
func OpenPolicy(s *store.Store, known Known) (*Policy, error) {
	rules, err := rulesFile.Load(s)
	if err != nil {
		return nil, fmt.Errorf("open hold policy: %w", err)
	}
	return &Policy{store: s, known: known, rules: rules}, nil
}

// valid tells whether a rule can be applied as it stands.
func (p *Policy) valid(r Rule) bool {
	return p.known.Verb(r.Verb) && (r.Project == "" || p.known.Project(r.Project)) && (r.Policy == Allow || r.Policy == Ask || r.Policy == Denied)
}

// Of returns what is to become of a call. A denial wins over everything, a question over an allowance: but an allowance
// that names the task or the project wins over a question that names neither, which it was the answer to. The person is
// never asked about the person. Without a rule, destructive verbs of outside clients are asked about.
func (p *Policy) Of(call registry.Call, verb *registry.Verb) Mode {
	if call.Caller.Way != registry.MCP {
		return Allow
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[Mode]bool{}
	narrow := false
	for _, r := range p.rules {
		if !p.valid(r) {
			// Whatever it was meant to narrow cannot be told any more: all of its verb is denied.
			if r.Holder == holderOf(call.Caller) && (r.Verb == verb.Name || !p.known.Verb(r.Verb)) {
				return Denied
			}
			continue
		}
		if r.fits(call, verb) {
			found[r.Policy] = true
			narrow = narrow || r.Policy == Allow && (r.Task != "" || r.Project != "")
		}
	}
	destructive := verb.Class == registry.Destructive
	switch {
	case found[Denied]:
		return Denied
	case found[Allow] && narrow && !destructive:
		return Allow
	case found[Ask]:
		return Ask
	case found[Allow]:
		return Allow
	case destructive && isClient(call.Caller):
		return Ask
	}
	return Allow
}

// Rules returns the rules, and of each whether it is applied as it stands.
func (p *Policy) Rules() (rules []Rule, refused []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if p.valid(r) {
			rules = append(rules, r)
		} else {
			refused = append(refused, r)
		}
	}
	return rules, refused
}

// Add takes in a rule in place of the one for the same calls.
func (p *Policy) Add(rule Rule) error {
	if !p.valid(rule) || rule.Holder == "" {
		return refusal.New(refusal.BadInput, "a rule names a caller, a verb and a policy that there are", "see: termic holds")
	}
	rule.ID = "l-" + string(ident.NewRequest())[2:]
	return p.change(func(rules []Rule) ([]Rule, error) {
		rules = slices.DeleteFunc(rules, func(r Rule) bool {
			return r.Holder == rule.Holder && r.Verb == rule.Verb && r.Task == rule.Task && r.Project == rule.Project
		})
		if len(rules) >= maxRules {
			return nil, refusal.New(refusal.Busy, "there are too many rules", "remove one first")
		}
		return append(rules, rule), nil
	})
}

// Forget removes a rule. With onlyAllow it must be an allowance: taking one away gives nobody anything. Such a one is
// gone from memory even when the disk does not take that (I14).
func (p *Policy) Forget(id string, onlyAllow bool) error {
	return p.change(func(rules []Rule) ([]Rule, error) {
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
		if i < 0 {
			return nil, refusal.New(refusal.NotFound, "no such rule", "see: termic holds")
		}
		if onlyAllow && rules[i].Policy != Allow {
			return nil, refusal.New(refusal.NotPermitted, "only the person at the window takes a restriction away", "use the window")
		}
		if rules[i].Policy == Allow {
			p.rules = slices.Delete(slices.Clone(rules), i, i+1)
		}
		return slices.Delete(rules, i, i+1), nil
	})
}

// Release removes the rules that match, whatever they say: those that name what is gone for good, and so cover nothing any
// more. Left where they are, they would deny what they cannot be told to cover.
func (p *Policy) Release(match func(Rule) bool) error {
	p.mu.Lock()
	found := slices.ContainsFunc(p.rules, match)
	p.mu.Unlock()
	if !found {
		return nil
	}
	return p.change(func(rules []Rule) ([]Rule, error) { return slices.DeleteFunc(rules, match), nil })
}

// change changes the rules on disk first, and then in memory.
func (p *Policy) change(how func([]Rule) ([]Rule, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next, err := how(slices.Clone(p.rules))
	if err != nil {
		return err
	}
	if err := rulesFile.Save(p.store, next); err != nil {
		return fmt.Errorf("save hold policy: %w", err)
	}
	p.rules = next
	return nil
}
