// Package task is the life of a task: made, worked in, archived, restored. It ties a checkout, a token and
// tabs together, and loses no work.
package task

import (
	"fmt"
	"slices"
	"time"

	"termic/app/git"
	"termic/app/store"
	"termic/registry/ident"
	"termic/sandbox/capability"
)

// Stage is how far a task is in its life. Each is on disk before the step that it names begins, so that a
// crash in the middle is seen at the next start.
type Stage string

const (
	// Creating: a checkout is being made. No agent has run in it.
	Creating Stage = "creating"
	// Live: it has a checkout and may have tabs.
	Live Stage = "live"
	// Archiving: its work is kept, its checkout is being removed.
	Archiving Stage = "archiving"
	// Archived: it has no checkout.
	Archived Stage = "archived"
	// Restoring: its checkout is being brought back.
	Restoring Stage = "restoring"
)

// Record is what is kept of a task.
type Record struct {
	ID      ident.Task    `json:"id"`
	Name    string        `json:"name"`
	Project ident.Project `json:"project"`
	Branch  string        `json:"branch"`
	// Base is the commit that the task started from; diffs begin there.
	Base git.OID `json:"base"`
	Dir  string  `json:"dir"`
	// OwnCheckout is false for a task on the project's own checkout, which is never removed.
	OwnCheckout bool            `json:"own_checkout"`
	Agent       string          `json:"agent"`
	Mode        capability.Mode `json:"mode"`
	MCP         bool            `json:"mcp"`
	// Bypass is the person's word that the agent acts without asking although no cage holds it.
	Bypass   bool            `json:"bypass,omitzero"`
	Projects []ident.Project `json:"projects"`
	// Hosts, Read, Write and Env are what its cage lets through, beyond what every cage has.
	Hosts capability.Hosts `json:"hosts,omitzero"`
	Read  capability.Paths `json:"read,omitzero"`
	Write capability.Paths `json:"write,omitzero"`
	Env   capability.Names `json:"env,omitzero"`
	// Limits are what the person chose for this task in place of the settings.
	Limits Limits `json:"limits,omitzero"`
	// Creator is the task whose agent made this one; empty when the person or an outside client did.
	Creator ident.Task `json:"creator,omitempty"`
	// Parents are the tasks from which it descends, Creator first. They are fixed when it is made.
	Parents []ident.Task `json:"parents,omitempty"`
	// Namespace is the task in whose names and branches its own are kept apart; empty for the person's.
	Namespace ident.Task `json:"namespace,omitempty"`
	// Budget bounds what its agents may make with a scoped token. Zero members are the defaults.
	Budget   Budget        `json:"budget,omitzero"`
	Created  time.Time     `json:"created"`
	Stage    Stage         `json:"stage"`
	Archived *git.Archived `json:"archived,omitempty"`
	// Kept is what is kept of its own git: when it was archived, or when its cage was turned off.
	Kept *KeptGit `json:"kept_git,omitempty"`
	// WasCaged tells that a cage ran in it at some time, Landed that all that cages wrote by now has landed in the project.
	WasCaged bool `json:"was_caged,omitzero"`
	Landed   bool `json:"landed,omitzero"`
	// BaseCaged tells that it started from what a cage wrote and is less caged than that cage.
	BaseCaged bool `json:"base_caged,omitzero"`
	// Copied are the ignored files of the project's checkout that it got copies of: what it could read of them besides.
	Copied []git.Carried `json:"copied,omitempty"`
	// Trouble says, in words for the person, what a crash left undone.
	Trouble string `json:"trouble,omitempty"`
}

// Declared is what the task may touch, as it was chosen: not yet what holds (capability.Effective). The error is
// that of a project id that cannot be part of a set.
func (r Record) Declared() (capability.Declared, error) {
	d := capability.Declared{Mode: r.Mode, Set: capability.Set{
		Write: r.Write, Read: r.Read, Network: r.Hosts, Env: r.Env,
		Checkout: capability.Checkout(!r.OwnCheckout), Bypass: capability.Bypass(r.Mode.Caged() || r.Bypass),
	}}
	switch {
	case r.Mode == capability.Off:
		d.Set.Control = capability.FullControl()
	case r.MCP:
		projects := []string{string(r.Project)}
		for _, p := range r.Projects {
			projects = append(projects, string(p))
		}
		var err error
		if d.Set.Control, err = capability.ScopedControl(projects...); err != nil {
			return capability.Declared{}, fmt.Errorf("task %s: %w", r.ID, err)
		}
	}
	return d, nil
}

// unbounded tells that nothing holds the task's agents.
func (r Record) unbounded() bool { return r.Mode == capability.Off }

func (r Record) clone() Record {
	r.Projects = slices.Clone(r.Projects)
	r.Parents = slices.Clone(r.Parents)
	r.Copied = slices.Clone(r.Copied)
	if r.Archived != nil {
		kept := *r.Archived
		r.Archived = &kept
	}
	return r
}

// files keeps one file a task, so that damage to one never costs another.
var files = store.DefineCollection[Record]("tasks", 1)
