package task

import (
	"context"
	"fmt"
	"time"

	"termic/app/repoconf"
)

// archiveLimit bounds the archive commands: whoever archives waits for them.
const archiveLimit = 5 * time.Minute

// lastCommands runs the project's archive commands in a task that is about to be archived, whose life is locked, in a terminal
// of its own, in the task's cage. It returns what went wrong with them, in words: nobody keeps a task for that. They run
// before all work is kept, so that what they change is kept with it.
func (s *Tasks) lastCommands(ctx context.Context, t *task) string {
	record := t.record()
	settings, err := s.RepoSettings(ctx, record.Project)
	if err != nil {
		s.Log.Warn("settings of the repository not read", "task", record.ID, "cause", err)
		return "the project's settings could not be read, so that no archive commands ran"
	}
	lines, why := settings.Commands("archive")
	switch {
	case len(lines) == 0:
		return why
	case !record.Mode.Caged() && (record.WasCaged || record.BaseCaged): // I8
		return "the archive commands of " + repoconf.File + " were not run: a cage wrote in the task, which has none now, so that they would run what was written there"
	case s.dropEnded(t, "archive"):
		return "the archive commands were not run: the tab archive is in use"
	}
	opened, err := s.openCommands(ctx, t, "archive", lines)
	if err != nil {
		s.Log.Warn("archive commands not begun", "task", record.ID, "cause", err)
		return "the archive commands could not be begun"
	}
	limit := time.NewTimer(archiveLimit)
	defer limit.Stop()
	select {
	case <-opened.Ended():
	case <-limit.C:
		why = fmt.Sprintf("the archive commands were ended after %s", archiveLimit)
	case <-ctx.Done():
		why = "the archive commands were ended, since whoever asked for them is gone"
	}
	if err := opened.Close(); err != nil {
		s.Log.Error("tab not closed", "task", record.ID, "cause", err)
	}
	if exit := opened.Info().Exit; why == "" && exit.Signal != "" {
		why = "the archive commands were ended by " + exit.Signal
	} else if why == "" && exit.Code != 0 {
		why = fmt.Sprintf("the archive commands failed with status %d; what they printed comes back with the task", exit.Code)
	}
	return why
}
