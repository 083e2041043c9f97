package task

import (
	"context"
	"fmt"
	"slices"

	"termic/app/agent"
	"termic/app/pty"
	"termic/app/settings"
	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// firstSize is the size of a terminal that nobody looks at yet: wide enough for every agent tried (below 50
// columns state detection fails in some).
var firstSize = pty.Size{Cols: 120, Rows: 36}

// maxTabs bounds the terminals of one task: each is a process tree and some megabytes.
const maxTabs = 32

// OpenTab opens another terminal in a task.
func (s *Tasks) OpenTab(id ident.Task, agentID, name string) (*tab.Tab, error) {
	if name != "" {
		if err := ident.CheckName(name); err != nil {
			return nil, refusal.New(refusal.BadInput, err.Error(), "choose another name")
		}
	}
	definition, err := s.runnable(agentID)
	if err != nil {
		return nil, err
	}
	t, err := s.find(id)
	if err != nil {
		return nil, err
	}
	defer t.life.Unlock()
	opened, _, err := s.openTab(t, definition, name, "", nil)
	return opened, err
}

// openTab starts an agent in a task whose life is locked.
func (s *Tasks) openTab(t *task, definition agent.Definition, name, prompt string, gone <-chan struct{}) (*tab.Tab, bool, error) {
	name, err := s.admitTab(t, definition, name)
	if err != nil {
		return nil, false, err
	}
	env := s.environment(t.record)
	program, err := agent.Find(definition, agent.WhereIn(env))
	if err != nil {
		return nil, false, err
	}
	argv, extra, passed, err := definition.Launch(agent.LaunchOptions{Program: program, Prompt: prompt, Dir: t.record.Dir})
	if err != nil {
		return nil, false, fmt.Errorf("start agent %s: %w", definition.ID, err)
	}
	opened, err := tab.Open(tab.Spec{
		ID: ident.NewTab(), Task: t.record.ID, Name: name, Agent: definition,
		Argv: argv, Env: append(env, extra...), Dir: t.record.Dir, Size: firstSize,
		Scrollback: s.Settings.Int(settings.Scrollback), Prompted: passed, Changed: s.Changed,
	}, s.Log.Warn)
	if err != nil {
		return nil, false, err
	}
	if prompt != "" && !passed {
		if _, err := opened.Send(context.Background(), prompt, gone); err != nil {
			opened.Close()
			return nil, false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.tabs = append(t.tabs, opened)
	return opened, passed, nil
}

// admitTab checks that the task may have another tab and returns the tab's name.
func (s *Tasks) admitTab(t *task, definition agent.Definition, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.record.Stage != Live {
		return "", refusal.New(refusal.Conflict, "the task is "+string(t.record.Stage), "restore it first")
	}
	if len(t.tabs) >= maxTabs {
		return "", refusal.Newf(refusal.Busy, "close one first", "a task may have %d tabs", maxTabs)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(t.tabs, func(o *tab.Tab) bool { return o.Info().Name == name })
	}
	if name != "" {
		if has(name) {
			return "", refusal.New(refusal.Conflict, "there is a tab "+name+" already", "choose another name")
		}
		return name, nil
	}
	for name = definition.ID; has(name); {
		t.opened[definition.ID]++
		name = fmt.Sprintf("%s-%d", definition.ID, t.opened[definition.ID]+1)
	}
	return name, nil
}

// CloseTab ends a tab and everything that runs in it.
func (s *Tasks) CloseTab(id ident.Task, which ident.Tab) error {
	t, err := s.find(id)
	if err != nil {
		return err
	}
	defer t.life.Unlock()
	open, err := s.Tab(which)
	if err != nil {
		return err
	}
	err = open.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	t.tabs = slices.DeleteFunc(t.tabs, func(o *tab.Tab) bool { return o == open })
	return err
}

// closeTabs ends all tabs of a task whose life is locked.
func (s *Tasks) closeTabs(t *task) {
	for _, open := range s.Tabs(t.record.ID) {
		if err := open.Close(); err != nil {
			s.Log.Error("tab not closed", "task", t.record.ID, "cause", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.tabs = nil
}
