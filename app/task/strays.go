package task

import (
	"errors"
	"fmt"
	"os"

	"termic/app/pty"
	"termic/registry/ident"
)

// Stray is a process that came out of a task's tab and is in none any more: it made a session of its own (setsid), which closing a
// tab does not end, since that is how a person keeps something running. One that cleared its environment too is known by its place
// alone, and may be something of the person's.
type Stray struct {
	Task    ident.Task
	PID     int
	Name    string // of the program; it can choose it
	ByPlace bool   // it works in the task's checkout, without a terminal; that it came out of a tab is not known
}

// Words says what it is.
func (s Stray) Words() string {
	if s.ByPlace {
		return fmt.Sprintf("%q works in the checkout and is in no tab, as process %d", s.Name, s.PID)
	}
	return fmt.Sprintf("%q has left its tab and runs on, as process %d", s.Name, s.PID)
}

// Strays returns the processes outside of any tab that came out of tasks of ours, of an earlier run of the app too, or work in their
// checkouts. There are none to be told where the system does not show what a process inherited, and none out of cages, which end all
// that is in them.
func (s *Tasks) Strays() ([]Stray, error) {
	processes, err := pty.Running(EnvTaskID)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sessions := map[int]bool{}
	var records []Record
	for _, record := range s.List() {
		for _, open := range s.Tabs(record.ID) {
			sessions[open.Pid()] = true
		}
		records = append(records, record)
	}
	parents := map[int]int{}
	for _, p := range processes {
		parents[p.PID] = p.Parent
	}
	var strays []Stray
	for _, p := range processes {
		if sessions[p.Session] {
			continue
		}
		if _, ours := s.Get(ident.Task(p.Value)); ours {
			strays = append(strays, Stray{Task: ident.Task(p.Value), PID: p.PID, Name: p.Name})
		} else if id, ok := placed(p, records); ok && !ownWork(p.PID, parents, sessions) {
			strays = append(strays, Stray{Task: id, PID: p.PID, Name: p.Name, ByPlace: true})
		}
	}
	return strays, nil
}

// StraysOf returns those of one task.
func (s *Tasks) StraysOf(id ident.Task) ([]Stray, error) {
	all, err := s.Strays()
	var own []Stray
	for _, stray := range all {
		if stray.Task == id {
			own = append(own, stray)
		}
	}
	return own, err
}

// placed returns the task in whose own checkout a process works that has no terminal: whoever has one is at a terminal of the person's.
func placed(p pty.Process, records []Record) (ident.Task, bool) {
	for _, record := range records {
		if record.Stage == Live && record.OwnCheckout && !p.Terminal && p.Dir != "" && within(followed(record.Dir), p.Dir) {
			return record.ID, true
		}
	}
	return "", false
}

// ownWork tells whether a process is the app's, or was started by it for something else than a tab: git, a setup command.
func ownWork(pid int, parents map[int]int, sessions map[int]bool) bool {
	for range len(parents) { // a chain that changes while it is read could go round
		switch {
		case pid == os.Getpid():
			return true
		case sessions[pid]:
			return false
		}
		parent, ok := parents[pid]
		if !ok {
			return false
		}
		pid = parent
	}
	return false
}
