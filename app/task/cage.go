package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"termic/app/agent"
	"termic/app/agentstate"
	"termic/app/cage"
	"termic/app/pty"
	"termic/app/settings"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// caged is a task's running cage with what its processes are told.
type caged struct {
	*cage.Cage
	env []string
	url string // of the control plane; empty when it is not offered
	// hook is the program of agents' hooks in the cage, or empty.
	hook string
	// notes are what it has of its agent and of the person's tools, and what it lacks, in words.
	notes []string
	// servers are those of its own network that the person opened to programs outside.
	servers *servers
}

// place is where a tab runs and with which environment.
type place struct {
	env  []string
	url  string // of the control plane, or empty
	hook string // the program of agents' hooks, or empty
	// plugins is the directory with our plugin for agents that have no hooks, or empty.
	plugins string
	start   func(tab.Spec) (*pty.Session, error) // nil: outside any cage
}

// placeOf returns where a tab of a task runs; its life is locked. A caged task's runs in the cage, or nowhere: outside
// is what the person asks for by name, and never what is left when a cage cannot be.
func (s *Tasks) placeOf(ctx context.Context, t *task, outside bool) (place, error) {
	if outside || !t.record().Mode.Caged() {
		env, url := s.environment(t.record())
		return place{env: env, url: url, hook: s.hook(), plugins: s.plugins}, nil
	}
	running, err := s.ensureCage(ctx, t)
	if err != nil {
		return place{}, err
	}
	return place{
		env: slices.Clone(running.env), url: running.url, hook: running.hook,
		start: func(spec tab.Spec) (*pty.Session, error) {
			return running.Terminal(ctx, spec.Argv, spec.Env, spec.Dir, spec.Size)
		},
	}, nil
}

// ensureCage returns the task's cage, and starts it when it does not run; the task's life is locked. Why it could not be made is kept
// for CageTrouble.
func (s *Tasks) ensureCage(ctx context.Context, t *task) (*caged, error) {
	if running := s.cageOf(t); running != nil {
		return running, nil
	}
	started, err := s.startCage(ctx, t)
	s.setCageTrouble(t, err)
	return started, err
}

func (s *Tasks) setCageTrouble(t *task, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.noCage = err
}

// CageTrouble says why a live task's cage cannot be made here, or could not be when it was tried last; nil when nothing is known
// against it.
func (s *Tasks) CageTrouble(record Record) error {
	if record.Stage != Live {
		return nil
	}
	if err := s.Machine.Check(record.Mode); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[record.ID]; t != nil && record.Mode.Caged() && t.caged == nil {
		return t.noCage
	}
	return nil
}

func (s *Tasks) startCage(ctx context.Context, t *task) (*caged, error) {
	declared, err := t.record().Declared()
	if err != nil {
		return nil, err
	}
	limit, err := capability.Effective(declared, s.Machine.Enforced(declared.Mode))
	if err != nil {
		return nil, err
	}
	if !t.record().WasCaged || t.record().Landed { // on disk before anything in the cage can write
		if _, err := s.save(t, func(r *Record) { r.WasCaged, r.Landed = true, false }); err != nil {
			return nil, err
		}
	}
	own, err := s.viewDir(t.record().ID)
	if err != nil {
		return nil, err
	}
	url, err := s.address(t.record())
	if err != nil {
		return nil, err
	}
	dirs, state, err := s.dirs(ctx, t.record(), limit, url)
	if err != nil {
		return nil, err
	}
	spec := cage.Spec{Declared: declared, Dirs: dirs, Decided: t.denied(s.Log).decided, Limits: s.limitsOf(t.record()), Name: string(t.record().ID), Dir: filepath.Join(own, cageDir)}
	if declared.Mode == capability.Enforce { // elsewhere the network is open, and nothing is refused
		spec.Connects = t.denied(s.Log).connects
	}
	started, err := s.Machine.Start(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, s.State.Release(t.record().ID))
	}
	running := &caged{Cage: started, url: url, hook: state.Hook, notes: slices.Concat(state.Notes, started.Notes())}
	running.servers = &servers{reach: started.Connect}
	running.env = slices.Concat(started.Environ(s.Environ()), variables(state.Env), terminalEnvironment(t.record()))
	if url != "" { // the token is valid at the listener inside the cage, where it has one, else at the host's port
		running.env = append(running.env, controlEnvironment(s.Credentials.Task(t.record(), limit, started.MCP()))...)
	} else if door := started.MCP(); door != nil {
		_ = door.Close()
	}
	s.mu.Lock()
	t.caged = running
	s.mu.Unlock()
	go s.awaitCage(t, running)
	s.cageStarted(t)
	return running, nil
}

// cageDir is, in a task's directory of its own, where its cage has directories on systems without private mounts.
const cageDir = "cage"

// address is where the task's cage will find the control plane, or empty.
func (s *Tasks) address(record Record) (string, error) {
	if record.Mode != capability.Enforce || !record.MCP {
		return s.Credentials.Address(record, 0), nil
	}
	door, err := s.Machine.Door(string(record.ID))
	return s.Credentials.Address(record, door), err
}

// awaitCage takes note of a cage that ended by itself: its token is of no use any more.
func (s *Tasks) awaitCage(t *task, running *caged) {
	<-running.Done()
	running.servers.close()
	s.mu.Lock()
	mine := t.caged == running
	if mine {
		t.caged = nil
	}
	s.mu.Unlock()
	if mine {
		s.unfollow(t)
		s.Log.Error("a cage ended by itself", "task", t.record().ID)
		s.Credentials.Revoke(t.record().ID)
		s.release(t)
	}
}

// release gives up what agents have in a cage that has ended.
func (s *Tasks) release(t *task) {
	if err := s.State.Release(t.record().ID); err != nil {
		s.Log.Error("agents' state not released", "task", t.record().ID, "cause", err)
	}
}

// cageOf returns the running cage, or nil.
func (s *Tasks) cageOf(t *task) *caged {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return t.caged
}

// killCage ends a task's cage and returns when nothing of it is left.
func (s *Tasks) killCage(t *task) {
	s.mu.Lock()
	running := t.caged
	t.caged = nil
	s.mu.Unlock()
	if running == nil {
		return
	}
	if err := running.Kill(); err != nil {
		s.Log.Error("cage not ended", "task", t.record().ID, "cause", err)
		return
	}
	s.release(t)
}

// errNoCage: the task's cage does not run.
var errNoCage = errors.New("the task's cage does not run")

// runCaged runs a program in the task's running cage, in the checkout. What it writes is the cage's word.
func (s *Tasks) runCaged(ctx context.Context, t *task, argv []string, stdin io.Reader, stdout io.Writer) error {
	running := s.cageOf(t)
	if running == nil {
		return errNoCage
	}
	return running.Run(ctx, argv, running.env, t.record().Dir, stdin, stdout)
}

// Effective returns what a task can really touch on this machine (I5).
func (s *Tasks) Effective(record Record) (capability.Set, error) {
	declared, err := record.Declared()
	if err != nil {
		return capability.Set{}, err
	}
	return capability.Effective(declared, s.Machine.Enforced(record.Mode))
}

// dirs returns where the things are that a task's cage is made of, and what agents have in it, which is the cage's until
// release.
func (s *Tasks) dirs(ctx context.Context, record Record, limit capability.Set, url string) (profile.Dirs, agentstate.Plan, error) {
	dirs, err := s.places(record)
	if err != nil {
		return profile.Dirs{}, agentstate.Plan{}, err
	}
	definition, err := s.Agents.Get(record.Agent)
	if err != nil {
		return profile.Dirs{}, agentstate.Plan{}, err
	}
	own, err := s.gitOwn(ctx, record)
	if err != nil {
		return profile.Dirs{}, agentstate.Plan{}, err
	}
	plan, err := s.State.Prepare(ctx, agentstate.Task{
		ID: record.ID, Checkout: record.Dir, Agents: []agent.Definition{definition}, Limit: limit,
		MCPURL: url, OlderMCP: s.Settings.Bool(settings.MCPOlder), Hook: s.hook(),
	})
	if err != nil {
		return profile.Dirs{}, agentstate.Plan{}, err
	}
	dirs.Own, dirs.Caches, dirs.Read = append(own, plan.Own...), plan.Caches, plan.Read
	return dirs, plan, nil
}

// places is where the things are that every cage of the task is made around.
func (s *Tasks) places(record Record) (profile.Dirs, error) {
	home, err := s.home()
	if err != nil {
		return profile.Dirs{}, err
	}
	return profile.Dirs{
		Home: home, Homes: tableHomes(), Checkout: record.Dir, Data: s.Store.Dir(), Hidden: s.hidden(record.ID),
		Root: os.Getuid() == 0, UID: os.Getuid(),
	}, nil
}

// tableHomes is the home directory that the system's table of users names, which need not be the one of HOME.
func tableHomes() []string {
	known, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || !filepath.IsAbs(known.HomeDir) || known.HomeDir == "/" {
		return nil
	}
	return []string{known.HomeDir}
}

// soleWriter refuses a path that another live task may write, or one around it or below it: what one leaves there the
// other, which may do more, would run (I8).
func (s *Tasks) soleWriter(self ident.Task, write capability.Paths) error {
	for _, other := range s.List() {
		if other.ID == self || other.Stage == Archived {
			continue
		}
		for _, theirs := range other.Write.Items() {
			for _, ours := range write.Items() {
				if ours == theirs || strings.HasPrefix(ours, theirs+"/") || strings.HasPrefix(theirs, ours+"/") {
					return refusal.Newf(refusal.Conflict, "let each task write a directory of its own", "another task may write %q, and two never share a directory that they write", ours)
				}
			}
		}
	}
	return nil
}

// CageNotes returns what a task's running cage has of its agent and of the person's tools, and what it lacks, in words for
// the person; none when no cage runs.
func (s *Tasks) CageNotes(id ident.Task) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil && t.caged != nil {
		return slices.Clone(t.caged.notes)
	}
	return nil
}

// variables returns env as "NAME=value", sorted.
func variables(env map[string]string) []string {
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// home is the person's, by the environment that tabs start from.
func (s *Tasks) home() (string, error) {
	where := agent.WhereIn(s.Environ())
	if where.Home != "" {
		return where.Home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("start cage: find the home directory: %w", err)
	}
	return home, nil
}

// hidden is what no cage of this task may show, whatever was asked for: the checkouts of all other tasks and of all
// projects.
func (s *Tasks) hidden(self ident.Task) []string {
	var hidden []string
	for _, other := range s.List() {
		if other.ID != self && other.OwnCheckout && other.Dir != "" {
			hidden = append(hidden, other.Dir)
		}
	}
	for _, p := range s.Projects.List() {
		hidden = append(hidden, p.Root)
	}
	return hidden
}
