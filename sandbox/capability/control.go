package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Checkout is the tree that a task works in. The zero value is a checkout of its own.
type Checkout bool

const (
	OwnCheckout  Checkout = false // isolated, made for the task
	LiveCheckout Checkout = true  // the project's own, in which the person works
)

func (c Checkout) gains(limit Checkout) []string {
	if c && !limit {
		return []string{"the project's live one"}
	}
	return nil
}

func (c Checkout) meet(other Checkout) Checkout { return c && other }

func (c Checkout) words() string {
	if c == LiveCheckout {
		return "Works in the project's live checkout."
	}
	return "Works in a checkout of its own."
}

// String returns "own" or "live".
func (c Checkout) String() string {
	if c == LiveCheckout {
		return "live"
	}
	return "own"
}

// MarshalText returns what String does.
func (c Checkout) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote and nothing else.
func (c *Checkout) UnmarshalText(text []byte) error {
	switch string(text) {
	case "own":
		*c = OwnCheckout
	case "live":
		*c = LiveCheckout
	default:
		return &InvalidError{Kind: "checkout", Value: string(text), Why: `write "own" or "live"`}
	}
	return nil
}

// Bypass is whether the agent's own permission prompts are off.
type Bypass bool

func (b Bypass) gains(limit Bypass) []string {
	if b && !limit {
		return []string{"permission bypass"}
	}
	return nil
}

func (b Bypass) meet(other Bypass) Bypass { return b && other }

func (b Bypass) words() string {
	if b {
		return "Its agent acts without asking."
	}
	return "Its agent asks before it acts."
}

// Control is what a task may do through the control plane: none < scoped(projects) < full. The zero
// Control is none. Scoped with no projects is more than none: it may ask about itself.
type Control struct {
	scoped   bool          // false: none
	projects List[project] // of a scoped one; all of them means full
}

// ScopedControl is control of a task's own descendants in the listed projects.
func ScopedControl(projects ...string) (Control, error) {
	list, err := listOf[project](projects)
	if err != nil {
		return Control{}, err
	}
	return Control{scoped: true, projects: list}, nil
}

// FullControl is control of every task and every project.
func FullControl() Control { return Control{scoped: true, projects: List[project]{all: true}} }

// Level returns "none", "scoped" or "full".
func (c Control) Level() string {
	switch {
	case !c.scoped:
		return "none"
	case c.projects.all:
		return "full"
	}
	return "scoped"
}

// Projects returns the ids that a scoped Control lists, sorted; none for the other levels.
func (c Control) Projects() []string { return c.projects.Items() }

// Covers reports whether tasks of the project may be acted on.
func (c Control) Covers(id string) bool { return c.projects.Covers(id) }

func (c Control) gains(limit Control) []string {
	if c.scoped && c.projects.all && !limit.projects.all {
		return []string{"full control"}
	}
	if c.scoped && !limit.scoped {
		return []string{"scoped control"}
	}
	gains := c.projects.gains(limit.projects)
	for i := range gains {
		gains[i] = "project " + gains[i]
	}
	return gains
}

func (c Control) meet(other Control) Control {
	if !c.scoped || !other.scoped {
		return Control{}
	}
	return Control{scoped: true, projects: c.projects.meet(other.projects)}
}

func (c Control) words() string {
	switch {
	case !c.scoped:
		return "Drives no tasks."
	case c.projects.all:
		return "Drives every task of every project."
	case len(c.projects.items) == 0:
		return "Drives tasks of no project."
	}
	return "Drives tasks that it made in the projects " + quoteAll(c.projects.items) + "."
}

// MarshalJSON writes "none", "full" or {"scoped": [project, …]}.
func (c Control) MarshalJSON() ([]byte, error) {
	if level := c.Level(); level != "scoped" {
		return json.Marshal(level)
	}
	return json.Marshal(map[string]List[project]{"scoped": c.projects})
}

// UnmarshalJSON replaces c by what MarshalJSON wrote.
func (c *Control) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"none"`:
		*c = Control{}
		return nil
	case `"full"`:
		*c = FullControl()
		return nil
	}
	var form struct {
		Scoped *[]string `json:"scoped"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil || form.Scoped == nil {
		return fmt.Errorf(`control plane %s: want "none", "full" or {"scoped": [project, …]}`, quote(string(data)))
	}
	control, err := ScopedControl(*form.Scoped...)
	if err != nil {
		return err
	}
	*c = control
	return nil
}
