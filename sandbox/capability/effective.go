package capability

import (
	"errors"
	"fmt"
)

// Declarations that no cage could keep. A task declared so neither starts nor is compared.
var (
	ErrNoMode    = errors.New("no mode was chosen")
	ErrLiveCaged = errors.New("a live checkout cannot be caged above monitor")
	ErrFullCaged = errors.New("a caged task cannot hold full control")
)

// Declared is what was chosen for a task and is stored: not yet what holds.
type Declared struct {
	Mode Mode `json:"mode"`
	Set  Set  `json:"set"`
}

// Check returns ErrNoMode, ErrLiveCaged, ErrFullCaged or nil.
func (d Declared) Check() error {
	switch {
	case !d.Mode.Valid():
		return ErrNoMode
	case d.Mode.Caged() && d.Set.Checkout == LiveCheckout:
		return ErrLiveCaged
	case d.Mode.Caged() && d.Set.Control.Level() == "full":
		return ErrFullCaged
	}
	return nil
}

// Support is which axes of a Set this machine really holds a task to in the task's mode. The zero Support
// enforces nothing.
type Support struct {
	Write    bool
	Read     bool
	Network  bool // in enforce; enforce-fs has an open network whatever this says
	Checkout bool
	Control  bool
	Env      bool
	Bypass   bool // the agent cannot start itself again without its prompts
}

// sound drops claims of support that rest on one which is missing.
func (s Support) sound() Support {
	if !s.Write {
		return Support{} // what may write every file has the person's programs run what it likes
	}
	if !s.Read {
		s.Control = false // the full token is a file
		s.Env = false     // the same secrets are in files and in /proc of other processes
	}
	return s
}

// Effective returns what a task can really touch: the declared set, with every axis that is not enforced
// widened to everything. Off and monitor are unbounded on every axis; the network of enforce-fs is all
// hosts whatever is stored. The error is Check's; there is no set that denies both as a limit and as a
// target, so a caller that gets an error refuses.
func Effective(declared Declared, support Support) (Set, error) {
	if err := declared.Check(); err != nil {
		return Set{}, fmt.Errorf("effective capability: %w", err)
	}
	if !declared.Mode.Caged() {
		return Unbounded(), nil
	}
	support = support.sound()
	if declared.Mode != Enforce {
		support.Network = false
	}
	set := declared.Set
	for _, a := range axes {
		if !a.enforced(support) {
			a.widen(&set)
		}
	}
	return set, nil
}

// ChildOf reports whether a scoped caller that runs in a task declared as parent may create one declared
// as child. It returns nil; an Excess; or, wrapped, the error of Check for a parent that it refuses (what
// Check refuses of a child is an Excess here).
func (child Declared) ChildOf(parent Declared, support Support) error {
	limit, err := Effective(parent, support)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	if excess, ok := child.declaredWithin(parent); !ok {
		return excess
	}
	reach, err := Effective(child, support)
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	if excess, ok := reach.Within(limit); !ok {
		return excess
	}
	return nil
}

// declaredWithin compares what the effective sets of off and monitor, both unbounded, do not tell apart:
// the mode is at least as strict; the checkout is the child's own; control is at most scoped, in projects
// of the parent (the guard keeps tokens to that in every mode); permission bypass needs a cage.
func (child Declared) declaredWithin(parent Declared) (Excess, bool) {
	full := child.Set.Control.Level() == "full"
	control := child.Set.Control.gains(parent.Set.Control)
	switch {
	case !child.Mode.AtLeast(parent.Mode):
		return Excess{Axis: AxisMode, Gains: []string{quote(child.Mode.String())}}, false
	case child.Set.Checkout == LiveCheckout:
		return Excess{Axis: AxisCheckout, Gains: LiveCheckout.gains(OwnCheckout)}, false
	case full:
		return Excess{Axis: AxisControl, Gains: FullControl().gains(Control{})}, false
	case len(control) > 0:
		return Excess{Axis: AxisControl, Gains: control}, false
	case bool(child.Set.Bypass) && !child.Mode.Caged():
		return Excess{Axis: AxisBypass, Gains: Bypass(true).gains(false)}, false
	}
	return Excess{}, true
}
