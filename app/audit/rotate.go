package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// rotateIfFull goes on in a new file when the current one has its size. After an error the old one is still in use.
func (l *Log) rotateIfFull() error {
	for l.size >= l.opts.MaxFile && !l.rotating {
		// Waiting releases mu: others may write, or rotate, in between.
		if l.durable.seq < l.last.seq {
			if err := l.sync(l.last.seq); err != nil {
				return err
			}
			continue
		}
		return l.rotate()
	}
	return nil
}

// rotate drops files beyond Options.Keep, which also frees the disk that the new one needs, and starts a new one. Everything is
// durable, and mu is not released.
func (l *Log) rotate() error {
	l.rotating = true // the notes that dropping makes must not rotate again
	defer func() { l.rotating = false }()
	if err := l.dropOldest(); err != nil {
		return fmt.Errorf("drop the oldest file: %w", classify(err))
	}
	full := l.file
	if err := l.create(l.last.seq + 1); err != nil {
		return fmt.Errorf("start a new file: %w", classify(err))
	}
	// Truncation to the same size gives the reserve of the full file back. It is an economy, and not checked.
	if fi, err := full.Stat(); err == nil {
		_ = full.Truncate(fi.Size())
	}
	return full.Close()
}

// create makes the segment whose first entry is first, and makes it current.
func (l *Log) create(first uint64) error {
	name := segmentName(first)
	f, err := l.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	reserved := l.opts.Reserve + allocChunk
	err = l.alloc(f, 0, reserved)
	if errors.Is(err, errNoAlloc) {
		reserved, err = 0, nil
	}
	if err == nil {
		err = syncDir(l.root)
	}
	if err != nil {
		return errors.Join(err, f.Close(), l.root.Remove(name))
	}
	l.file, l.name, l.size, l.reserved, l.torn, l.unsynced = f, name, 0, reserved, false, nil
	return nil
}

// dropOldest removes files until there is a place for one more. Each removal is noted, durably, before it happens: Verify accepts a chain
// that does not begin at 1 only where the log itself says so.
func (l *Log) dropOldest() error {
	names, err := segments(l.root)
	if err != nil {
		return err
	}
	for len(names) > 1 && len(names) >= l.opts.Keep {
		end, err := l.endOf(names)
		if err != nil {
			return err
		}
		if err := l.note(Note{Kind: NoteDropped, File: names[0], Seq: end.seq, Hash: end.hash}, true); err != nil {
			return err
		}
		if err := l.fsync(l.file); err != nil {
			l.failed = classify(err)
			return err
		}
		l.reach(l.last, len(l.unsynced))
		if err := l.root.Remove(names[0]); err != nil {
			return err
		}
		names = names[1:]
	}
	return nil
}

// errEnough stops a read early.
var errEnough = errors.New("enough")

// endOf returns the last entry of the oldest file, as the first line of the next one cites it: that is what Verify will compare with once the
// oldest is gone. Where that line is damaged Verify will tell of it, and what is returned does not matter.
func (l *Log) endOf(names []string) (state, error) {
	f, err := l.root.Open(names[1])
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	var end state
	_, err = eachLine(f, func(line []byte, _ int64) error {
		if first, err := unseal(line); err == nil {
			end = state{first.seq - 1, first.prev}
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return state{}, err
	}
	return end, nil
}

// syncDir makes the names in the log's directory durable.
func syncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	// fsync(2): EINVAL means that this file system cannot do it for a directory. There is nothing better to call then.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
