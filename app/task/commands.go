package task

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"termic/app/tab"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// commandLimit bounds what a row of commands may take: an installation on a slow line, and an end to one that hangs.
const commandLimit = 30 * time.Minute

// setUp begins the project's setup commands in a new task, in a terminal of its own, in the task's cage: they run beside
// the agent, can be watched and ended, and what they printed is kept. It returns what was not run, in words. A setup
// that cannot be begun costs nobody the task. err is that of reading the settings.
func (s *Tasks) setUp(ctx context.Context, t *task, settings RepoSettings, err error) (notes []string) {
	if err != nil {
		s.Log.Warn("settings of the repository not read", "task", t.record().ID, "cause", err)
		return []string{"the project's settings could not be read, so that no setup ran"}
	}
	lines, note := settings.Commands("setup")
	if len(lines) == 0 {
		return []string{told(t.record(), note)}
	}
	if t.record().BaseCaged {
		return []string{"the setup commands were not run: the task starts from what a cage wrote and is less caged, so that they would run what was written there. " +
			"Look at what they read, then: termic run " + t.record().Name + " setup"}
	}
	if _, err := s.openCommands(ctx, t, "setup", lines); err != nil {
		s.Log.Warn("setup not begun", "task", t.record().ID, "cause", err)
		return []string{"the setup commands could not be begun"}
	}
	return []string{told(t.record(), note)}
}

// told is what the maker of a task hears of why something of the project's settings was not done. The reason may quote the
// person's own file, and asks the person for trust: a caged agent is told neither.
func told(record Record, why string) string {
	if why == "" || record.Namespace == "" {
		return why
	}
	return "not all that the project's settings say was done; the person can see why"
}

// sentence joins what is to be said of a new task, each once, and how the person lets what they did not trust.
func (r RepoSettings) sentence(notes []string) string {
	var list []string
	for _, n := range notes {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if slices.ContainsFunc(list, func(n string) bool { return strings.HasSuffix(n, notTrusted) }) {
		list = append(list, r.HowToTrust())
	}
	return strings.Join(list, "; ")
}

// RunCommands runs a row of the project's commands, setup or run, in a terminal of a task. still is as in OpenTab.
func (s *Tasks) RunCommands(ctx context.Context, id ident.Task, key string, still func() error) (*tab.Tab, error) {
	t, err := s.find(id)
	if err != nil {
		return nil, err
	}
	defer t.life.Unlock()
	if err := still(); err != nil {
		return nil, err
	}
	settings, err := s.RepoSettings(ctx, t.record().Project)
	if err != nil {
		return nil, err
	}
	lines, why := settings.Commands(key)
	switch {
	case len(lines) == 0 && why != "" && settings.Broken():
		return nil, refusal.New(refusal.Conflict, why, "correct that file and, where it is the project's, commit it")
	case len(lines) == 0 && why != "":
		return nil, refusal.New(refusal.Unconfirmed, why, settings.HowToTrust())
	case len(lines) == 0:
		return nil, refusal.New(refusal.NotFound, "the project has no "+key+" commands", "add them to .termic.toml, and commit it")
	}
	if s.dropEnded(t, key) {
		return nil, refusal.New(refusal.Conflict, "the "+key+" commands run already, in the tab "+key, "look at that tab, or close it first")
	}
	return s.openCommands(ctx, t, key, lines)
}

// dropEnded closes the terminal of an earlier run that has ended, so that its name is free, and tells whether one is there that runs.
func (s *Tasks) dropEnded(t *task, name string) (runs bool) {
	for _, open := range s.Tabs(t.record().ID) {
		if open.Info().Name != name {
			continue
		}
		select {
		case <-open.Ended():
			if err := open.Close(); err != nil {
				s.Log.Warn("ended tab not closed", "task", t.record().ID, "cause", err)
			}
			s.mu.Lock()
			t.tabs = without(t.tabs, open)
			s.mu.Unlock()
		default:
			runs = true
		}
	}
	return runs
}

func without(tabs []*tab.Tab, gone *tab.Tab) []*tab.Tab {
	var rest []*tab.Tab
	for _, open := range tabs {
		if open != gone {
			rest = append(rest, open)
		}
	}
	return rest
}

// openCommands runs commands in a terminal of a task whose life is locked: in its cage, when it has one.
func (s *Tasks) openCommands(ctx context.Context, t *task, name string, lines []string) (*tab.Tab, error) {
	shell, err := s.Agents.Get("shell")
	if err != nil {
		return nil, err
	}
	opened, _, err := s.openTab(ctx, t, shell, tabWish{name: name, argv: []string{"/bin/sh", "-c", script(name, lines)}})
	if err == nil {
		s.mu.Lock()
		if t.commands == nil {
			t.commands = map[ident.Tab]string{}
		}
		t.commands[opened.ID()] = name
		s.mu.Unlock()
	}
	if err == nil && name != "run" { // a server runs as long as it is wanted
		go endAfter(opened, commandLimit, s.Log)
	}
	return opened, err
}

// endAfter ends what runs in a tab when the time is over. What it printed stays.
func endAfter(open *tab.Tab, limit time.Duration, log *slog.Logger) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-open.Ended():
	case <-timer.C:
		log.Warn("commands of a project took too long, and were ended", "tab", open.ID(), "limit", limit)
		if err := open.Close(); err != nil {
			log.Error("tab not closed", "tab", open.ID(), "cause", err)
		}
	}
}

// script is a shell's program that runs the lines one after the other, each by a shell of its own, until one fails.
func script(name string, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "printf '$ %%s\\n' %s\n/bin/sh -c %s || { code=$?; echo \"termic: %s failed with status $code\"; exit $code; }\n", quoted(line), quoted(line), name)
	}
	fmt.Fprintf(&b, "echo 'termic: %s is done'\n", name)
	return b.String()
}

// quoted is a text as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
