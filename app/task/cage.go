package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"termic/app/agent"
	"termic/app/cage"
	"termic/app/pty"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// caged is a task's running cage with what its processes are told.
type caged struct {
	*cage.Cage
	env   []string
	notes []string // what it has of the agent and the person's tools, in words
}

// place is where a tab runs and with which environment.
type place struct {
	env   []string
	start func(tab.Spec) (*pty.Session, error) // nil: outside any cage
}

// placeOf returns where the tabs of a task run; its life is locked. There is no way from a task that is caged to a
// place outside.
func (s *Tasks) placeOf(ctx context.Context, t *task) (place, error) {
	if !t.record.Mode.Caged() {
		return place{env: s.environment(t.record)}, nil
	}
	running, err := s.ensureCage(ctx, t)
	if err != nil {
		return place{}, err
	}
	return place{
		env: append([]string(nil), running.env...),
		start: func(spec tab.Spec) (*pty.Session, error) {
			return running.Terminal(ctx, spec.Argv, spec.Env, spec.Dir, spec.Size)
		},
	}, nil
}

// ensureCage returns the task's cage, and starts it when it does not run; the task's life is locked.
func (s *Tasks) ensureCage(ctx context.Context, t *task) (_ *caged, err error) {
	if running := s.cageOf(t); running != nil {
		return running, nil
	}
	declared, err := t.record.Declared()
	if err != nil {
		return nil, err
	}
	limit, err := capability.Effective(declared, s.Machine.Enforced(declared.Mode))
	if err != nil {
		return nil, err
	}
	dirs, err := s.dirs(ctx, t.record)
	if err != nil {
		return nil, err
	}
	state, err := s.agentState(ctx, t.record)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.releaseState(t.record.ID)
		}
	}()
	if err = addState(&declared, &dirs, state); err != nil {
		return nil, err
	}
	started, err := s.Machine.Start(ctx, cage.Spec{Declared: declared, Dirs: dirs, Decided: newEgressLog(s.Log, t.record.ID).decided})
	if err != nil {
		return nil, err
	}
	running := &caged{Cage: started, notes: slices.Concat(state.Notes, started.Notes())}
	running.env = slices.Concat(started.Environ(s.Environ), pairs(state.Env), terminalEnvironment(t.record))
	running.env = append(running.env, s.control(t.record, limit, started)...)
	s.mu.Lock()
	t.caged = running
	s.mu.Unlock()
	go s.awaitCage(t, running)
	return running, nil
}

// control gives a cage whose MCP box is ticked its token: valid at the listener inside it, where it has one, else at
// the host's port.
func (s *Tasks) control(record Record, limit capability.Set, started *cage.Cage) []string {
	if !record.MCP || record.Mode == capability.Enforce && started.MCP() == nil {
		return nil
	}
	return controlEnvironment(s.Credentials.Task(record, limit, started.MCP()))
}

// awaitCage takes note of a cage that ended by itself: its token is of no use any more.
func (s *Tasks) awaitCage(t *task, running *caged) {
	<-running.Done()
	s.mu.Lock()
	mine := t.caged == running
	if mine {
		t.caged = nil
	}
	s.mu.Unlock()
	if mine {
		s.releaseState(t.record.ID)
		s.Log.Error("a cage ended by itself", "task", t.record.ID)
		s.Credentials.Revoke(t.record.ID)
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
		s.Log.Error("cage not ended", "task", t.record.ID, "cause", err)
		return
	}
	s.releaseState(t.record.ID)
}

// errNoCage: the task's cage does not run.
var errNoCage = errors.New("the task's cage does not run")

// runCaged runs a program in the task's running cage, in the checkout. What it writes is the cage's word.
func (s *Tasks) runCaged(ctx context.Context, t *task, argv []string, stdin io.Reader, stdout io.Writer) error {
	running := s.cageOf(t)
	if running == nil {
		return errNoCage
	}
	return running.Run(ctx, argv, running.env, t.record.Dir, stdin, stdout)
}

// Effective returns what a task can really touch on this machine (I5).
func (s *Tasks) Effective(record Record) (capability.Set, error) {
	declared, err := record.Declared()
	if err != nil {
		return capability.Set{}, err
	}
	return capability.Effective(declared, s.Machine.Enforced(record.Mode))
}

// dirs returns where the things are that a task's cage is made of.
func (s *Tasks) dirs(ctx context.Context, record Record) (profile.Dirs, error) {
	home, err := s.home()
	if err != nil {
		return profile.Dirs{}, err
	}
	dirs := profile.Dirs{
		Home: home, Checkout: record.Dir, Data: s.Store.Dir(), Hidden: s.hidden(record.ID),
		Root: os.Getuid() == 0, UID: os.Getuid(),
	}
	dirs.Own, err = s.gitOwn(ctx, record)
	return dirs, err
}

// home is the person's, by the environment that tabs start from.
func (s *Tasks) home() (string, error) {
	where := agent.WhereIn(s.Environ)
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
