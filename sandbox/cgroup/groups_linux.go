package cgroup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// putTime bounds how long a group may take to be made, by a systemd that is busy or hangs. It takes milliseconds.
const putTime = 5 * time.Second

// Groups makes the groups of one app's cages. It is safe for concurrent use.
type Groups struct {
	tree   tree
	prefix string // of the names of its groups, and of no other's
	way    way
	none   error // why there is no way

	check sync.Once
	held  Limits
	err   error
}

// way is one way to come by a group.
type way interface {
	// put makes a group of that name with these limits and moves the process into it.
	put(ctx context.Context, name string, pid int, want Limits) error
	// named returns what the directory of such a group is called.
	named(name string) string
	// remove removes a group whose processes have ended, or have their end.
	remove(name string) error
	// words say how, for a person.
	words() string
}

// Open finds out how groups can be made here, and removes those that an earlier run of the same prefix left behind when it
// crashed. environ is where the app finds its user's systemd. Nothing is asked of systemd before Check or Put.
func Open(prefix string, environ []string) *Groups { return open(machine, prefix, environ) }

func open(t tree, prefix string, environ []string) *Groups {
	g := &Groups{tree: t, prefix: prefix}
	base, direct := ownBase(t)
	if direct == nil {
		t.sweep(base, prefix)
		g.way = own{t, base}
		return g
	}
	bus, systemd := userBus(environ)
	if systemd == nil {
		g.way = session{bus}
		return g
	}
	g.none = fmt.Errorf("%w; %w", direct, systemd)
	return g
}

// Group is a group with the processes of one cage.
type Group struct {
	// Held are those of the wanted limits that were read back from the kernel after the process was moved.
	Held   Limits
	dir    string
	remove func() error
}

// Put moves a process, and with it whatever it starts from now on, into a group of its own with these limits. The error is
// ErrNone where there are no groups, or says what failed; the process is then limited by nothing.
func (g *Groups) Put(ctx context.Context, name string, pid int, want Limits) (*Group, error) {
	if g.way == nil {
		return nil, g.none
	}
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	name = g.prefix + name + "-" + strings.ToLower(rand.Text()[:8]) // a cage that starts again may meet its own end
	err := g.way.put(ctx, name, pid, want)
	if err != nil {
		return nil, fmt.Errorf("limit process %d: %w", pid, err)
	}
	dir, held, err := g.tree.held(pid, g.way.named(name), want)
	remove := func() error { return g.way.remove(name) }
	if err != nil { // the process ended, or is elsewhere
		return nil, errors.Join(err, remove())
	}
	return &Group{Held: held, dir: dir, remove: remove}, nil
}

// Check really limits a process, once, and says how and which limits held: all that are asked for are, or are missing.
func (g *Groups) Check(ctx context.Context) (how string, held Limits, err error) {
	if g.way == nil {
		return "", Limits{}, g.none
	}
	g.check.Do(func() { g.held, g.err = g.try(context.WithoutCancel(ctx)) })
	if g.err == nil && g.held == (Limits{}) {
		return "", Limits{}, fmt.Errorf("%w: a group was made, and no limit of it held", ErrNone)
	}
	return g.way.words(), g.held, g.err
}

// try limits a program that does nothing.
func (g *Groups) try(ctx context.Context) (Limits, error) {
	idle := exec.Command("/bin/sh", "-c", "read end")
	idle.Env = []string{}
	stdin, err := idle.StdinPipe()
	if err != nil {
		return Limits{}, err
	}
	if err := idle.Start(); err != nil {
		return Limits{}, fmt.Errorf("try limits: %w", err)
	}
	group, err := g.Put(ctx, "try", idle.Process.Pid, Limits{Memory: MinMemory, Processes: 64, CPUWeight: 50})
	_ = stdin.Close()
	_ = idle.Wait() // its exit status says nothing
	if err != nil {
		return Limits{}, err
	}
	return group.Held, group.Remove()
}

// Usage returns what the group's processes take now.
func (g *Group) Usage() Usage {
	return Usage{number(filepath.Join(g.dir, "memory.current")), number(filepath.Join(g.dir, "pids.current"))}
}

// Remove removes the group, whose processes have ended.
func (g *Group) Remove() error { return g.remove() }

// remove removes the directory of a group, and waits for its last process to be gone, which can take a moment longer than
// waiting for the process.
func (t tree) remove(dir string, limit time.Duration) error {
	end := time.Now().Add(limit)
	for {
		err := t.rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || !time.Now().Before(end) {
			return fmt.Errorf("remove control group: %w", err)
		}
		awaitEmpty(dir, end)
	}
}

// awaitEmpty returns when the group's events may have changed, or the time is over.
func awaitEmpty(dir string, end time.Time) {
	events, err := os.Open(filepath.Join(dir, "cgroup.events"))
	if err != nil {
		return // it is gone
	}
	defer events.Close()
	var text [256]byte
	n, _ := events.Read(text[:]) // from here on a change is told of
	if !strings.Contains(string(text[:n]), "populated 1") {
		return
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}, int(time.Until(end).Milliseconds())+1)
}
