package task

import (
	"crypto/rand"
	"fmt"
	"slices"

	"termic/app/agent"
	"termic/app/store"
	"termic/registry/ident"
)

// Session is a conversation of an agent in one tab of a task, kept so that a new tab of that name goes on with it: after the tab was
// closed, after a restart of the app, and when an archived task is restored.
type Session struct {
	Tab   string `json:"tab"`
	Agent string `json:"agent"`
	// ID is the agent's own id for it.
	ID string `json:"id"`
	// Outside and Mode are where it ran: what one in a cage keeps is not there outside, nor the other way.
	Outside bool   `json:"outside,omitempty"`
	Mode    string `json:"mode"`
}

// sessions keeps them, one file a task.
var sessions = store.DefineCollection[[]Session]("sessions", 1)

// maxSessions bounds what is kept of one task; the oldest goes first.
const maxSessions = 64

// Sessions returns the conversations that are kept of a task, the latest last.
func (s *Tasks) Sessions(id ident.Task) []Session {
	file, err := sessions.File(string(id))
	if err != nil {
		return nil
	}
	list, err := file.Load(s.Store)
	if err != nil {
		s.Log.Error("sessions not read", "task", id, "cause", err)
		return nil
	}
	return list
}

// noteSessions keeps the conversations of a task's tabs that have begun. That it could not be done costs a resume, so it is logged only.
func (s *Tasks) noteSessions(id ident.Task) {
	record, _ := s.Get(id)
	before := s.Sessions(id)
	list := slices.Clone(before)
	for _, open := range s.Tabs(id) {
		session, begun := open.Conversation()
		if !begun {
			continue
		}
		info := open.Info()
		now := Session{Tab: info.Name, Agent: info.Agent, ID: session, Outside: info.Outside, Mode: record.Mode.String()}
		if slices.Contains(list, now) {
			continue
		}
		list = slices.DeleteFunc(list, now.samePlace)
		list = append(list, now)
	}
	if slices.Equal(list, before) {
		return
	}
	list = list[max(0, len(list)-maxSessions):]
	file, err := sessions.File(string(id))
	if err == nil {
		err = file.Save(s.Store, list)
	}
	if err != nil {
		s.Log.Error("sessions not kept", "task", id, "cause", err)
	}
}

// samePlace tells whether a tab that continues a would continue b.
func (a Session) samePlace(b Session) bool {
	b.ID = a.ID
	return a == b
}

// sessionFor returns the id of the conversation that a new tab goes on with, or the one that it begins under; empty when the agent
// chooses that itself.
func (s *Tasks) sessionFor(record Record, name string, definition agent.Definition, want tabWish) (id string, resume bool) {
	if len(definition.Resume) > 0 && !want.fresh {
		place := Session{Tab: name, Agent: definition.ID, Outside: want.outside, Mode: record.Mode.String()}
		for _, kept := range slices.Backward(s.Sessions(record.ID)) {
			if place.samePlace(kept) {
				return kept.ID, true
			}
		}
	}
	if len(definition.Fresh) > 0 {
		return newUUID(), false
	}
	return "", false
}

// newUUID returns a random UUID (RFC 9562, version 4), which is what agents take for ids of sessions.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
