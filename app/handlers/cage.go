package handlers

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"termic/app/project"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

// wanted returns the task that was asked for. What was not said of its cage is as the person set it for the project.
func (s Services) wanted(subject registry.Subject, in verbs.TaskNewIn) (task.New, error) {
	p, _ := s.Projects.Get(subject.Project)
	want := task.New{
		Name: in.Name, Project: subject.Project, Base: in.Base, Agent: in.Agent, Live: in.Live, Prompt: in.Prompt,
		Projects: subject.Projects, Mode: capability.Off,
	}
	seeded := !in.Live && p.Defaults.Mode.Valid()
	if seeded {
		want.Mode = p.Defaults.Mode
	}
	if in.Cage != "" {
		var err error
		if want.Mode, err = capability.ParseMode(in.Cage); err != nil {
			return task.New{}, err
		}
	}
	asked, err := limits(in.Hosts, in.Read, in.Write, in.Env)
	if err != nil {
		return task.New{}, err
	}
	if want.Mode.Caged() {
		if asked, err = seed(asked, p.Defaults, want.Mode); err != nil {
			return task.New{}, err
		}
		want.MCP = p.Defaults.MCP
		if len(in.Projects) == 0 {
			want.Projects = s.known(p.Defaults.Projects)
		}
	}
	if in.MCP != nil {
		want.MCP = *in.MCP
	}
	want.Hosts, want.Read, want.Write, want.Env = asked.Network, asked.Read, asked.Write, asked.Env
	return want, nil
}

// known drops projects that were removed since.
func (s Services) known(ids []ident.Project) []ident.Project {
	return slices.DeleteFunc(slices.Clone(ids), func(id ident.Project) bool {
		_, ok := s.Projects.Get(id)
		return !ok
	})
}

// seed adds what the person allows every caged task of the project.
func seed(asked capability.Set, d project.Defaults, mode capability.Mode) (capability.Set, error) {
	hosts := d.Hosts
	if mode != capability.Enforce {
		hosts = capability.Hosts{} // the network is open, and hosts limit nothing
	}
	var err, any error
	asked.Network, err = capability.HostsOf(append(asked.Network.Items(), hosts.Items()...)...)
	any = errors.Join(any, err)
	asked.Read, err = capability.PathsOf(append(asked.Read.Items(), d.Read.Items()...)...)
	any = errors.Join(any, err)
	asked.Write, err = capability.PathsOf(append(asked.Write.Items(), d.Write.Items()...)...)
	any = errors.Join(any, err)
	asked.Env, err = capability.NamesOf(append(asked.Env.Items(), d.Env.Items()...)...)
	return asked, errors.Join(any, err)
}

// limits reads what a caller asks a cage to let through. Paths lead where they lead now: what a link is pointed at
// later is not what was asked for.
func limits(hosts, read, write, env []string) (set capability.Set, err error) {
	if set.Network, err = capability.HostsOf(hosts...); err != nil {
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
