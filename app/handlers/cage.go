package handlers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"termic/app/project"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/verbs"
	"termic/sandbox/capability"
)

func (s Services) bindCages(r *registry.Router) {
	bind(r, verbs.CageEdit, s.cageEdit)
	bind(r, verbs.ProjectSettings, s.projectSettings)
}

func (s Services) cageEdit(ctx context.Context, call registry.Call, in verbs.CageEditIn) (verbs.CageEditOut, error) {
	edit, err := newEdit(in.Cage, in.Hosts, in.Read, in.Write, in.Env, in.Drop, call.Subject.Projects)
	if err != nil {
		return verbs.CageEditOut{}, err
	}
	change := func(r *task.Record) error {
		lets := capability.Set{Network: r.Hosts, Read: r.Read, Write: r.Write, Env: r.Env}
		if err := edit.apply(&r.Mode, &lets, &r.Projects); err != nil {
			return err
		}
		if r.Mode == capability.Off { // which has no limits: what is asked for now is refused, what there was goes
			lets, r.Projects = edit.add, nil
		}
		r.Hosts, r.Read, r.Write, r.Env = lets.Network, lets.Read, lets.Write, lets.Env
		if in.MCP != nil {
			r.MCP = *in.MCP
		}
		if r.Mode == capability.Off && in.MCP == nil {
			r.MCP = false // it goes with the cage, which the caller takes away
		}
		if !r.Mode.Caged() {
			r.Limits = task.Limits{} // so do they
		}
		chooseLimits(&r.Limits, in)
		return nil
	}
	token := in.MCP != nil && *in.MCP
	if in.DryRun {
		next, ends, err := s.Tasks.PreviewCage(ctx, call.Subject.Task, change, token)
		if err != nil {
			return verbs.CageEditOut{}, err
		}
		return verbs.CageEditOut{Task: s.task(next), Can: s.can(next), Ends: ends}, nil
	}
	edited, err := s.Tasks.EditCage(ctx, call.Subject.Task, change, token, in.Confirm)
	if err != nil {
		return verbs.CageEditOut{}, err
	}
	out := verbs.CageEditOut{Task: s.task(edited.Record), Can: s.can(edited.Record), Restarted: edited.Restarted, Narrowed: edited.Narrowed}
	for name, why := range edited.Failed {
		out.Failed = append(out.Failed, name+": "+explain(why).Error())
	}
	slices.Sort(out.Failed)
	return out, nil
}

// can says in words what a task can really touch; nothing, when that cannot be said.
func (s Services) can(record task.Record) []string {
	switch {
	case record.Mode == capability.Monitor:
		return []string{
			"No cage: it can do whatever you can. What its programs read, write, connect to and start is listed, and nothing is blocked.",
			"Programs that gain rights do not work in it: sudo, su, and whatever else is set-user-id.",
		}
	case !record.Mode.Caged():
		return []string{"No cage: it can do whatever you can."}
	}
	can, err := s.Tasks.Effective(record)
	if err != nil {
		return []string{}
	}
	words := can.Words()
	var copied []string
	for _, c := range record.Copied {
		copied = append(copied, c.Path)
	}
	if len(copied) > 0 {
		words = append(words, "It was given copies of files that git ignores: "+names(copied)+".")
	}
	// Background: one group is made once, and then known.
	if unheld, why := s.Tasks.Unheld(context.Background(), record); len(unheld) > 0 {
		words = append(words, "Nothing holds it to its limits here ("+strings.Join(unheld, ", ")+"): "+why+". See: termic doctor.")
	}
	return words
}

func (s Services) projectSettings(ctx context.Context, call registry.Call, in verbs.ProjectSettingsIn) (verbs.ProjectSettingsOut, error) {
	edit, err := newEdit(in.Cage, in.Hosts, in.Read, in.Write, in.Env, in.Drop, call.Subject.Projects)
	if err != nil {
		return verbs.ProjectSettingsOut{}, err
	}
	changed, err := s.Projects.Change(call.Subject.Project, func(d *project.Defaults) error {
		lets := capability.Set{Network: d.Hosts, Read: d.Read, Write: d.Write, Env: d.Env}
		if err := edit.apply(&d.Mode, &lets, &d.Projects); err != nil {
			return err
		}
		d.Hosts, d.Read, d.Write, d.Env = lets.Network, lets.Read, lets.Write, lets.Env
		if in.MCP != nil {
			d.MCP = *in.MCP
		}
		if in.IsolatedHistory != nil {
			d.IsolatedHistory = *in.IsolatedHistory
		}
		return s.Tasks.Machine.Check(cmp.Or(d.Mode, capability.Off))
	})
	if err != nil {
		return verbs.ProjectSettingsOut{}, err
	}
	d := changed.Defaults
	out := verbs.ProjectDefaults{
		Cage: cmp.Or(d.Mode, capability.Off).String(), MCP: d.MCP, IsolatedHistory: d.IsolatedHistory,
		Hosts: d.Hosts.Items(), Read: d.Read.Items(), Write: d.Write.Items(), Env: d.Env.Items(),
	}
	for _, id := range d.Projects {
		out.Projects = append(out.Projects, string(id))
	}
	repository, err := s.repoSettings(ctx, changed)
	return verbs.ProjectSettingsOut{Defaults: out, Repository: repository}, err
}

// wanted returns the task that was asked for. What was not said of its cage is as the person set it for the project;
// a scoped caller's is as the guard has said, whatever the project's settings are.
func (s Services) wanted(ctx context.Context, subject registry.Subject, in verbs.TaskNewIn) (task.New, error) {
	in.Agent = s.agentFor(ctx, subject.Project, in.Agent)
	if child := subject.Child; child != nil {
		lets, err := s.inherited(ctx, subject.Project, in, *child)
		return task.New{
			Name: in.Name, Project: subject.Project, Base: in.Base, Agent: in.Agent, Prompt: in.Prompt, Scoped: true,
			Mode: child.Mode, MCP: lets.Control.Level() != "none", Projects: subject.Projects,
			Hosts: lets.Network, Read: lets.Read, Write: lets.Write, Env: lets.Env,
		}, err
	}
	p, _ := s.Projects.Get(subject.Project)
	want := task.New{
		Name: in.Name, Project: subject.Project, Base: in.Base, Agent: in.Agent, Live: in.Live, Bypass: in.Bypass, Prompt: in.Prompt, Fetch: in.Fetch,
		Projects: subject.Projects, Mode: capability.Off, Confirm: in.Confirm,
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
		defaults, err := s.narrowed(ctx, p)
		if err != nil {
			return task.New{}, err
		}
		if asked, err = seed(asked, defaults, want.Mode); err != nil {
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

// inherited is the cage that the guard has allowed a scoped caller's task, less what the project's files do not leave of
// what was not asked for: they narrow what a task has by inheritance as they narrow what it has by the person's settings.
func (s Services) inherited(ctx context.Context, id ident.Project, in verbs.TaskNewIn, child capability.Declared) (capability.Set, error) {
	settings, err := s.Tasks.RepoSettings(ctx, id)
	if err != nil {
		return capability.Set{}, err
	}
	left, err := settings.Narrow(project.Defaults{Hosts: child.Set.Network, Read: child.Set.Read, Write: child.Set.Write})
	lets := child.Set
	if in.Hosts == nil && child.Mode == capability.Enforce { // elsewhere the network is open
		lets.Network = left.Hosts
	}
	if in.Read == nil {
		lets.Read = left.Read
	}
	if in.Write == nil {
		lets.Write = left.Write
	}
	return lets, err
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
