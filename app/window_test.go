package app

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"termic/app/audit"
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
