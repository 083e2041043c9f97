package audit

import (
	"context"
	"fmt"
	"time"

	"termic/registry"
)

// Record appends an event. The decision of a verb that is more than a read is on disk when Record returns nil; callers that wait at the
// same time share an fsync. Everything else is on disk within 100 ms, and survives a crash of termic at once.
//
// An error means that the event is not kept, and its call must not happen: ErrQuota, ErrNoSpace, or what the disk said. ctx is not
// looked at: the wait is as long as an fsync, and a caller that went away does not undo what was decided.
func (l *Log) Record(_ context.Context, event registry.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.record(event); err != nil {
		return fmt.Errorf("record %s of %s: %w", event.Phase, event.Verb, err)
	}
	return nil
}

func (l *Log) record(event registry.Event) error {
	if l.closed {
		return ErrClosed
	}
	if event.Time.IsZero() {
		event.Time = time.Now()
	}
	decision := event.Phase == registry.Decided
	if err := l.admit(event.Grant, decision); err != nil {
		return err
	}
	// An outcome may use the reserve too: its decision stands in the log, and what was begun has happened.
	n, err := l.append(Entry{Event: &event}, !decision || l.opts.Always(event))
	if err != nil {
		return err
	}
	l.charge(event.Grant, n)
	if decision && event.Class != registry.Read {
		return l.sync(l.last.seq)
	}
	l.flushSoon()
	return nil
}

// append writes an entry's line and returns its length. privileged entries may use the reserve.
func (l *Log) append(e Entry, privileged bool) (int, error) {
	if err := l.repair(); err != nil {
		return 0, err
	}
	if err := l.rotateIfFull(); err != nil && !privileged {
		return 0, err
	}
	// From here to the write mu is never released, so that seq and prev stay true.
	e.Seq, e.Prev = l.last.seq+1, l.last.hash
	line, hash, err := seal(l.line, e)
	if err != nil {
		return 0, err
	}
	l.line = line
	if err := l.room(len(line)); err != nil && !privileged {
		l.noteFull()
		return 0, err
	}
	if err := l.write(line); err != nil {
		return 0, err
	}
	l.last = state{e.Seq, hash}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return len(line), nil
}

// note appends an entry about the log itself.
func (l *Log) note(n Note, privileged bool) error {
	n.Time = time.Now()
	_, err := l.append(Entry{Note: &n}, privileged)
	return err
}

// write puts a line behind the last one. After an error the file ends where it ended before, or torn is set.
func (l *Log) write(line []byte) error {
	if l.torn {
		if err := l.file.Truncate(l.size); err != nil {
			return classify(err)
		}
		l.torn = false
	}
	if _, err := l.file.WriteAt(line, l.size); err != nil {
		// Truncation gives up the blocks behind the end as well; room asks for them anew.
		l.torn = l.file.Truncate(l.size) != nil
		l.reserved = l.size
		return classify(err)
	}
	l.size += int64(len(line))
	l.reserved = max(l.reserved, l.size)
	l.unsynced = append(l.unsynced, line...)
	return nil
}

// sync returns when entry seq is on disk. One caller calls fsync for all that have written by then; those that come while it
// runs wait for the next one, which again serves all of them.
func (l *Log) sync(seq uint64) error {
	for l.durable.seq < seq {
		if l.failed != nil {
			return l.failed
		}
		if l.syncing {
			l.idle.Wait()
			continue
		}
		l.syncing = true
		file, reached, size := l.file, l.last, len(l.unsynced)
		l.mu.Unlock()
		err := l.fsync(file)
		l.mu.Lock()
		l.syncing = false
		l.idle.Broadcast()
		if err != nil {
			l.failed = classify(err)
			return l.failed
		}
		l.reach(reached, size)
	}
	return nil
}

// reach notes that the first n unsynced bytes, up to entry s, are on disk.
func (l *Log) reach(s state, n int) {
	l.durable = s
	l.unsynced = append(l.unsynced[:0], l.unsynced[n:]...)
	// A head that is behind is no lie, so nothing fails when it cannot be written.
	_, _ = l.head.WriteAt(formatHead(s), 0)
}

// repair tries to get past a failed fsync. Linux marks the pages of a failed write-back as clean (fsync(2), "Errors"), so a second
// fsync proves nothing by itself: the bytes are written again first.
func (l *Log) repair() error {
	if l.failed == nil {
		return nil
	}
	// No fsync runs: sync starts none while failed is set.
	if _, err := l.file.WriteAt(l.unsynced, l.size-int64(len(l.unsynced))); err != nil {
		return classify(err)
	}
	if err := l.fsync(l.file); err != nil {
		l.failed = classify(err)
		return l.failed
	}
	doubtful := l.last.seq - l.durable.seq
	l.failed = nil
	l.reach(l.last, len(l.unsynced))
	return l.note(Note{Kind: NoteUnsynced, Seq: l.last.seq, Count: doubtful}, true)
}

// flushSoon arranges an fsync within flushAfter.
func (l *Log) flushSoon() {
	if l.timer != nil {
		return
	}
	l.timer = time.AfterFunc(flushAfter, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.timer = nil
		if !l.closed {
			_ = l.sync(l.last.seq) // an error stays in failed, and the next Record returns it
		}
	})
}
