package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"termic/app/agent"
	"termic/app/git"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// New says what a new task is to be.
type New struct {
	Name    string
	Project ident.Project
	Base    string
	// Fetch brings Base, a branch, to where origin has it before.
	Fetch    bool
	Agent    string
	Mode     capability.Mode
	MCP      bool
	Projects []ident.Project
	Hosts    capability.Hosts
	Read     capability.Paths
	Write    capability.Paths
	Env      capability.Names
	Live     bool
	// Bypass is as in Record.
	Bypass bool
	Prompt string
	// Confirm is MustBeSeenError.Confirm: the person has seen what a base from a cage brings.
	Confirm string
	Sender  tab.Sender // of the prompt
	Creator ident.Task
	// Scoped tells that Creator's agents hold a scoped token: the task gets a name in Creator's namespace, starts
	// from what Creator may see, and counts against its budget.
	Scoped bool
	// Progress, when set, is told in a few words how far it has come.
	Progress func(string)
	// Still says whether the caller may have the task now. It is asked when the task is entered, with Creator's
	// life locked, and before a prompt is delivered.
	Still func() error
}

// say tells whoever waits how far it has come.
func (want New) say(text string) {
	if want.Progress != nil {
		want.Progress(text)
	}
}

// branchPrefix marks the branches that are ours.
const branchPrefix = "termic/"

// Create makes a task and starts its agent. delivered tells that the prompt was handed over at the start;
// without it a prompt waits until the agent is ready. On any failure, and when ctx ends before the agent is started, nothing is left.
func (s *Tasks) Create(ctx context.Context, want New) (record Record, delivered bool, err error) {
	definition, err := s.admit(&want)
	if err != nil {
		return Record{}, false, err
	}
	t, err := s.enter(want)
	if err != nil {
		return Record{}, false, err
	}
	defer t.life.Unlock()
	defer func() {
		if err != nil {
			s.forget(t)
		}
	}()
	if err = s.soleWriter(t.record().ID, want.Write); err != nil { // of two at once both see the other
		return Record{}, false, err
	}
	repo, err := s.Projects.Repo(ctx, want.Project)
	if err != nil {
		return Record{}, false, err
	}
	record, err = s.prepare(ctx, repo, t, want)
	if err != nil {
		return Record{}, false, err
	}
	repoSettings, repoErr := s.RepoSettings(ctx, want.Project)
	undo := func(cause error) error { return s.undoCheckout(repo, record, cause) }
	var copied []git.Carried
	var notes []string
	if record.OwnCheckout {
		want.say("checking out")
		if err = s.checkOut(ctx, repo, record, want.Progress); err != nil {
			return Record{}, false, err
		}
		names, why := repoSettings.Commands("copy")
		var left string
		if copied, left, err = s.copyIn(ctx, repo, record, names, want.say); err != nil {
			return Record{}, false, undo(err)
		}
		notes = append(notes, told(record, why), left)
	}
	// A crash before the tab is open leaves a task with a tab in which nothing runs, as any other crash does.
	s.saveShown(record.ID, []tab.Saved{{
		ID: ident.NewTab(), Name: definition.ID, Agent: definition.ID, Opener: want.Creator, Cage: record.Mode.String(),
		Lines: []string{"The app ended while this tab was being opened; a prompt for it was not delivered."},
	}})
	if record, err = s.save(t, func(r *Record) { r.Stage, r.Copied = Live, copied }); err != nil {
		return Record{}, false, undo(err)
	}
	want.say("starting the agent")
	caller := ctx
	ctx = context.WithoutCancel(ctx) // what a tab begins must not end with the call
	_, delivered, err = s.openTab(ctx, t, definition, tabWish{opener: want.Creator, prompt: want.Prompt, sender: want.Sender, still: want.Still, gone: caller.Err})
	if err != nil {
		s.end(t)
		return Record{}, false, undo(err)
	}
	notes = append(notes, s.setUp(ctx, t, repoSettings, repoErr)...)
	s.mu.Lock()
	t.setup = repoSettings.sentence(notes)
	s.mu.Unlock()
	return record, delivered, nil
}

// FetchNote says why a task's base is not origin's although that was asked for; empty else, and after a restart of the app.
func (s *Tasks) FetchNote(id ident.Task) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil {
		return t.fetched
	}
	return ""
}

// SetupNote says what of the project's settings was not run when a task was made, in words; empty when nothing was
// left out, and after a restart of the app.
func (s *Tasks) SetupNote(id ident.Task) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil {
		return t.setup
	}
	return ""
}

// admit checks what can be checked without touching anything, and fills in the defaults.
func (s *Tasks) admit(want *New) (agent.Definition, error) {
	if err := ident.CheckName(want.Name); err != nil {
		return agent.Definition{}, refusal.New(refusal.BadInput, err.Error(), "choose another name")
	}
	if err := s.admitCage(*want); err != nil {
		return agent.Definition{}, err
	}
	if want.Agent == "" {
		want.Agent = s.Settings.Get(settings.DefaultAgent)
	}
	definition, err := s.runnable(want.Agent)
	if err == nil && want.Mode == capability.Enforce {
		want.Hosts, err = s.withAgentHosts(want.Agent, want.Hosts)
	}
	return definition, err
}

// withAgentHosts adds what the agent itself must reach: it is part of what the task may touch, and compared with it.
func (s *Tasks) withAgentHosts(id string, hosts capability.Hosts) (capability.Hosts, error) {
	definition, err := s.Agents.Get(id)
	if err != nil || hosts.All() {
		return hosts, err
	}
	needs, err := s.State.Hosts(definition)
	if err != nil {
		return capability.Hosts{}, err
	}
	return capability.HostsOf(append(hosts.Items(), needs.Items()...)...)
}

// unlimited tells that nothing was asked for of a cage.
func (want New) unlimited() bool {
	return capability.Set{Network: want.Hosts, Read: want.Read, Write: want.Write, Env: want.Env}.Equal(capability.Set{})
}

// record returns the task as it begins.
func (want New) record() Record {
	return Record{
		ID: ident.NewTask(), Name: want.Name, Project: want.Project, OwnCheckout: !want.Live,
		Agent: want.Agent, Mode: want.Mode, MCP: want.MCP, Bypass: want.Bypass, Projects: want.Projects,
		Hosts: want.Hosts, Read: want.Read, Write: want.Write, Env: want.Env,
		Creator: want.Creator, Created: time.Now().UTC(), Stage: Creating,
	}
}

// Preview returns the record that a new task would have, or why there can be none. Nothing is made, and no name is taken.
func (s *Tasks) Preview(want New) (Record, error) {
	if _, err := s.admit(&want); err != nil {
		return Record{}, err
	}
	return want.record(), nil
}

// admitCage refuses a cage that this machine does not have, and limits that would limit nothing.
func (s *Tasks) admitCage(want New) error {
	switch {
	case want.Mode.Caged() && want.Live:
		return refusal.New(refusal.Conflict, "the project's own checkout cannot be caged: what an agent writes there runs outside at once", "leave live out, or choose cage off")
	case want.Fetch && want.Live:
		return refusal.New(refusal.BadInput, "the project's own checkout is used as it is, so that nothing would be fetched for it", "leave fetch out, or live")
	case want.Mode == capability.Off && want.MCP:
		return refusal.New(refusal.BadInput, "a task without a cage has the control plane anyway", "leave mcp out, or choose a cage")
	case want.Mode.Caged() && want.Bypass:
		return refusal.New(refusal.BadInput, "in a cage the agent acts without asking anyway", "leave bypass out")
	case !want.Mode.Caged() && !want.unlimited():
		return refusal.New(refusal.BadInput, "hosts, paths and variables belong to a cage, and the task would have none", "leave them out, or choose a cage")
	case want.Mode == capability.EnforceFS && len(want.Hosts.Items()) > 0:
		return refusal.New(refusal.BadInput, "cage enforce-fs leaves the network open, so hosts would limit nothing", "leave them out, or choose enforce")
	}
	return s.Machine.Check(want.Mode)
}

// runnable returns an agent's definition when its program is there.
func (s *Tasks) runnable(id string) (agent.Definition, error) {
	definition, err := s.Agents.Get(id)
	if err != nil {
		return agent.Definition{}, err
	}
	if _, err := agent.Find(definition, agent.WhereIn(s.Environ())); err != nil {
		return agent.Definition{}, refusal.Newf(refusal.NotFound, "install it, or choose another agent: termic agents",
			"the program of agent %s was not found in PATH", id).Because(err)
	}
	return definition, nil
}

// enter takes the new task in if its maker may still have it. The maker's life is locked meanwhile, so that its
// cage, its token and its being there cannot change between the answer and the entry: whoever changes them
// later finds the new task among its descendants.
func (s *Tasks) enter(want New) (*task, error) {
	if want.Creator != "" {
		maker, err := s.find(want.Creator)
		if err != nil {
			return nil, err
		}
		defer maker.life.Unlock()
		if err := s.withinMaker(maker.record(), want); err != nil {
			return nil, err
		}
	}
	if err := want.Still(); err != nil {
		return nil, err
	}
	return s.reserve(want)
}

// withinMaker refuses a scoped caller's task that is more than its maker as a whole (I6). The guard has compared what was
// asked for; what the agent needs besides came to it since.
func (s *Tasks) withinMaker(maker Record, want New) error {
	if !want.Scoped {
		return nil
	}
	mine, err := maker.Declared()
	if err != nil {
		return err
	}
	its, err := want.record().Declared()
	if err != nil {
		return err
	}
	err = its.ChildOf(mine, s.Machine.Enforced(maker.Mode))
	var excess capability.Excess
	if errors.As(err, &excess) {
		return refusal.Newf(refusal.ExceedsGrant, "choose an agent that needs no more than your task has, or ask the person to allow your task what this one needs",
			"with what its agent needs, the new task would be more than yours: %v", excess)
	}
	return err
}

// reserve takes the name and a place in the budget, and locks the new task's life.
func (s *Tasks) reserve(want New) (*task, error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	record := want.record()
	if maker := s.tasks[want.Creator]; maker != nil {
		record.Parents = append([]ident.Task{want.Creator}, maker.record().Parents...)
		if record.Mode.Caged() {
			record.Limits = maker.record().Limits // it begins with what the person chose there
		}
	}
	if want.Scoped {
		record.Namespace = want.Creator
		if err := s.spend(record); err != nil {
			return nil, err
		}
	}
	if other := s.taken(record, want.Name); other != "" {
		return nil, nameTaken(want.Name, other)
	}
	t := newTask(record)
	t.life.Lock()
	s.tasks[t.record().ID] = t
	return t, nil
}

// forget removes every trace of a task that did not come to be.
func (s *Tasks) forget(t *task) {
	file, err := files.File(string(t.record().ID))
	if err == nil {
		err = file.Remove(s.Store)
	}
	if err != nil {
		s.Log.Error("record of a failed task not removed", "task", t.record().ID, "cause", err)
	}
	s.saveShown(t.record().ID, nil)
	if file, err := sessions.File(string(t.record().ID)); err == nil {
		_ = file.Remove(s.Store) // it is of no use to anyone
	}
	if err := s.State.Remove(t.record().ID); err != nil {
		s.Log.Error("state of a failed task's agents not removed", "task", t.record().ID, "cause", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tasks, t.record().ID)
}

// prepare finds out where the task starts and puts the intent on disk.
func (s *Tasks) prepare(ctx context.Context, repo *git.Repo, t *task, want New) (Record, error) {
	if want.Live {
		head, branch, err := headOf(ctx, repo)
		if err != nil {
			return Record{}, err
		}
		return s.save(t, func(r *Record) { r.Base, r.Branch, r.Dir = head, branch, repo.Root })
	}
	base, fetched, err := s.base(ctx, repo, t.record(), want)
	if err != nil {
		return Record{}, err
	}
	s.mu.Lock()
	t.fetched = fetched
	s.mu.Unlock()
	baseCaged, err := s.admitBase(ctx, repo, t.record(), base, want.Confirm)
	if err != nil {
		return Record{}, err
	}
	project, ok := s.Projects.Get(want.Project)
	if !ok {
		return Record{}, refusal.New(refusal.NotFound, "no such project", "see: termic project list")
	}
	// A name in another's namespace is kept apart from the person's own: a collision would tell that there is one.
	place := filepath.Join(string(t.record().Namespace), want.Name)
	dir, branch := filepath.Join(Checkouts(s.Store, s.Settings), project.Name, place), branchPrefix+filepath.ToSlash(place)
	// Both must be free before the intent is on disk: after a crash, what is there then is ours to remove.
	if exists(dir) {
		return Record{}, git.ErrDirExists
	}
	if taken, err := repo.BranchExists(ctx, branch); err != nil || taken {
		return Record{}, cmp.Or(err, git.ErrBranchExists)
	}
	return s.save(t, func(r *Record) { r.Base, r.Branch, r.Dir, r.BaseCaged = base, branch, dir, baseCaged })
}

func headOf(ctx context.Context, repo *git.Repo) (git.OID, string, error) {
	worktrees, err := repo.Worktrees(ctx)
	if err != nil {
		return "", "", err
	}
	for _, w := range worktrees {
		if w.Main {
			return w.Head, w.Branch, nil
		}
	}
	return "", "", fmt.Errorf("find main worktree of %s: git names none", repo.Root)
}

// Checkouts is the directory of all checkouts. It lies beside the data directory and not in it: cages deny the whole
// data directory, without an exception.
func Checkouts(data *store.Store, set *settings.Settings) string {
	if dir := set.Get(settings.CheckoutsDir); dir != "" {
		return dir
	}
	return data.Dir() + ".checkouts"
}

// lockReason is what git says of a task's checkout (git worktree list).
func lockReason(id ident.Task) string { return "termic task " + string(id) }

func (s *Tasks) checkOut(ctx context.Context, repo *git.Repo, record Record, progress func(string)) error {
	plain, err := s.plain(ctx, repo, record)
	if err != nil {
		return err
	}
	return repo.AddWorktree(ctx, git.AddOptions{
		Dir: record.Dir, Branch: record.Branch, Base: record.Base, Reason: lockReason(record.ID), Plain: plain, Progress: progress,
	})
}

// rollbackTimeout bounds the undoing of a creation, which goes on when its caller is gone.
const rollbackTimeout = time.Minute

// undoCheckout removes a checkout in which no agent has run, and its branch. It returns cause, with what
// could not be undone.
func (s *Tasks) undoCheckout(repo *git.Repo, record Record, cause error) error {
	if !record.OwnCheckout {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	err := s.dropView(ctx, repo, record.ID)
	if err == nil {
		err = repo.RemoveWorktree(ctx, record.Dir)
	}
	if err == nil {
		err = repo.DeleteBranch(ctx, record.Branch, record.Base)
	}
	if err != nil && !errors.Is(err, git.ErrRefMoved) {
		s.Log.Error("checkout of a failed task not removed", "task", record.ID, "cause", err)
		return errors.Join(cause, err)
	}
	return cause
}

// exists tells whether something is at path; what cannot be seen counts as there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
