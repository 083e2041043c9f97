package task

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"termic/app/agent"
	"termic/app/agentstate"
	"termic/app/cage"
	"termic/app/git"
	"termic/app/project"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// Credentials hands out what a task's agents need for the control plane.
type Credentials interface {
	// Task returns the endpoint's address and the token of a task, minted at the first call; limit is what the task
	// can really touch. A cage with a port of its own brings the listener in it: the token is then valid there and
	// nowhere else, and the listener is closed when it is not to be served. ok is false while nothing serves: then
	// neither is advertised.
	Task(record Record, limit capability.Set, own net.Listener) (url, token string, ok bool)
	// Address is where Task would say that the control plane is; empty while nothing serves, and for a task that is
	// not to have it. door is the port of its own that its cage has, if it has one.
	Address(record Record, door uint16) string
	// Revoke ends the task's token, and closes its cage's port.
	Revoke(id ident.Task)
	// Holds tells whether a token of the task is valid.
	Holds(id ident.Task) bool
	// Allow lets a task have a token again whose token the person had ended for good.
	Allow(id ident.Task)
}

// Tools is what tasks are made with.
type Tools struct {
	Store       *store.Store
	Projects    *project.Projects
	Agents      *agent.Set
	Settings    *settings.Settings
	Credentials Credentials
	Machine     *cage.Machine
	State       *agentstate.Keeper
	// Environ returns the environment that tabs start from, a copy; CLI is the path of the termic program, for tabs outside
	// a cage.
	Environ func() []string
	CLI     string
	// Blank takes secrets out of a line of text that is going to be kept.
	Blank func(string) string
	Log   *slog.Logger
	// Changed, when set, is called when a tab's state may have changed. It must not block.
	Changed func()
	// Recheck asks whether the sender of a text that waited over a restart may still send it to the tab: what is kept of the call, and
	// where it would go. Lost records that such a text will not be delivered, and why. Both are called with no lock of ours held.
	Recheck func(later json.RawMessage, id ident.Task, tab ident.Tab) error
	Lost    func(later json.RawMessage, id ident.Task, tab ident.Tab, why string)
}

// Tasks is every task of one data directory. It is safe for concurrent use.
type Tasks struct {
	Tools

	mu    sync.RWMutex
	tasks map[ident.Task]*task
	// watcher takes the programs of tasks that are watched.
	watcher watcher
	// naming is held from the look whether a name is free until a task has it. Taken after life, before mu.
	naming sync.Mutex
	// landing is held while work lands or is taken back. Taken after life.
	landing sync.Mutex
	// following are the goroutines that follow the git of cages.
	following sync.WaitGroup
	plugins   string // directory with our plugin for agents that have no hooks
	trying    *trying
	unsaved   chan struct{} // holds one when a tab has printed something that is not saved
}

// task is a task at run time.
type task struct {
	// life is held while the task is made, archived, restored, or a tab is opened, so that these never mix.
	// Taken before Tasks.mu.
	life sync.Mutex
	// current is what is kept of it: replaced whole by save, never changed in place, so that it is read with no lock held.
	current atomic.Pointer[Record]
	tabs    []*tab.Tab // guarded by Tasks.mu
	// caged is the running cage; nil when there is none. Guarded by Tasks.mu.
	caged *caged
	// noCage is why the last attempt to start it failed; nil when it did not. Guarded by Tasks.mu.
	noCage error
	// seen is what its programs were seen to ask for, in mode monitor.
	seen sightings
	// refused is what its cages were refused; made once, by denied.
	refused *denials
	denials sync.Once
	// view is of its own git, when it is caged.
	view view
	// opened counts the tabs that were ever opened, for their names; guarded by Tasks.mu.
	opened map[string]int
	// commands says which row of the project's commands runs in a tab; guarded by Tasks.mu.
	commands map[ident.Tab]string
	// setup is SetupNote, fetched FetchNote; guarded by Tasks.mu.
	setup, fetched string
}

// Open reads the tasks and puts right what a crash left behind.
func Open(ctx context.Context, tools Tools) (*Tasks, error) {
	s := &Tasks{Tools: tools, tasks: map[ident.Task]*task{}, trying: newTrying(), unsaved: make(chan struct{}, 1)}
	var err error
	if s.plugins, err = writePlugins(tools.Store); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	s.sweepTrials()
	if err := sweep(tools.Store); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	if err := s.sweepViews(); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	ids, err := files.IDs(tools.Store)
	if err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	for _, id := range ids {
		file, err := files.File(id)
		if err != nil {
			return nil, fmt.Errorf("open tasks: %w", err)
		}
		record, err := file.Load(tools.Store)
		if err != nil {
			return nil, fmt.Errorf("open task %s: %w", id, err)
		}
		if string(record.ID) != id { // absent now: the store set a damaged file aside and reports it
			continue
		}
		s.tasks[record.ID] = newTask(record)
		if err := s.recover(ctx, s.tasks[record.ID]); err != nil {
			tools.Log.Error("task not put right after a crash", "task", id, "cause", err)
		}
		t := s.tasks[record.ID]
		if t == nil { // its creation was rolled back
			continue
		}
		s.follow(t)
		if err := s.restoreLayout(t); err != nil {
			tools.Log.Error("tabs not restored", "task", id, "cause", err)
		}
	}
	if err := s.recoverLandings(ctx); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	if err := s.recoverDiscards(ctx); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	if err := s.sweepQueues(); err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	return s, nil
}

func newTask(record Record) *task {
	t := &task{opened: map[string]int{}, view: view{turn: make(turn, 1)}}
	t.current.Store(&record)
	return t
}

// record returns what is kept of the task now; what it holds is read, not written.
func (t *task) record() Record { return *t.current.Load() }

// List returns every task, oldest first.
func (s *Tasks) List() []Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]Record, 0, len(s.tasks))
	for _, t := range s.tasks {
		list = append(list, t.record().clone())
	}
	slices.SortFunc(list, func(a, b Record) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Get returns one task.
func (s *Tasks) Get(id ident.Task) (Record, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.tasks[id]
	if t == nil {
		return Record{}, false
	}
	return t.record().clone(), true
}

// Tabs returns the open tabs of a task, in order.
func (s *Tasks) Tabs(id ident.Task) []*tab.Tab {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tasks[id]; t != nil {
		return slices.Clone(t.tabs)
	}
	return nil
}

// Tab returns one open tab.
func (s *Tasks) Tab(id ident.Tab) (*tab.Tab, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.tasks {
		for _, open := range t.tabs {
			if open.ID() == id {
				return open, nil
			}
		}
	}
	return nil, refusal.New(refusal.NotFound, "no such tab", "look at the task's status")
}

// find returns the task and locks its life; unlock it.
func (s *Tasks) find(id ident.Task) (*task, error) {
	s.mu.RLock()
	t := s.tasks[id]
	s.mu.RUnlock()
	if t == nil {
		return nil, noSuchTask()
	}
	t.life.Lock()
	s.mu.RLock()
	gone := s.tasks[id] != t
	s.mu.RUnlock()
	if gone { // its creation was rolled back meanwhile
		t.life.Unlock()
		return nil, noSuchTask()
	}
	return t, nil
}

func noSuchTask() error {
	return refusal.New(refusal.NotFound, "no such task", "look at the list of what there is")
}

// save changes the record on disk first and then in memory.
func (s *Tasks) save(t *task, change func(*Record)) (Record, error) {
	next := t.record().clone()
	change(&next)
	file, err := files.File(string(next.ID))
	if err != nil {
		return Record{}, err
	}
	if err := file.Save(s.Store, next); err != nil {
		return Record{}, fmt.Errorf("save task: %w", err)
	}
	kept := next.clone()
	t.current.Store(&kept)
	return next, nil
}

// Rename gives a task another name. Id, branch and checkout stay.
func (s *Tasks) Rename(id ident.Task, name string) (Record, error) {
	t, err := s.find(id)
	if err != nil {
		return Record{}, err
	}
	defer t.life.Unlock()
	if err := ident.CheckName(name); err != nil {
		return Record{}, refusal.New(refusal.BadInput, err.Error(), "choose another name")
	}
	return s.claim(t, name, func(r *Record) { r.Name = name })
}

// claim changes the record of a task that has the name from then on, unless another live task has it; the task's life is
// locked. Looking and keeping are one step: of two at once one gets the name.
func (s *Tasks) claim(t *task, name string, change func(*Record)) (Record, error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	s.mu.RLock()
	other := s.taken(t.record(), name)
	s.mu.RUnlock()
	switch {
	case other != "" && t.record().Stage == Archived: // it comes back by the name that it has
		return Record{}, refusal.New(refusal.Conflict, "there is a task "+other+" already", "rename that one first")
	case other != "":
		return Record{}, nameTaken(name, other)
	}
	return s.save(t, change)
}

// taken returns the name of another live task of self's project and namespace that stands in the name's way, or nothing; s.mu is held.
// Names that differ only in case would share a directory on some file systems.
func (s *Tasks) taken(self Record, name string) string {
	for _, other := range s.tasks {
		r := other.record()
		beside := r.ID != self.ID && r.Project == self.Project && r.Namespace == self.Namespace
		if beside && r.Stage != Archived && strings.EqualFold(r.Name, name) {
			return r.Name
		}
	}
	return ""
}

// nameTaken is the refusal of a name that another task, of the caller's own namespace, stands in the way of.
func nameTaken(name, other string) error {
	if other != name {
		return refusal.Newf(refusal.Conflict, "choose a name that differs in more than case", "there is a task %s already, and %s would share its directory where case does not count", other, name)
	}
	return refusal.New(refusal.Conflict, "there is a task "+name+" already", "choose another name")
}

// UsedBy returns how many tasks a project has, archived ones included.
func (s *Tasks) UsedBy(id ident.Project) (live, archived int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.tasks {
		switch {
		case t.record().Project != id:
		case t.record().Stage == Archived:
			archived++
		default:
			live++
		}
	}
	return live, archived
}

// Stop ends every tab and every cage; nothing that they ran is left.
func (s *Tasks) Stop() {
	s.trying.end()
	s.trying.one.Lock() // until it has ended
	defer s.trying.one.Unlock()
	var all sync.WaitGroup
	for _, record := range s.List() {
		all.Go(func() {
			var tabs sync.WaitGroup
			for _, open := range s.Tabs(record.ID) {
				tabs.Go(func() {
					if err := open.Close(); err != nil {
						s.Log.Error("tab not closed", "task", record.ID, "cause", err)
					}
				})
			}
			tabs.Wait()
			s.saveLayout(record.ID)
			s.mu.RLock()
			t := s.tasks[record.ID]
			s.mu.RUnlock()
			if t != nil {
				s.cageEnds(t)
				s.killCage(t)
			}
		})
	}
	all.Wait()
	if s.watcher.stop != nil {
		s.watcher.stop()
	}
	s.following.Wait()
}

// repo opens the repository of a task's project.
func (s *Tasks) repo(ctx context.Context, record Record) (*git.Repo, error) {
	return s.Projects.Repo(ctx, record.Project)
}
