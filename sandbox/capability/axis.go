package capability

import (
	"strconv"
	"strings"
)

// Axis names one dimension of a Set. For a write into a task that a caller cannot see into, it is all
// that a refusal may say.
type Axis string

const (
	AxisWrite    Axis = "write"
	AxisRead     Axis = "read"
	AxisNetwork  Axis = "network"
	AxisCheckout Axis = "checkout"
	AxisControl  Axis = "control"
	AxisEnv      Axis = "env"
	AxisBypass   Axis = "bypass"
	AxisMode     Axis = "mode" // not a field of Set: Declared.ChildOf compares it
)

// clause begins the sentence of an Excess.
func (a Axis) clause() string {
	switch a {
	case AxisWrite:
		return "writable paths would gain"
	case AxisRead:
		return "readable paths would gain"
	case AxisNetwork:
		return "hosts would gain"
	case AxisCheckout:
		return "checkout would become"
	case AxisControl:
		return "control plane would gain"
	case AxisEnv:
		return "environment would gain"
	case AxisBypass:
		return "agent would gain"
	case AxisMode:
		return "mode would weaken to"
	}
	return string(a) + " would gain"
}

// axis is one field of Set as the algebra sees it.
type axis struct {
	name     Axis
	gains    func(s, limit Set) []string // what s has there and limit lacks
	meet     func(into *Set, a, b Set)
	widen    func(*Set) // to everything
	enforced func(Support) bool
	words    func(Set) string
}

// ordered is what the type of each field of Set provides.
type ordered[T any] interface {
	gains(limit T) []string
	meet(T) T
}

// axes is the table behind Within, Meet, Unbounded, Words and Effective, in the order in which an excess
// is looked for. TestEveryFieldIsInEveryTable fails for a field of Set that is missing here.
var axes = []axis{
	on(AxisWrite, func(s *Set) *Paths { return &s.Write }, AllPaths(), func(s Support) bool { return s.Write },
		listWords[path]("Writes no files beyond its own checkout.", "Also writes ", "Writes every file.")),
	reads(on(AxisRead, func(s *Set) *Paths { return &s.Read }, AllPaths(), func(s Support) bool { return s.Read },
		listWords[path]("Reads no files beyond what every cage has.", "Also reads ", "Reads every file."))),
	on(AxisNetwork, func(s *Set) *Hosts { return &s.Network }, AllHosts(), func(s Support) bool { return s.Network },
		listWords[host]("Reaches no host.", "Reaches ", "Reaches every host.")),
	on(AxisCheckout, func(s *Set) *Checkout { return &s.Checkout }, LiveCheckout, func(s Support) bool { return s.Checkout },
		Checkout.words),
	on(AxisControl, func(s *Set) *Control { return &s.Control }, FullControl(), func(s Support) bool { return s.Control },
		Control.words),
	on(AxisEnv, func(s *Set) *Names { return &s.Env }, AllNames(), func(s Support) bool { return s.Env },
		listWords[variable]("Is passed no variables of the environment.", "Is passed the variables ", "Is passed the whole environment.")),
	on(AxisBypass, func(s *Set) *Bypass { return &s.Bypass }, true, func(s Support) bool { return s.Bypass },
		Bypass.words),
}

// on makes the axis of one field, whose widest value is all.
func on[T ordered[T]](name Axis, field func(*Set) *T, all T, enforced func(Support) bool, words func(T) string) axis {
	return axis{
		name:     name,
		gains:    func(s, limit Set) []string { return (*field(&s)).gains(*field(&limit)) },
		meet:     func(into *Set, a, b Set) { *field(into) = (*field(&a)).meet(*field(&b)) },
		widen:    func(s *Set) { *field(s) = all },
		enforced: enforced,
		words:    func(s Set) string { return words(*field(&s)) },
	}
}

// reads makes the axis of Read take in what may be written: every cage gives whoever writes a path its content too.
func reads(alone axis) axis {
	readable := func(s Set) Paths { return s.Read.join(s.Write) }
	alone.gains = func(s, limit Set) []string { return s.Read.gains(readable(limit)) }
	alone.meet = func(into *Set, a, b Set) {
		into.Read = readable(a).meet(readable(b)).without(a.Write.meet(b.Write))
	}
	only := alone.words
	alone.words = func(s Set) string {
		if len(s.Read.items) == 0 && !s.Read.all && len(s.Write.items) > 0 {
			return "Reads no files beyond what it writes and what every cage has."
		}
		return only(s)
	}
	return alone
}

// listWords says a list in one sentence: nothing of it, its entries, or everything.
func listWords[K kind](none, some, all string) func(List[K]) string {
	return func(l List[K]) string {
		switch {
		case l.all:
			return all
		case len(l.items) == 0:
			return none
		}
		return some + quoteAll(l.items) + "."
	}
}

// quoteAll leaves nothing out: a person decides by what it says.
func quoteAll(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = strconv.Quote(item)
	}
	return strings.Join(quoted, ", ")
}
