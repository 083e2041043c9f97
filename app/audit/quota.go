package audit

import (
	"fmt"
	"time"

	"termic/registry/ident"
	"termic/registry/refusal"
)

// quotaWindow is the time over which Options.Quota is counted. A window begins with a grant's first event after the last one ended.
const quotaWindow = time.Hour

// window is what a grant has caused in the hour since start.
type window struct {
	start   time.Time
	used    int64  // bytes
	refused uint64 // decisions that were not recorded
}

// QuotaError: Grant has written its share, and its calls are refused until Until. It unwraps to ErrQuota and to the refusal that the
// caller may be shown.
type QuotaError struct {
	Grant ident.Grant
	Until time.Time
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("%v by %s until %s", ErrQuota, e.Grant, e.Until.UTC().Format(time.RFC3339))
}

func (e *QuotaError) Unwrap() []error {
	return []error{ErrQuota, refusal.New(refusal.Busy, "this caller has made more calls in an hour than the audit log takes from one caller",
		"wait until "+e.Until.UTC().Format(time.RFC3339)+", and poll less often (task_wait)")}
}

// admit returns a QuotaError for a decision of a grant that has used its share. Outcomes pass: the call has happened. The
// person (no grant) has no quota.
func (l *Log) admit(grant ident.Grant, decision bool) error {
	if grant == "" {
		return nil
	}
	l.endWindows()
	w := l.quotas[grant]
	if w == nil {
		w = &window{start: time.Now()}
		l.quotas[grant] = w
	}
	if !decision || w.used < l.opts.Quota {
		return nil
	}
	w.refused++
	if w.refused == 1 {
		_ = l.note(Note{Kind: NoteQuota, Grant: grant}, false)
	}
	return &QuotaError{grant, w.start.Add(quotaWindow)}
}

// charge adds what an event cost. Its window may have ended while the event waited, and then it is free.
func (l *Log) charge(grant ident.Grant, bytes int) {
	if w := l.quotas[grant]; w != nil {
		w.used += int64(bytes)
	}
}

// endWindows forgets windows that are over, and tells of each how many calls it refused.
func (l *Log) endWindows() {
	var ended []Note
	for grant, w := range l.quotas {
		if time.Since(w.start) < quotaWindow {
			continue
		}
		delete(l.quotas, grant)
		if w.refused > 0 {
			ended = append(ended, Note{Kind: NoteQuota, Grant: grant, Count: w.refused})
		}
	}
	for _, n := range ended { // after the loop: a note may release mu
		_ = l.note(n, false)
	}
}
