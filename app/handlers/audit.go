package handlers

import (
	"context"
	"fmt"
	"time"

	"termic/app/audit"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindAudit(r *registry.Router) {
	bind(r, verbs.AuditTail, s.auditTail)
	bind(r, verbs.AuditVerify, s.auditVerify)
}

const (
	// defaultEntries is how many entries are shown unless the caller says otherwise; the schema says so too.
	defaultEntries = 50
	// followFor is how long a call waits for an entry; the schema says so too.
	followFor = 30 * time.Second
)

// auditTail shows the newest entries. One that follows is not woken by its own record in the log: what is asked for is
// what comes after its own.
func (s Services) auditTail(ctx context.Context, call registry.Call, in verbs.AuditTailIn) (verbs.AuditTailOut, error) {
	lines := in.Lines
	if lines == 0 {
		lines = defaultEntries
	}
	timer := time.NewTimer(followFor)
	defer timer.Stop()
	for {
		newest, grown := s.Audit.Newest()
		entries, err := s.Audit.Tail(lines, func(e audit.Entry) bool {
			follows := e.Event != nil && e.Event.Verb == verbs.AuditTail.Verb().Name
			return e.Seq > uint64(in.After) && !(in.Follow && follows)
		})
		if err != nil {
			return verbs.AuditTailOut{}, err
		}
		out := verbs.AuditTailOut{Entries: []verbs.AuditEntry{}, Next: max(int(newest), in.After)}
		for _, e := range entries {
			out.Entries = append(out.Entries, renderEntry(e))
			out.Next = max(out.Next, int(e.Seq))
		}
		if !in.Follow || len(entries) > 0 {
			return out, nil
		}
		select {
		case <-grown:
		case <-timer.C:
			return out, nil
		case <-ctx.Done():
			return verbs.AuditTailOut{}, ctx.Err()
		}
	}
}

// renderEntry renders an entry for people.
func renderEntry(e audit.Entry) verbs.AuditEntry {
	out := verbs.AuditEntry{Seq: int(e.Seq), Time: e.Time().UTC().Format(time.RFC3339), Phase: "note"}
	if e.Note != nil {
		out.Note = describeNote(*e.Note)
		return out
	}
	event := e.Event
	if event == nil {
		return out
	}
	out.Phase, out.Verb, out.Caller, out.Door, out.Says = string(event.Phase), event.Verb, event.Caller, event.Way.String(), event.ClientSays
	out.Grant, out.From = string(event.Grant), string(event.Task)
	out.Project, out.Task, out.Tab = string(event.Subject.Project), string(event.Subject.Task), string(event.Subject.Tab)
	out.Rule, out.Code, out.Why, out.Millis = event.Rule, string(event.Code), event.Why, int(event.Millis)
	out.Request, out.Arguments = string(event.Request), event.Arguments
	out.Decision = "refused"
	if event.Allow {
		out.Decision = "allowed"
	}
	return out
}

// describeNote says in words what the log tells about itself.
func describeNote(n audit.Note) string {
	switch n.Kind {
	case audit.NoteTorn:
		return "a crash left half a line, which was put aside"
	case audit.NoteDamaged:
		return "the log was found changed from outside"
	case audit.NoteMissing:
		return fmt.Sprintf("the log ended before entry %d, which had been on disk", n.Seq)
	case audit.NoteDropped:
		return fmt.Sprintf("the oldest file, up to entry %d, was removed by rotation", n.Seq)
	case audit.NoteQuota:
		return fmt.Sprintf("grant %s reached its share of this hour; calls refused since: %d", n.Grant, n.Count)
	case audit.NoteFull:
		return "the disk was full: nothing but what takes power away was done"
	case audit.NoteUnsynced:
		return fmt.Sprintf("the disk did not confirm %d entries at once; their calls may have been refused", n.Count)
	}
	return "a line that cannot be read"
}

func (s Services) auditVerify(context.Context, registry.Call, verbs.None) (verbs.AuditVerifyOut, error) {
	report, err := s.Audit.Verify()
	if err != nil {
		return verbs.AuditVerifyOut{}, err
	}
	out := verbs.AuditVerifyOut{
		Outcome: "whole", Entries: report.Entries, First: int(report.First), Last: int(report.Last), Torn: report.Torn,
		Problems: []string{}, Notes: []string{},
	}
	if !report.OK() {
		out.Outcome = "broken"
	}
	for _, p := range report.Problems {
		out.Problems = append(out.Problems, p.String())
	}
	for _, n := range report.Noted {
		out.Notes = append(out.Notes, describeNote(n))
	}
	return out, nil
}
