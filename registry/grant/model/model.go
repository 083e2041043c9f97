// Package model says what the guard must decide, in the plainest way there is, and shares no code with it: sets are
// bits in a number, a task is a few numbers, and a rule is one line. Tests put the same calls before the model and
// before the guard, and then check on what the guard let happen that nothing happened that must not.
//
// It imports nothing of ours, on purpose: a mistake in the guard or in the algebra of capabilities cannot be here too.
package model

import "slices"

// The modes, from the weakest.
const (
	Off = iota + 1
	Monitor
	EnforceFS
	Enforce
)

// All is a set with everything in it. Other sets use the low bits only.
const All uint8 = 0xff

// NoControl is the control of a task that may drive none.
const NoControl = -1

// Cage is what was chosen for a task.
type Cage struct {
	Mode                  int
	Net, Read, Write, Env uint8
	Control               int // NoControl, or a set of projects; int(All) is full
	Live                  bool
}

// Reach is what a task can really touch.
type Reach struct {
	Net, Read, Write, Env uint8
	Control               int
	Live, Bypass          bool
}

// everything is what no cage holds.
var everything = Reach{All, All, All, All, int(All), true, true}

// Effective is the reach of a cage on a machine that enforces everything; ok is false for a cage that cannot be.
func (c Cage) Effective() (r Reach, ok bool) {
	caged := c.Mode == EnforceFS || c.Mode == Enforce
	switch {
	case c.Mode < Off || c.Mode > Enforce, caged && c.Live, caged && c.Control == int(All):
		return Reach{}, false
	case !caged:
		return everything, true
	}
	r = Reach{c.Net, c.Read, c.Write, c.Env, c.Control, false, true}
	if c.Mode == EnforceFS {
		r.Net = All
	}
	return r, true
}

// Within tells that a touches nothing that b does not. What may be written may be read.
func (a Reach) Within(b Reach) bool {
	part := func(x, y uint8) bool { return x&^y == 0 }
	return part(a.Net, b.Net) && part(a.Read, b.Read|b.Write) && part(a.Write, b.Write) && part(a.Env, b.Env) &&
		controlWithin(a.Control, b.Control) && (!a.Live || b.Live) && (!a.Bypass || b.Bypass)
}

func controlWithin(a, b int) bool {
	return a == NoControl || b != NoControl && uint8(a)&^uint8(b) == 0
}

// Task, Tab and Grant are the things that there are. Their indexes in State are their names.
type (
	Task struct {
		Parents  []int // nearest first
		Project  int
		Cage     Cage
		Archived bool
		Tabs     []int // open ones
	}
	Tab struct {
		Task    int
		Outside bool
		Opener  int // the task whose token opened it; -1 the person
		Ended   bool
	}
	Grant struct {
		Task     int // NoTask for an outside client
		Full     bool
		Ceiling  int
		Door     int
		Projects uint8
		Limit    Reach
		Revoked  bool
	}
)

// NoTask is the task of an outside client.
const NoTask = -1

// What a call may change at most; a grant's ceiling is one of these.
const (
	Reads = iota + 1
	Writes
	Destroys
)

// Where a token is valid.
const (
	HostDoor = iota + 1
	CageDoor
)

// Opens tells whether a grant's token is one at a door.
func (s *State) Opens(g, door int) bool { return !s.Grants[g].Revoked && s.Grants[g].Door == door }

// State is everything at one moment.
type State struct {
	Tasks  []Task
	Tabs   []Tab
	Grants []Grant
}

// Verdict is what a decision looks like to the caller.
type Verdict int

const (
	Denied  Verdict = iota // may not, whatever the target is
	Hidden                 // there is no such thing for this caller
	Exceeds                // the target, or what is asked for, is more than the caller has
	Revoked
	Allowed
)

func (v Verdict) String() string {
	return [...]string{"denied", "hidden", "exceeds", "revoked", "allowed"}[v]
}

// Deed is what a call does to its target.
type Deed int

const (
	Look  Deed = iota // that it exists
	Read              // what is in it
	Put               // text into it, or a tab
	Close             // a tab of it
	// The rest is for holders of everything only.
	ListQueue   // texts of others that wait
	EditQueue   // one of them, which is then the editor's
	CancelQueue // one of them
	Apply       // a task's work to the project's own checkout, or back
)

// Changes is how much it changes: Reads, Writes or Destroys.
func (d Deed) Changes() int {
	switch d {
	case Look, Read, ListQueue:
		return Reads
	case CancelQueue, Apply:
		return Destroys
	}
	return Writes
}

// Sees tells whether the holder of a grant knows of a task.
func (s *State) Sees(g, task int) bool {
	own := s.Grants[g].Task
	return s.Grants[g].Full || task == own || slices.Contains(s.Tasks[task].Parents, own)
}

// Self decides about what a caller does to nothing yet: a text for several tabs is then decided at each.
func (s *State) Self(g, changes int) Verdict {
	switch {
	case s.Grants[g].Revoked:
		return Revoked
	case changes > s.Grants[g].Ceiling:
		return Denied
	}
	return Allowed
}

// Reaches is what runs behind a tab, or in a whole task when tab is -1.
func (s *State) Reaches(task, tab int) (Reach, bool) {
	if tab >= 0 && s.Tabs[tab].Outside {
		return everything, true
	}
	return s.Tasks[task].Cage.Effective()
}

// On decides about a task and one of its tabs; tab -1 is the task as a whole.
func (s *State) On(g int, deed Deed, task, tab int) Verdict {
	grant := s.Grants[g]
	switch {
	case grant.Revoked:
		return Revoked
	case !s.Sees(g, task):
		return Hidden
	case tab >= 0 && (s.Tabs[tab].Outside && !grant.Full || s.Tabs[tab].Ended || s.Tabs[tab].Task != task):
		return Hidden
	case s.Tasks[task].Archived && deed != Look && deed != Apply:
		return Hidden
	case deed != Look && !grant.Full:
		if no := s.scoped(grant, deed, task, tab); no != Allowed {
			return no
		}
	}
	if deed.Changes() > grant.Ceiling {
		return Denied
	}
	return Allowed
}

// scoped decides about what a holder of less than everything does to a task that it sees.
func (s *State) scoped(grant Grant, deed Deed, task, tab int) Verdict {
	reach, ok := s.Reaches(task, tab)
	switch {
	case deed > Close:
		return Denied
	case grant.Projects&(1<<s.Tasks[task].Project) == 0:
		return Exceeds
	case !ok || !reach.Within(grant.Limit):
		return Exceeds
	case deed == Close && s.Tabs[tab].Opener != grant.Task:
		return Denied
	}
	return Allowed
}

// Wish is a new task that is asked for. What is nil or zero is not asked for.
type Wish struct {
	Project               int // -1: the caller's own
	Mode                  int
	Net, Read, Write, Env *uint8
	MCP                   *bool
	Projects              *uint8
	Live                  bool
}

// Child decides about a wish of a task's, and says what cage it comes to when it is allowed.
func (s *State) Child(g int, w Wish) (Verdict, int, Cage) {
	grant := s.Grants[g]
	if grant.Revoked {
		return Revoked, 0, Cage{}
	}
	maker := s.Tasks[grant.Task]
	project := w.Project
	if project < 0 {
		project = maker.Project
	}
	if grant.Projects&(1<<project) == 0 || w.Projects != nil && *w.Projects&^grant.Projects != 0 {
		return Hidden, 0, Cage{}
	}
	if w.Live || maker.Archived {
		return Denied, 0, Cage{}
	}
	c := maker.Cage
	c.Live = false
	pick := func(into *uint8, asked *uint8) {
		if asked != nil {
			*into = *asked
		}
	}
	if w.Mode != 0 {
		c.Mode = w.Mode
	}
	pick(&c.Net, w.Net)
	pick(&c.Read, w.Read)
	c.Write = 0 // two tasks never share what they write
	pick(&c.Write, w.Write)
	pick(&c.Env, w.Env)
	c.Control = childControl(maker.Cage.Control, project, w)
	switch {
	case !s.fits(grant, maker.Cage, c):
		return Exceeds, 0, Cage{}
	case grant.Ceiling < Writes:
		return Denied, 0, Cage{}
	}
	return Allowed, project, c
}

func childControl(maker, project int, w Wish) int {
	mcp := maker != NoControl
	if w.MCP != nil {
		mcp = *w.MCP
	}
	if !mcp {
		return NoControl
	}
	control := 1 << project
	switch {
	case w.Projects != nil:
		control |= int(*w.Projects)
	case maker != NoControl && maker != int(All):
		control |= maker
	}
	return control
}

// fits is I6: a child is never less caged than its maker, nor than the grant with which it is made.
func (s *State) fits(grant Grant, maker, child Cage) bool {
	mine, ok := maker.Effective()
	its, ok2 := child.Effective()
	return ok && ok2 && child.Mode >= maker.Mode && !child.Live && child.Control != int(All) &&
		controlWithin(child.Control, maker.Control) && its.Within(mine) && its.Within(grant.Limit)
}
