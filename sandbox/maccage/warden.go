package maccage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"termic/sandbox/processes"
)

// warden reads which sessions are of the cage, "+ID" or "-ID" a line, until the app closes the pipe or has ended. Then it kills
// what there is, and returns when nothing is left. Whatever else it was given stays open until then.
func warden(control io.Reader) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT) // a terminal's are not for it
	sessions := map[int]bool{}
	lines := bufio.NewScanner(control)
	var bad error
	for bad == nil && lines.Scan() {
		bad = note(sessions, lines.Text())
	}
	// A word that cannot be read is a defect of ours: then the cage ends, too.
	return errors.Join(bad, lines.Err(), processes.Kill(slices.Sorted(maps.Keys(sessions))...))
}

func note(sessions map[int]bool, line string) error {
	id, err := strconv.Atoi(line[min(1, len(line)):])
	switch {
	case err != nil || id <= 1:
	case line[0] == '+':
		sessions[id] = true
		return nil
	case line[0] == '-':
		delete(sessions, id)
		return nil
	}
	return fmt.Errorf("warden: %q is no word of the app's", line)
}

// guard is the warden as the app has it.
type guard struct {
	pipe    *os.File // its end tells the warden to kill
	process *os.Process
}

// newGuard starts a warden that holds the files until it ends.
func newGuard(stage string, held []*os.File) (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer null.Close()
	process, err := os.StartProcess(stage, []string{"stage", commandWarden}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: append([]*os.File{null, null, null, theirs}, held...), Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return &guard{ours, process}, nil
}

// add and remove say which session is of the cage. The line is short, so that it is written whole.
func (g *guard) add(session int) error    { return g.say('+', session) }
func (g *guard) remove(session int) error { return g.say('-', session) }

func (g *guard) say(word byte, session int) error {
	_, err := fmt.Fprintf(g.pipe, "%c%d\n", word, session)
	return err
}
