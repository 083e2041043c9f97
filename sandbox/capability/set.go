// Package capability says what a task may touch, as a value that can be compared.
//
// A Set has one field per axis. Sets form a lattice: Within is its order, Meet its greatest lower bound,
// the zero Set its bottom (nothing beyond what every cage has), Unbounded its top. Every value of an axis
// type is in normal form from the moment it exists; two Sets that allow the same differ at most in readable
// paths that are writable too, and Equal does not see that.
//
// Stored sets are never compared with each other to decide what a task may do to another one: compare
// what Effective returns. The zero Set denies as a limit, but as a target it is within everybody's reach;
// so a target's set comes from Effective too, which has none for a task without a mode.
//
// The package does no I/O and knows neither disk nor network: symbolic links are resolved before a path
// comes here, names are resolved by the proxy after a host was allowed here.
package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Set is what a task may touch beyond what every cage has (its own checkout, the base system, private
// directories). The zero Set reaches nothing. The JSON form is an object with the keys below; a list is
// an array of strings or the word "all", and an axis that is left out is nothing.
//
// The axes are compared one by one, but that what may be written may be read: every cage gives both, so a
// limit of Write covers reading.
type Set struct {
	Write    Paths    `json:"write"`    // writable paths besides the task's own checkout
	Read     Paths    `json:"read"`     // readable paths, and files copied in
	Network  Hosts    `json:"network"`  // none < host patterns < all
	Checkout Checkout `json:"checkout"` // own < live
	Control  Control  `json:"control"`  // none < scoped(projects) < full
	Env      Names    `json:"env"`      // environment variables passed through
	Bypass   Bypass   `json:"bypass"`   // the agent acts without asking
}

// Unbounded is everything on every axis: a process that no cage holds.
func Unbounded() Set {
	var s Set
	for _, a := range axes {
		a.widen(&s)
	}
	return s
}

// Within reports whether s allows nothing that limit does not. If it does, the Excess is the first axis
// that exceeds, in the order of Set's fields, with what s asks for there and limit lacks.
func (s Set) Within(limit Set) (Excess, bool) {
	for _, a := range axes {
		if gains := a.gains(s, limit); len(gains) > 0 {
			return Excess{Axis: a.name, Gains: gains}, false
		}
	}
	return Excess{}, true
}

// Equal reports whether both sets allow the same.
func (s Set) Equal(other Set) bool {
	_, below := s.Within(other)
	_, above := other.Within(s)
	return below && above
}

// Meet returns the widest set that is within both a and b.
func Meet(a, b Set) Set {
	var both Set
	for _, axis := range axes {
		axis.meet(&both, a, b)
	}
	return both
}

// Words describes the set to a person: one short sentence per axis, nothing left out.
func (s Set) Words() []string {
	words := make([]string, len(axes))
	for i, a := range axes {
		words[i] = a.words(s)
	}
	return words
}

// On describes one axis of the set to a person, in one sentence; nothing for what is no axis of a Set.
func (s Set) On(axis Axis) string {
	for _, a := range axes {
		if a.name == axis {
			return a.words(s)
		}
	}
	return ""
}

// UnmarshalJSON replaces s. Unknown keys are an error: they may be limits that this version does not know.
func (s *Set) UnmarshalJSON(data []byte) error {
	type plain Set // without this method
	var p plain
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return fmt.Errorf("decode capability: null is no set")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return fmt.Errorf("decode capability: %w", err)
	}
	*s = Set(p)
	return nil
}

// Excess is what a set would gain over a limit. It holds words of the set that was compared, which its
// author knows, and nothing of the limit, which a caller may not.
type Excess struct {
	Axis  Axis
	Gains []string // at least one; entries quoted
}

// maxGains entries are named in a refusal, which a caller reads: enough to mend the request step by step.
const maxGains = 4

// Error is a clause fit for a refusal, such as `hosts would gain "*.example.org:443"`.
func (e Excess) Error() string {
	named, rest := e.Gains, ""
	if len(named) > maxGains {
		rest = fmt.Sprintf(" and %d more", len(named)-maxGains)
		named = named[:maxGains]
	}
	return e.Axis.clause() + " " + strings.Join(named, ", ") + rest
}

// quoteLimit bounds in bytes how much of a rejected or refused value is repeated to its author.
const quoteLimit = 200

// quote makes an entry printable: no control or bidirectional character of it reaches a terminal.
func quote(s string) string {
	if len(s) > quoteLimit {
		return fmt.Sprintf("%q…", s[:quoteLimit])
	}
	return fmt.Sprintf("%q", s)
}

// InvalidError is an entry that cannot be part of a Set.
type InvalidError struct {
	Kind  string // what was expected: "path", "host pattern", …
	Value string // as given
	Why   string // what is wrong, or how to write it
}

func (e *InvalidError) Error() string { return e.Kind + " " + quote(e.Value) + ": " + e.Why }
