package task

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"termic/app/pty"
	"termic/app/settings"
	"termic/app/store"
	"termic/app/tab"
	"termic/registry/ident"
)

// layouts keeps the tabs of each task across restarts of the app, one file a task.
var layouts = store.DefineCollection[[]tab.Saved]("tabs", 1)

// What a crash may cost of the tabs' output: it is saved saveSoon after it began to come, and later where saving takes long, so that it
// takes at most 1/saveShare of a processor, but never later than saveLate.
const (
	saveSoon  = 3 * time.Second
	saveLate  = time.Minute
	saveShare = 50
)

// saveAfter is how long output waits when the last save took some time.
func saveAfter(took time.Duration) time.Duration {
	return min(max(saveSoon, saveShare*took), saveLate)
}

// SaveLayouts saves the tabs of all tasks that have printed something, until done is closed. It returns after that. While nothing is
// printed it sleeps.
func (s *Tasks) SaveLayouts(done <-chan struct{}) {
	seen := map[ident.Task]uint64{}
	var took time.Duration
	for {
		select {
		case <-s.unsaved:
		case <-done:
			return
		}
		select {
		case <-time.After(saveAfter(took)):
		case <-done:
			return
		}
		began := time.Now()
		for _, record := range s.List() {
			if now := s.shown(record.ID); now != seen[record.ID] {
				s.saveLayout(record.ID)
				seen[record.ID] = now
			}
		}
		took = time.Since(began)
	}
}

// printed is told by a tab that has printed something since it was last saved.
func (s *Tasks) printed() {
	select {
	case s.unsaved <- struct{}{}:
	default: // it is known already
	}
}

// shown is how much the tabs of a task have printed so far.
func (s *Tasks) shown(id ident.Task) (bytes uint64) {
	for _, open := range s.Tabs(id) {
		bytes += open.Printed()
	}
	return bytes
}

// saveLayout saves the tabs of one task. That it could not be done costs their scrollback at the next start and nothing else, so
// it is logged only.
func (s *Tasks) saveLayout(id ident.Task) {
	s.noteSessions(id)
	record, ok := s.Get(id)
	if !ok || record.Stage != Live { // what an archived task's tabs showed is kept with it
		return
	}
	s.saveShown(id, s.savedTabs(record))
}

// savedTabs is what is to be kept of a task's tabs.
func (s *Tasks) savedTabs(record Record) (saved []tab.Saved) {
	for _, open := range s.Tabs(record.ID) {
		one := open.Save(s.Blank)
		one.Cage = record.Mode.String()
		saved = append(saved, one)
	}
	return saved
}

// shownTabs is what a task's tabs show before they are ended for good: it is kept with an archive. The task's life is locked.
func (s *Tasks) shownTabs(t *task, record Record) []tab.Saved {
	saved := s.savedTabs(record)
	for i := range saved {
		saved[i].Session = 0 // nothing of it is left by the time that anybody looks for it
		if saved[i].Ended.IsZero() {
			saved[i].Ended = time.Now().UTC().Truncate(time.Second)
		}
	}
	return saved
}

// saveShown saves what tabs showed; nil removes it.
func (s *Tasks) saveShown(id ident.Task, saved []tab.Saved) {
	file, err := layouts.File(string(id))
	if err == nil && len(saved) == 0 {
		err = file.Remove(s.Store)
	} else if err == nil {
		err = file.Save(s.Store, saved)
	}
	if err != nil {
		s.Log.Error("tabs not saved", "task", id, "cause", err)
	}
}

// showAgain brings the tabs back of a task that was to be archived and is not, with nothing running in them.
func (s *Tasks) showAgain(t *task, shown []tab.Saved) {
	s.saveShown(t.record().ID, shown)
	s.restoreTabs(t)
}

// restoreTabs brings the tabs back whose text was kept with an archive. That it fails costs their text only.
func (s *Tasks) restoreTabs(t *task) {
	if err := s.restoreLayout(t); err != nil {
		s.Log.Error("tabs not restored", "task", t.record().ID, "cause", err)
	}
}

// restoreLayout brings back the tabs that a live task had when the app ended, with nothing running in them, and ends what a crash of
// the app left running in their sessions: those processes were never asked to stay (setsid asks for that, and makes another session).
func (s *Tasks) restoreLayout(t *task) error {
	file, err := layouts.File(string(t.record().ID))
	if err != nil {
		return err
	}
	saved, err := file.Load(s.Store)
	if err != nil || len(saved) == 0 {
		return err
	}
	if err := endSurvivors(t.record().ID, saved); err != nil {
		s.Log.Error("processes of an earlier run not ended", "task", t.record().ID, "cause", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.record().Stage != Live { // archived: its text is kept with it
		return nil
	}
	for _, one := range saved {
		definition, err := s.Agents.Get(one.Agent)
		if err != nil || len(t.tabs) >= maxTabs || ident.CheckName(one.Name) != nil || one.Cage != t.record().Mode.String() {
			continue
		}
		restored := tab.Restore(one, t.record().ID, definition, s.Settings.Int(settings.Scrollback))
		if queue, err := s.keptQueue(t.record().ID, one.ID); err != nil {
			s.Log.Error("queue not restored", "task", t.record().ID, "cause", err)
		} else {
			restored.Inherit(queue, s.keepQueue(one.ID))
		}
		t.tabs = append(t.tabs, restored)
	}
	return nil
}

// endSurvivors kills the processes of the sessions that saved names which still carry the task's mark: a session's number may be
// somebody else's by now.
func endSurvivors(id ident.Task, saved []tab.Saved) error {
	processes, err := pty.Marked(EnvTaskID)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, one := range saved {
		ours := slices.ContainsFunc(processes, func(p pty.Process) bool { return p.Session == one.Session && p.Value == string(id) })
		if one.Session > 1 && ours {
			err = errors.Join(err, pty.KillSession(one.Session))
		}
	}
	if err != nil {
		return fmt.Errorf("end what an earlier run left: %w", err)
	}
	return nil
}

// running is how many of its tabs are of this run. s.mu is held.
func (t *task) running() (n int) {
	for _, open := range t.tabs {
		if _, restored := open.Restored(); !restored {
			n++
		}
	}
	return n
}

// before returns what a restored tab of that name shows, whose place a new one takes: nothing of one outside the cage for one inside,
// which others may read. s.mu is held.
func (t *task) before(name string, outside bool) tab.Saved {
	for _, open := range t.tabs {
		if saved, restored := open.Restored(); restored && saved.Name == name && saved.Outside == outside {
			return saved
		}
	}
	return tab.Saved{}
}

// enlist adds a tab to the task's list, at the place of a restored one of its name. s.mu is held.
func (t *task) enlist(opened *tab.Tab) {
	for i, old := range t.tabs {
		if saved, restored := old.Restored(); restored && saved.Name == opened.Info().Name {
			t.tabs = slices.Clone(t.tabs)
			t.tabs[i] = opened
			return
		}
	}
	t.tabs = append(t.tabs, opened)
}
