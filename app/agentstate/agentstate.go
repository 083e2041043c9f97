// Package agentstate makes what a caged task gets of its agents and of the person's tools: a state directory that is
// built from a list at each start, a copy of the login that cannot be renewed, caches to layer, and toolchains to read.
//
// Nothing of the person's state directories is copied, bound or layered, and nothing comes back from a cage: the
// person's own program, outside, is the only one that renews a login. What a cage wrote is renamed and deleted here,
// and never read; the next start of the task keeps only what is listed (transcripts).
package agentstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"termic/app/agent"
	"termic/registry/ident"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// ErrInUse is wrapped when a task's private directory serves a cage already.
var ErrInUse = errors.New("in use by another cage of the task")

// Options are what a Keeper works with.
type Options struct {
	// Dir is the directory of all tasks' state; absolute, in the data directory. Nothing else is in it.
	Dir string
	// Environ returns the person's environment ("NAME=value"); its HOME is their home directory.
	Environ func() []string
	// Untrusted returns directories in which cages write, or once wrote: no program from there is run outside. Nil: none.
	Untrusted func() []string
	// InPlace: a cage sees everything at the path that it has on the host, or by a link in its home directory.
	InPlace bool
	Log     *slog.Logger // nil: nothing is logged
}

// Keeper prepares tasks for their cages, and keeps the copies of logins in them fresh. It is safe for concurrent use.
type Keeper struct {
	root      string
	environ   func() []string
	untrusted func() []string
	inPlace   bool
	log       *slog.Logger

	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	preparing sync.RWMutex // held shared by Prepare, so that Close waits for those that have begun
	renewals  sync.WaitGroup

	mu     sync.Mutex
	tasks  map[ident.Task]*held
	logins map[string]*vault // by agent.Cage.State
	closed bool
}

// held is a task between Prepare and Release.
type held struct {
	lock  *os.File
	creds []cred
}

// cred is a directory of copies of one login.
type cred struct {
	state string // agent.Cage.State
	dir   string
}

// Open returns a Keeper. Copies of logins that a crash left are removed. Nothing runs until a task is prepared, which
// then fails if the person has no home directory.
func Open(o Options) (*Keeper, error) {
	k := &Keeper{root: o.Dir, environ: o.Environ, untrusted: o.Untrusted, inPlace: o.InPlace, log: o.Log, tasks: map[ident.Task]*held{}, logins: map[string]*vault{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	left, err := filepath.Glob(filepath.Join(globbed(o.Dir), "*", "*", loginDir))
	for _, dir := range left {
		err = errors.Join(err, emptyDir(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("open agents' state: %w", err)
	}
	return k, nil
}

// person is who the environment speaks of now.
func (k *Keeper) person() (person, error) { return newPerson(k.environ()) }

// globbed is a path as a pattern that matches nothing else.
func globbed(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// Dir returns where a task's state and the layers of its caches are; it may not exist.
func (k *Keeper) Dir(id ident.Task) string { return k.dir(id) }

// dir is where a task's state is. Ids are made by ident and hold no separator.
func (k *Keeper) dir(id ident.Task) string { return filepath.Join(k.root, filepath.Base(string(id))) }

// Task is one task that gets a cage.
type Task struct {
	ID ident.Task
	// Checkout is where the agent starts; absolute.
	Checkout string
	// Agents are those whose state and login the cage gets: the task's own, and no others without need.
	Agents []agent.Definition
	// Limit is what the cage may touch. Instructions that an agent kept are not taken into a wider cage than they were
	// written in.
	Limit capability.Set
	// MCPURL is the control plane's address in the cage, or empty. OlderMCP says that revisions before 2026-07-28 are
	// served there.
	MCPURL   string
	OlderMCP bool
	// Hook is the program that agents' hooks run, absolute, on the host; or empty: they get no hooks.
	Hook string
}

// Plan is what a cage gets. All paths are resolved.
type Plan struct {
	Own    []profile.Own     // state, read-write but for settings; logins, read-only
	Caches []profile.Cache   //
	Read   []string          // toolchains and the agents' programs
	Env    map[string]string // for every process of the cage; may hold a key of the person's
	Hosts  capability.Hosts  // what the agents must reach
	Hook   string            // where the hooks' program is in the cage; empty: nowhere
	Notes  []string          // for the task's details: what was chosen, what is missing and what to do
}

// Prepare makes everything for the next cage of a task. The task is held until Release: a second Prepare is ErrInUse.
// What the person's machine does not have is not in the Plan; only disk errors, and a definition that is not valid,
// fail it. A login that is near its end is renewed first, as long as ctx and a time limit allow.
func (k *Keeper) Prepare(ctx context.Context, t Task) (_ Plan, err error) {
	k.preparing.RLock()
	defer k.preparing.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(k.ctx, cancel)()
	h, err := k.hold(t)
	if err != nil {
		return Plan{}, fmt.Errorf("prepare agents' state: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("prepare agents' state: %w", err), k.Release(t.ID))
		}
	}()
	p, err := k.person()
	if err != nil {
		return Plan{}, err
	}
	b := &builder{keeper: k, person: p, task: t, dir: k.dir(t.ID), plan: Plan{Env: map[string]string{}}}
	if b.task.Checkout, err = filepath.EvalSymlinks(t.Checkout); err != nil {
		return Plan{}, err
	}
	b.hook()
	for _, definition := range t.Agents {
		if err := b.agent(ctx, h, definition); err != nil {
			return Plan{}, fmt.Errorf("agent %s: %w", definition.ID, err)
		}
	}
	if err := b.caches(); err != nil {
		return Plan{}, err
	}
	b.toolchains()
	if err := b.size(); err != nil {
		return Plan{}, err
	}
	return b.finish()
}

// hold takes the task for one cage.
func (k *Keeper) hold(t Task) (*held, error) {
	dir := k.dir(t.ID)
	if !filepath.IsAbs(dir) || !filepath.IsAbs(t.Checkout) || t.ID == "" {
		return nil, fmt.Errorf("task %s: directory %q or checkout %q is not absolute", t.ID, dir, t.Checkout)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errors.New("closed")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", t.ID, err)
	}
	h := &held{lock: lock}
	k.tasks[t.ID] = h
	return h, nil
}

// Release is for after the end of the task's cage: copies of logins are removed, and the task may be prepared again. A
// task that is not held is nil.
func (k *Keeper) Release(id ident.Task) error {
	k.mu.Lock()
	h := k.tasks[id]
	delete(k.tasks, id)
	k.mu.Unlock()
	if h == nil {
		return nil
	}
	var faults []error
	for _, c := range h.creds {
		k.vault(c.state).leave(c.dir)
		faults = append(faults, emptyDir(c.dir))
	}
	faults = append(faults, unlock(h.lock))
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("release agents' state: %w", err)
	}
	return nil
}

// Archive deletes what a task that is archived needs no more: layers of caches, and state but for what is kept over
// restarts, which is there again when the task is restored and gets a cage. A task that has nothing is nil, one that
// serves a cage is ErrInUse.
func (k *Keeper) Archive(id ident.Task) error {
	return k.with(id, "archive", func(dir string) error {
		faults := []error{removeCaches(dir)}
		for name, l := range layouts {
			state, kept := filepath.Join(dir, name, stateDir), filepath.Join(dir, name, keptDir)
			if _, err := os.Lstat(state); err != nil {
				continue
			}
			err := os.MkdirAll(kept, 0o700)
			if err == nil {
				err = move(state, kept, l.keep)
			}
			if err == nil {
				err = removeTree(state)
			}
			faults = append(faults, err)
		}
		return errors.Join(faults...)
	})
}

// Remove deletes all that there is of a task, transcripts too. Otherwise as Archive.
func (k *Keeper) Remove(id ident.Task) error {
	return k.with(id, "remove", func(dir string) error { return errors.Join(removeCaches(dir), removeTree(dir)) })
}

// with does something with the directory of a task that serves no cage.
func (k *Keeper) with(id ident.Task, what string, do func(dir string) error) error {
	dir := k.dir(id)
	lock, err := lockDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(do(dir), unlock(lock))
	}
	if err != nil {
		return fmt.Errorf("%s agents' state of task %s: %w", what, id, err)
	}
	return nil
}

// Close stops watching logins, releases the tasks that are still held, and waits for renewals that have begun.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.preparing.Lock()
	defer k.preparing.Unlock()
	k.mu.Lock()
	var ids []ident.Task
	for id := range k.tasks {
		ids = append(ids, id)
	}
	k.mu.Unlock()
	var faults []error
	for _, id := range ids {
		faults = append(faults, k.Release(id))
	}
	k.renewals.Wait()
	return errors.Join(faults...)
}

// trusted reports whether a program's path is the person's, and not in a directory that cages write.
func (k *Keeper) trusted(program string) bool {
	if k.untrusted == nil {
		return true
	}
	for _, dir := range k.untrusted() {
		if program == dir || strings.HasPrefix(program, strings.TrimSuffix(dir, "/")+"/") {
			return false
		}
	}
	return true
}
