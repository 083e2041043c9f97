package task

import (
	"errors"

	"termic/app/pty"
	"termic/registry/ident"
)

// Stray is a process that came out of a task's tab and is in none any more: it made a session of its own (setsid), which closing a
// tab does not end, since that is how a person keeps something running.
type Stray struct {
	Task ident.Task
	PID  int
	Name string // of the program; it can choose it
}

// Strays returns the processes outside of any tab that came out of tasks of ours, of an earlier run of the app too. There are none
// to be told where the system does not show what a process inherited, and none out of cages, which end all that is in them.
func (s *Tasks) Strays() ([]Stray, error) {
	processes, err := pty.Marked(EnvTaskID)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sessions := map[int]bool{}
	for _, record := range s.List() {
		for _, open := range s.Tabs(record.ID) {
			sessions[open.Pid()] = true
		}
	}
	var strays []Stray
	for _, p := range processes {
		if _, ours := s.Get(ident.Task(p.Value)); ours && !sessions[p.Session] {
			strays = append(strays, Stray{Task: ident.Task(p.Value), PID: p.PID, Name: p.Name})
		}
	}
	return strays, nil
}
