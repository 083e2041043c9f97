package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Report is what Verify found.
type Report struct {
	Files, Entries int
	First, Last    uint64 // numbers of the first and last entry; 0 when there is none
	// Torn: the last file ends in half a line. A running termic may be writing it; after a crash the next Open puts it aside.
	Torn bool
	// Noted are the log's own notes of trouble: what it found when it was opened, or could not record. Removal by Options.Keep is none.
	Noted    []Note
	Problems []Problem
}

// OK reports whether the chain is whole.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Problem is one place at which the chain is broken.
type Problem struct {
	File string
	Line int    // from 1; 0 for the file as a whole
	Seq  uint64 // of the entry, when it can be read
	What string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("%s:%d: entry %d: %s", p.File, p.Line, p.Seq, p.What)
}

// maxProblems bounds a report: behind a hundred, the rest tells nothing new.
const maxProblems = 100

// maxTries is how often Verify starts again when a running termic removes a file under it.
const maxTries = 3

// Verify reads the whole log in dir and checks every hash, every link, the order, and that it reaches from the first entry (or the last one
// that the log itself dropped) to the one that the head file names. It changes nothing, and may run beside an open log.
// The error tells only that the log could not be read.
func Verify(dir string) (Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	defer root.Close()
	for try := 1; ; try++ {
		r, err := verify(root)
		if errors.Is(err, fs.ErrNotExist) && try < maxTries {
			continue
		}
		if err != nil {
			return Report{}, fmt.Errorf("verify audit log: %w", err)
		}
		return r, nil
	}
}

func verify(root *os.Root) (Report, error) {
	// The head is read first: what a running log appends in between only makes the chain longer.
	head, found, err := readHead(root)
	v := verifier{wanted: head}
	switch {
	case errors.Is(err, errHead):
		v.problem(nameHead, 0, 0, "unreadable, so the end of the log may have been cut off")
	case err != nil:
		return Report{}, err
	}
	names, err := segments(root)
	if err != nil {
		return Report{}, err
	}
	v.Files = len(names)
	for i, name := range names {
		if err := v.file(root, name, i == len(names)-1); err != nil {
			return Report{}, err
		}
	}
	v.checkStart()
	if !found && v.Entries > 0 {
		v.problem(nameHead, 0, 0, "missing, so the end of the log may have been cut off")
	}
	if found && v.Last < head.seq {
		v.problem(nameHead, 0, head.seq, fmt.Sprintf("the log ends at entry %d, but entry %d was on disk", v.Last, head.seq))
	}
	return v.Report, nil
}

// verifier walks the chain.
type verifier struct {
	Report
	wanted  state  // what the head file names
	prev    state  // the last entry that could be read
	start   link   // the first entry
	startIn string // its file
	dropped []state
}

func (v *verifier) problem(file string, line int, seq uint64, what string) {
	if len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, Problem{file, line, seq, what})
	}
}

func (v *verifier) file(root *os.Root, name string, last bool) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	n := 0
	rest, err := eachLine(f, func(line []byte, _ int64) error {
		n++
		v.line(name, n, line)
		return nil
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 && last {
		v.Torn = true
	} else if len(rest) > 0 {
		v.problem(name, n+1, 0, "ends in half a line")
	}
	return nil
}

// line checks one line. After a fault it goes on from what the line declares, so that one fault is told once.
func (v *verifier) line(name string, n int, line []byte) {
	l, err := unseal(line)
	if err != nil {
		v.problem(name, n, l.seq, err.Error())
	}
	if err != nil && !errors.Is(err, errAltered) {
		return
	}
	first, _ := segmentFirst(name)
	switch {
	case v.Entries == 0:
		v.start, v.startIn, v.First = l, name, l.seq
	case l.seq != v.prev.seq+1:
		v.problem(name, n, l.seq, fmt.Sprintf("follows entry %d", v.prev.seq))
	case l.prev != v.prev.hash:
		v.problem(name, n, l.seq, "does not cite the hash of the entry before it")
	}
	if n == 1 && l.seq != first {
		v.problem(name, n, l.seq, "is not the entry that the file is named after")
	}
	if l.seq == v.wanted.seq && l.hash != v.wanted.hash {
		v.problem(name, n, l.seq, "is not the entry that the head names")
	}
	v.Entries++
	v.Last, v.prev = max(v.Last, l.seq), state{l.seq, l.hash}
	v.note(l.note)
}

func (v *verifier) note(n *Note) {
	if n == nil {
		return
	}
	if n.Kind == NoteDropped {
		v.dropped = append(v.dropped, state{n.Seq, n.Hash})
		return
	}
	v.Noted = append(v.Noted, *n)
}

// checkStart checks what the first entry follows: nothing, or an entry that the log says it has dropped.
func (v *verifier) checkStart() {
	if v.Entries == 0 || v.start.seq == 1 && v.start.prev == genesis {
		return
	}
	for _, d := range v.dropped {
		if d.seq+1 == v.start.seq && d.hash == v.start.prev {
			return
		}
	}
	v.problem(v.startIn, 1, v.start.seq, "entries before it are missing, and the log does not say that it dropped them")
}
