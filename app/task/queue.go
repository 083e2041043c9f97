package task

import (
	"encoding/json"
	"slices"

	"termic/app/store"
	"termic/app/tab"
	"termic/registry/ident"
)

// queues keeps the texts that wait in each tab across restarts of the app, one file a tab.
var queues = store.DefineCollection[[]tab.Queued]("queues", 1)

// keepQueue returns what keeps a tab's queue on disk.
func (s *Tasks) keepQueue(id ident.Tab) func([]tab.Queued) error {
	return func(queue []tab.Queued) error {
		file, err := queues.File(string(id))
		if err != nil {
			return err
		}
		if len(queue) == 0 {
			return file.Remove(s.Store)
		}
		return file.Save(s.Store, queue)
	}
}

// keptQueue returns the texts that waited in a tab when the app ended. Whether their senders still may send them is asked when they
// are typed.
func (s *Tasks) keptQueue(id ident.Task, which ident.Tab) ([]tab.Queued, error) {
	file, err := queues.File(string(which))
	if err != nil {
		return nil, err
	}
	queue, err := file.Load(s.Store)
	if err != nil {
		return nil, err
	}
	for i := range queue {
		queue[i] = queue[i].AskedBy(s.recheck(queue[i].Sender.Later, id, which))
	}
	return queue, nil
}

func (s *Tasks) recheck(later json.RawMessage, id ident.Task, which ident.Tab) func() error {
	return func() error { return s.Recheck(later, id, which) }
}

// inherit returns the queue for a tab that takes the place of a restored one, and keeps it under the new id.
func (s *Tasks) inherit(t *task, before tab.Saved, id ident.Tab) ([]tab.Queued, error) {
	if before.ID == "" {
		return nil, nil
	}
	var queue []tab.Queued
	for _, open := range s.Tabs(t.record().ID) {
		if saved, restored := open.Restored(); restored && saved.ID == before.ID {
			queue, _, _ = open.Queue()
		}
	}
	for i := range queue {
		queue[i] = queue[i].AskedBy(s.recheck(queue[i].Sender.Later, t.record().ID, id))
	}
	if len(queue) == 0 {
		return nil, nil
	}
	return queue, s.keepQueue(id)(queue)
}

// dropFile removes a queue's file.
func (s *Tasks) dropFile(id ident.Tab) {
	if id == "" {
		return
	}
	if err := s.keepQueue(id)(nil); err != nil {
		s.Log.Error("queue's file not removed", "tab", id, "cause", err)
	}
}

// loseQueue records each text that waited in a tab which has ended for good, and removes its file.
func (s *Tasks) loseQueue(id ident.Task, open *tab.Tab, why string) {
	waiting, _, _ := open.Queue()
	s.dropFile(open.ID())
	for _, q := range waiting {
		s.Log.Warn("queued text not delivered", "task", id, "tab", open.ID(), "cause", why)
		if s.Lost != nil && len(q.Sender.Later) > 0 {
			s.Lost(q.Sender.Later, id, open.ID(), why)
		}
	}
}

// sweepQueues removes the files of tabs that did not come back, and records what waited in them.
func (s *Tasks) sweepQueues() error {
	ids, err := queues.IDs(s.Store)
	if err != nil {
		return err
	}
	var live []string
	for _, record := range s.List() {
		for _, open := range s.Tabs(record.ID) {
			live = append(live, string(open.ID()))
		}
	}
	for _, id := range ids {
		if !slices.Contains(live, id) {
			s.Log.Warn("texts of a tab that is gone are not delivered", "tab", id)
			s.dropFile(ident.Tab(id))
		}
	}
	return nil
}
