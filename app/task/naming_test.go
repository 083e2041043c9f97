package task

import (
	"fmt"
	"sync"
	"testing"

	"termic/app/store"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// TestANameIsOneTasks has tasks take one name at the same time, by each way in which a task comes to a name: of all of
// them one gets it, and the others are told so.
func TestANameIsOneTasks(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	for round := range 8 {
		s := inMemory()
		s.Store = data
		name := fmt.Sprint("wanted", round)
		var all sync.WaitGroup
		got := make(chan error, 24)
		var start []func()
		for i := range 8 {
			renamed := newTask(Record{ID: ident.NewTask(), Project: "p-one", Mode: capability.Monitor, Name: fmt.Sprint("renamed", i), Stage: Live})
			restored := newTask(Record{ID: ident.NewTask(), Project: "p-one", Mode: capability.Monitor, Name: name, Stage: Archived})
			s.tasks[renamed.record().ID], s.tasks[restored.record().ID] = renamed, restored
			start = append(start, func() {
				_, err := s.Rename(renamed.record().ID, name)
				got <- err
			}, func() {
				restored.life.Lock()
				defer restored.life.Unlock()
				_, err := s.claim(restored, name, func(r *Record) { r.Stage = Restoring })
				got <- err
			}, func() {
				_, err := s.reserve(New{Name: name, Project: "p-one"})
				got <- err
			})
		}
		for _, f := range start {
			all.Go(f)
		}
		all.Wait()
		close(got)
		won := 0
		for err := range got {
			if err == nil {
				won++
			} else if codeOf(err) != refusal.Conflict {
				t.Errorf("%v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d tasks have the name", won)
		}
	}
}
