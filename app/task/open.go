package task

import (
	"context"
	"fmt"
	"slices"

	"termic/app/agent"
	"termic/app/git"
	"termic/app/pty"
	"termic/app/settings"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// firstSize is the size of a terminal that nobody looks at yet: wide enough for every agent tried (below 50
// columns state detection fails in some).
var firstSize = pty.Size{Cols: 120, Rows: 36}

// maxTabs bounds the terminals of one task: each is a process tree and some megabytes.
const maxTabs = 32

// NewTab says what a new tab is to be.
type NewTab struct {
	// Agent is what runs in it; Name is empty for the agent's id, numbered if taken.
	Agent, Name string
	// Opener is the task whose token asks for it.
	Opener ident.Task
	// Fresh begins a new conversation; else an earlier tab of the name goes on with the one that it had with the agent.
	Fresh  bool
	Prompt string
	Sender tab.Sender // of the prompt
	// Still is asked, with the task's life locked, whether it may be opened as things are then, and before a prompt is typed.
	Still func() error
}

// OpenTab opens another terminal in a task. delivered tells that its prompt was handed over at its start; without that a prompt waits.
func (s *Tasks) OpenTab(ctx context.Context, id ident.Task, want NewTab) (opened *tab.Tab, delivered bool, err error) {
	return s.openWish(ctx, id, want.Agent, tabWish{name: want.Name, fresh: want.Fresh, opener: want.Opener, prompt: want.Prompt, sender: want.Sender, still: want.Still})
}

// openWish opens a tab.
func (s *Tasks) openWish(ctx context.Context, id ident.Task, agentID string, want tabWish) (*tab.Tab, bool, error) {
	if want.name != "" {
		if err := ident.CheckName(want.name); err != nil {
			return nil, false, refusal.New(refusal.BadInput, err.Error(), "choose another name")
		}
	}
	definition, err := s.runnable(agentID)
	if err != nil {
		return nil, false, err
	}
	t, err := s.find(id)
	if err != nil {
		return nil, false, err
	}
	defer t.life.Unlock()
	if err := want.still(); err != nil {
		return nil, false, err
	}
	return s.openTab(ctx, t, definition, want)
}

// tabWish is a tab to be opened.
type tabWish struct {
	name   string // "": the agent's id, numbered if taken
	opener ident.Task
	prompt string
	sender tab.Sender   // of the prompt
	fresh  bool         // begins a new conversation where there is one to go on with
	still  func() error // as in tab.Send, for the prompt
	// gone, when set, is asked before the agent is started: not nil when nobody wants it any more.
	gone func() error
	// outside opens it beside the task's cage. Only OpenOutside asks for it.
	outside bool
	// argv runs in place of the agent's program; for commands of the project.
	argv []string
}

// openTab starts an agent in a task whose life is locked: in its cage, when it has one.
func (s *Tasks) openTab(ctx context.Context, t *task, definition agent.Definition, want tabWish) (*tab.Tab, bool, error) {
	name, before, err := s.admitTab(t, definition, want)
	if err != nil {
		return nil, false, err
	}
	if s.follow(t).lacksCheckout() {
		return nil, false, git.ErrNoCheckout
	}
	place, err := s.placeOf(ctx, t, want.outside)
	if err != nil {
		return nil, false, err
	}
	program, err := agent.Find(definition, agent.WhereIn(place.env))
	if err != nil {
		return nil, false, err
	}
	session, resume := s.sessionFor(t.record(), name, definition, want)
	launch := agent.LaunchOptions{
		Program: program, Session: session, Resume: resume, Prompt: want.prompt, Dir: t.record().Dir, Caged: place.start != nil, Bypass: t.record().Bypass && !want.outside,
		MCPURL: place.url, OlderMCP: s.Settings.Bool(settings.MCPOlder), Hook: place.hook, Plugins: place.plugins,
	}
	argv, extra, passed, err := definition.Launch(launch)
	if err != nil {
		return nil, false, fmt.Errorf("start agent %s: %w", definition.ID, err)
	}
	tabID := ident.NewTab()
	queue, err := s.inherit(t, before, tabID)
	if err != nil {
		return nil, false, err
	}
	if want.argv != nil {
		argv = want.argv
	}
	if want.gone != nil && want.gone() != nil {
		s.dropFile(tabID)
		return nil, false, want.gone()
	}
	if t.record().Mode == capability.Monitor && !want.outside {
		watched, err := s.watched(t.record().ID, name)
		if err != nil {
			return nil, false, err
		}
		argv = append(watched, argv...)
	}
	opened, err := tab.Open(tab.Spec{
		ID: tabID, Queue: queue, Keep: s.keepQueue(tabID), Task: t.record().ID, Name: name, Agent: definition,
		Argv: argv, Env: append(place.env, extra...), Dir: t.record().Dir, Size: firstSize, Start: place.start,
		Scrollback: s.Settings.Int(settings.Scrollback), Prompted: passed, Hooks: definition.Reports(launch),
		Conversation: session, Resumed: resume, Before: before, Printed: s.printed,
		Opener: want.opener, Outside: want.outside, Changed: s.Changed,
	}, s.Log.Warn)
	if err != nil {
		s.dropFile(tabID)
		return nil, false, err
	}
	if want.prompt != "" && !passed {
		if _, err := opened.Send(context.Background(), tab.Message{Text: want.prompt, Sender: want.sender, Still: want.still}); err != nil {
			opened.Close()
			s.dropFile(tabID)
			return nil, false, err
		}
	}
	s.dropFile(before.ID)
	s.mu.Lock()
	t.enlist(opened)
	s.mu.Unlock()
	s.saveLayout(t.record().ID)
	return opened, passed, nil
}

// admitTab checks that the task may have another tab and returns the tab's name, and what a tab showed in an earlier run whose
// place it takes.
func (s *Tasks) admitTab(t *task, definition agent.Definition, want tabWish) (name string, before tab.Saved, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.record().Mode.Caged() && !want.outside && !definition.Shell && definition.ID != t.record().Agent {
		return "", before, refusal.Newf(refusal.Unsupported, "make a task for it",
			"the task's cage was made for agent %s, and has neither program nor login of agent %s", t.record().Agent, definition.ID)
	}
	if t.record().Stage != Live {
		return "", before, refusal.New(refusal.Conflict, "the task is "+string(t.record().Stage), "restore it first")
	}
	if t.running() >= maxTabs {
		return "", before, refusal.Newf(refusal.Busy, "close one first", "a task may have %d tabs", maxTabs)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(t.tabs, func(o *tab.Tab) bool {
			_, restored := o.Restored()
			return !restored && o.Info().Name == name
		})
	}
	if want.name != "" {
		if has(want.name) {
			return "", before, refusal.New(refusal.Conflict, "there is a tab "+want.name+" already", "choose another name")
		}
		return want.name, t.before(want.name, want.outside), nil
	}
	for name = definition.ID; has(name); {
		t.opened[definition.ID]++
		name = fmt.Sprintf("%s-%d", definition.ID, t.opened[definition.ID]+1)
	}
	return name, t.before(name, want.outside), nil
}

// CloseTab ends a tab and everything that runs in it. still is as in OpenTab.
func (s *Tasks) CloseTab(id ident.Task, which ident.Tab, still func() error) error {
	t, err := s.find(id)
	if err != nil {
		return err
	}
	defer t.life.Unlock()
	if err := still(); err != nil {
		return err
	}
	open, err := s.Tab(which)
	if err != nil {
		return err
	}
	s.noteSessions(id)
	err = open.Close()
	s.loseQueue(id, open, "the tab was closed")
	s.mu.Lock()
	t.tabs = slices.DeleteFunc(t.tabs, func(o *tab.Tab) bool { return o == open })
	s.mu.Unlock()
	s.saveLayout(id)
	return err
}

// closeTabs ends all tabs of a task whose life is locked.
func (s *Tasks) closeTabs(t *task) {
	s.noteSessions(t.record().ID)
	for _, open := range s.Tabs(t.record().ID) {
		if err := open.Close(); err != nil {
			s.Log.Error("tab not closed", "task", t.record().ID, "cause", err)
		}
		s.loseQueue(t.record().ID, open, "the task's tabs were ended")
	}
	s.mu.Lock()
	t.tabs, t.commands = nil, nil
	s.mu.Unlock()
	s.saveLayout(t.record().ID)
}
