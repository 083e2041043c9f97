package app

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"termic/app/audit"
	"termic/app/gui"
	"termic/registry"
	"termic/registry/ident"
)

// A script that calls all the time must not push the calls of a task out of its view.
func TestTheCallsOfATaskAreFoundBehindManyOfOthers(t *testing.T) {
	log, err := audit.Open(filepath.Join(t.TempDir(), "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w := watching(log)
	record := func(request string, e registry.Event) {
		t.Helper()
		e.Request, e.Phase = ident.Request(request), registry.Finished
		if err := w.Record(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	record("made", registry.Event{Verb: "task_new", Way: registry.MCP, Class: registry.Write, Task: "t1"})
	record("about", registry.Event{Verb: "task_send", Way: registry.CLI, Class: registry.Write, Subject: registry.EventSubject{Task: "t1"}})
	record("looked", registry.Event{Verb: "task_log", Way: registry.Window, Class: registry.Read, Subject: registry.EventSubject{Task: "t1"}})
	for i := range 2 * shownCalls {
		record(fmt.Sprint("other", i), registry.Event{Verb: "task_list", Way: registry.CLI, Class: registry.Read})
	}

	calls, err := w.Calls("t1")
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 2 || calls[0].Request != "made" || calls[1].Request != "about" {
		t.Errorf("the calls of t1 are %+v; want the one it made, then the one about it", calls)
	}
	all, err := w.Calls("")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != shownCalls || all[0].Request != fmt.Sprint("other", shownCalls) {
		t.Errorf("of everyone %d calls are told, beginning with %s", len(all), all[0].Request)
	}
}

// Quitting ends every agent that works, so that the question counts what the list shows: agents, not tasks, and no shells.
func TestTheQuestionAtQuittingCountsTheAgentsThatTheListShows(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	var page atomic.Pointer[gui.Server]
	r.window = func(s *gui.Server) { page.Store(s) }
	r.start()
	listed := func() (n int) {
		for _, task := range r.must("task_list", `{}`)["tasks"].([]any) {
			for _, tab := range task.(map[string]any)["tabs"].([]any) {
				state, agent := tab.(map[string]any)["state"], tab.(map[string]any)["agent"]
				if agent != "shell" && (state == "working" || state == "starting") {
					n++
				}
			}
		}
		return n
	}
	r.task("rest", "test", "say done")
	r.wait("rest")
	r.task("lines", "shell", "sleep 600")
	if n := page.Load().Working(); n != 0 || listed() != 0 {
		t.Errorf("no agent works: the question counts %d, the list %d", n, listed())
	}
	r.task("two", "test", "work 20m")
	r.must("task_tab", `{"task":"two","agent":"test","prompt":"work 20m"}`)
	if n := page.Load().Working(); n != 2 || listed() != 2 {
		t.Errorf("two agents of one task work: the question counts %d, the list %d", n, listed())
	}
}
