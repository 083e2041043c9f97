package handlers

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"termic/app/task"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

// limits reads what a caller asks a cage to let through. Paths lead where they lead now: what a link is pointed at
// later is not what was asked for.
func limits(hosts, read, write, env []string) (set capability.Set, err error) {
	if set.Network, err = capability.HostsOf(hosts...); err != nil {
		return set, err
	}
	if err := noLocal(set.Network); err != nil {
		return set, err
	}
	if set.Env, err = capability.NamesOf(env...); err != nil {
		return set, err
	}
	if set.Read, err = paths(read); err != nil {
		return set, err
	}
	set.Write, err = paths(write)
	return set, err
}

// noLocal refuses names of this machine: the proxy reaches public addresses only (sandbox/egress), so that they would let nothing through.
func noLocal(hosts capability.Hosts) error {
	for _, entry := range hosts.Items() {
		name, _, _ := strings.Cut(entry, ":")
		if name == "localhost" || strings.HasSuffix(name, ".localhost") {
			return refusal.New(refusal.BadInput, fmt.Sprintf("no cage reaches this machine's servers, so that %q would let nothing through", entry),
				"a cage's own localhost needs no entry; what listens there is opened from outside with: termic server open TASK --port PORT")
		}
	}
	return nil
}

// paths resolves links.
func paths(names []string) (capability.Paths, error) {
	real := make([]string, len(names))
	for i, name := range names {
		if !filepath.IsAbs(name) {
			return capability.Paths{}, refusal.New(refusal.BadInput, fmt.Sprintf("the path %q is not absolute", name), "give the full path")
		}
		resolved, err := filepath.EvalSymlinks(name)
		if errors.Is(err, fs.ErrNotExist) {
			return capability.Paths{}, refusal.New(refusal.NotFound, fmt.Sprintf("there is nothing at %q", name), "make it first, or leave it out")
		}
		if err != nil {
			return capability.Paths{}, refusal.New(refusal.BadInput, fmt.Sprintf("the path %q cannot be followed", name), "name another").Because(err)
		}
		real[i] = resolved
	}
	return capability.PathsOf(real...)
}

// edit is a change to what a cage lets through: entries to add, and entries to take away.
type edit struct {
	mode     capability.Mode // 0: as it is
	add      capability.Set
	drop     []string
	projects []ident.Project
}

func newEdit(mode string, hosts, read, write, env, drop []string, projects []ident.Project) (e edit, err error) {
	if mode != "" {
		if e.mode, err = capability.ParseMode(mode); err != nil {
			return edit{}, err
		}
	}
	e.add, err = limits(hosts, read, write, env)
	e.drop, e.projects = drop, projects
	return e, err
}

// dropAll, as an entry to drop, means every entry.
const dropAll = "all"

// apply takes away first and adds then. An entry to drop that is not there is an error: it would be believed gone.
func (e edit) apply(mode *capability.Mode, lets *capability.Set, projects *[]ident.Project) error {
	if e.mode.Valid() {
		*mode = e.mode
	}
	dropped := map[string]bool{}
	keep := func(entry string) bool {
		if slices.Contains(e.drop, dropAll) {
			return false
		}
		dropped[entry] = true
		return !slices.Contains(e.drop, entry)
	}
	rest := func(items []string) []string {
		return slices.DeleteFunc(items, func(i string) bool { return !keep(i) })
	}
	hosts, read, write, env := rest(lets.Network.Items()), rest(lets.Read.Items()), rest(lets.Write.Items()), rest(lets.Env.Items())
	kept := slices.DeleteFunc(slices.Clone(*projects), func(p ident.Project) bool { return !keep(string(p)) })
	for _, entry := range e.drop {
		if entry != dropAll && !dropped[entry] {
			return refusal.New(refusal.NotFound, fmt.Sprintf("there is no %q to drop", entry), "give it as it is shown")
		}
	}
	var errs [4]error
	lets.Network, errs[0] = capability.HostsOf(append(hosts, e.add.Network.Items()...)...)
	lets.Read, errs[1] = capability.PathsOf(append(read, e.add.Read.Items()...)...)
	lets.Write, errs[2] = capability.PathsOf(append(write, e.add.Write.Items()...)...)
	lets.Env, errs[3] = capability.NamesOf(append(env, e.add.Env.Items()...)...)
	for _, p := range e.projects {
		if !slices.Contains(kept, p) {
			kept = append(kept, p)
		}
	}
	*projects = kept
	return errors.Join(errs[:]...)
}

// chooseLimits takes over what was said of a cage's limits.
func chooseLimits(l *task.Limits, in verbs.CageEditIn) {
	for to, asked := range map[*int]*int{&l.Memory: in.Memory, &l.Processes: in.Processes, &l.CPUWeight: in.CPUWeight} {
		switch {
		case asked == nil:
		case *asked == 0: // none
			*to = -1
		case *asked < 0: // as the settings say
			*to = 0
		default:
			*to = *asked
		}
	}
}

func renderLimits(limits []task.LimitState) []verbs.TaskLimit {
	var out []verbs.TaskLimit
	for _, l := range limits {
		shown := verbs.TaskLimit{Name: l.Name, Max: l.Max, Own: l.Own, Held: l.Held, Why: l.Why}
		if l.Uses >= 0 {
			shown.Uses = &l.Uses
		}
		out = append(out, shown)
	}
	return out
}
