package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// resume finds the end of the chain and opens the file in which it goes on.
func (l *Log) resume() error {
	names, err := segments(l.root)
	if err != nil {
		return err
	}
	t, err := l.findTip(names)
	if err != nil {
		return err
	}
	l.last, l.durable = t.state, t.state
	if t.reopen == "" {
		err = l.createFree()
	} else {
		err = l.reopen(t.reopen, t.end)
	}
	if err != nil {
		return err
	}
	if l.head, err = openHead(l.root, l.last); err != nil {
		return err
	}
	for _, n := range t.notes {
		if err := l.note(n, true); err != nil {
			return err
		}
	}
	return l.sync(l.last.seq)
}

// tip is where and how the log goes on.
type tip struct {
	state
	reopen string // the file to go on in; empty for a new one
	end    int64  // its size
	notes  []Note
}

// findTip reads the last file, and the one before it when the last has no entry yet. It moves a torn end to a side file.
func (l *Log) findTip(names []string) (tip, error) {
	t := tip{state: state{0, genesis}}
	if len(names) > 0 {
		last := names[len(names)-1]
		s, err := scan(l.root, last)
		if err != nil {
			return tip{}, err
		}
		if s.damagedAt == 0 {
			t.reopen, t.end = last, s.end
		} else {
			t.notes = append(t.notes, Note{Kind: NoteDamaged, File: last})
		}
		if s.torn && s.damagedAt == 0 {
			side, err := l.cutTorn(last, s.end)
			if err != nil {
				return tip{}, fmt.Errorf("cut the torn end of %s: %w", last, err)
			}
			t.notes = append(t.notes, Note{Kind: NoteTorn, File: side})
		}
		if s.seq == 0 && len(names) > 1 {
			if s, err = scan(l.root, names[len(names)-2]); err != nil {
				return tip{}, err
			}
		}
		if s.seq != 0 {
			t.state = s.state
		}
	}
	return t.checkHead(l.root)
}

// checkHead compares the tip with the head file, and believes the head when it is further: numbers are never given twice.
func (t tip) checkHead(root *os.Root) (tip, error) {
	head, found, err := readHead(root)
	switch {
	case errors.Is(err, errHead):
		t.notes = append(t.notes, Note{Kind: NoteDamaged, File: nameHead})
	case err != nil:
		return tip{}, err
	case !found && t.seq > 0:
		t.notes = append(t.notes, Note{Kind: NoteMissing, File: nameHead})
	case head.seq > t.seq:
		t.notes = append(t.notes, Note{Kind: NoteMissing, Seq: head.seq})
		t.state, t.reopen = head, ""
	case found && head.seq == t.seq && head.hash != t.hash:
		// The last entry was exchanged. The chain cannot tell, and the head is about to be overwritten, so it is said here.
		t.notes = append(t.notes, Note{Kind: NoteDamaged, Seq: head.seq, Hash: head.hash})
	}
	return t, nil
}

// createFree starts a new file behind last. Where a file of that name exists (one that was emptied from outside) a number is left out.
func (l *Log) createFree() error {
	for {
		err := l.create(l.last.seq + 1)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		l.last.seq++
		l.durable = l.last
	}
}

// reopen makes an existing file current. What a killed process wrote may not be on disk yet.
func (l *Log) reopen(name string, end int64) error {
	f, err := l.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := l.fsync(f); err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.name, l.size, l.reserved = f, name, end, end
	return nil
}

// cutTorn moves what stands behind the last newline of a file to a side file, and returns that file's name.
func (l *Log) cutTorn(name string, end int64) (side string, err error) {
	f, err := l.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first, _ := segmentFirst(name)
	var to *os.File
	for n := 1; ; n++ {
		side = fmt.Sprintf("torn-%0*d-%d.bin", segmentDigits, first, n)
		to, err = l.root.OpenFile(side, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	_, err = io.Copy(to, io.NewSectionReader(f, end, 1<<62))
	if err = errors.Join(err, to.Sync(), to.Close(), syncDir(l.root)); err != nil {
		return "", errors.Join(err, l.root.Remove(side))
	}
	return side, errors.Join(f.Truncate(end), f.Sync())
}
