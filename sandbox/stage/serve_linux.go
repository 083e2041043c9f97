package stage

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cage is process 1 at work.
type cage struct {
	mu      sync.Mutex     // held while a process is started, so that its end is not seen before it is known
	started map[int]uint64 // by process id, until it has ended: the app's id
	leaders map[uint64]int // by the app's id: the session that was started
	more    *sync.Cond     // a process was started

	ownNetwork bool          // what is at 127.0.0.1 is the cage's
	connects   chan struct{} // holds one of each connection that is being made
}

func newCage() *cage {
	c := &cage{started: map[int]uint64{}, leaders: map[uint64]int{}, connects: make(chan struct{}, maxConnects)}
	c.more = sync.NewCond(&c.mu)
	return c
}

// serve starts what the app asks for, on the thread that is locked down, until the app is gone.
func (c *cage) serve() int {
	go c.reap()
	// What the set-up took is given back, since there is one process 1 per task: later, so that nothing waits for it.
	time.AfterFunc(time.Second, debug.FreeOSMemory)
	for {
		request, files, err := receive()
		if errors.Is(err, errAppGone) {
			return 0 // and with process 1 the kernel ends every other
		}
		if err == nil {
			err = c.handle(request, files)
		}
		closeAll(files)
		if err != nil { // a request that is none: the app and this program do not understand each other
			tell(Event{Failure: failure(err)})
			return ExitRefused
		}
	}
}

func (c *cage) handle(request Request, files []int) error {
	switch {
	case request.Spawn != nil:
		return c.spawn(request.Spawn, files)
	case request.Signal != nil:
		c.signal(*request.Signal)
		return nil
	case request.Connect != nil:
		return c.connect(*request.Connect)
	}
	return step(StepPlan, errors.New("a request that asks for nothing"))
}

// spawn starts a process and tells the app. Only when the app cannot be told is there an error.
func (c *cage) spawn(s *Spawn, files []int) error {
	master, stdio, err := c.stdio(s, files)
	if err != nil {
		return send(Event{Spawned: &Spawned{ID: s.ID, Error: err.Error()}})
	}
	defer closeAll(stdio.opened)
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := start(s, stdio.fds[:])
	if err != nil {
		closeAll(master)
		return send(Event{Spawned: &Spawned{ID: s.ID, Error: err.Error()}})
	}
	maps.DeleteFunc(c.leaders, func(_ uint64, old int) bool { return old == pid }) // a session that ended long ago
	c.started[pid], c.leaders[s.ID] = s.ID, pid
	c.more.Signal()
	err = send(Event{Spawned: &Spawned{ID: s.ID, PID: pid}}, master...)
	closeAll(master)
	return err
}

type stdio struct {
	fds    [3]uintptr
	opened []int // to be closed after the start
}

// stdio opens a terminal, or takes the pipes of the request.
func (c *cage) stdio(s *Spawn, files []int) (master []int, io stdio, err error) {
	if s.Terminal {
		m, slave, err := openTerminal(s.Rows, s.Cols)
		if err != nil {
			return nil, stdio{}, fmt.Errorf("open terminal: %w", err)
		}
		fd := uintptr(slave)
		return []int{m}, stdio{fds: [3]uintptr{fd, fd, fd}, opened: []int{slave}}, nil
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, stdio{}, fmt.Errorf("open /dev/null: %w", err)
	}
	io.opened = []int{null}
	for i, given := range s.Files {
		io.fds[i] = uintptr(null)
		if !given {
			continue
		}
		if len(files) == 0 {
			closeAll(io.opened)
			return nil, stdio{}, errors.New("a file is missing")
		}
		// A directory or a terminal of the host would be a way out.
		if _, kind, err := identify(files[0]); err != nil || kind != unix.S_IFIFO {
			closeAll(io.opened)
			return nil, stdio{}, fmt.Errorf("file %d is no pipe (%#o)", i, kind)
		}
		io.fds[i], files = uintptr(files[0]), files[1:]
	}
	return nil, io, nil
}

// openTerminal returns both ends of a new terminal of the cage's own devpts.
func openTerminal(rows, cols uint16) (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, err
	}
	if err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err == nil {
		err = unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}
	if err == nil {
		slave, err = peer(master)
	}
	if err != nil {
		_ = unix.Close(master)
		return -1, -1, err
	}
	return master, slave, nil
}

// peer opens the other end of a terminal, whatever is mounted where its name would be looked up.
func peer(master int) (int, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// start runs the command as the leader of a new session. It is forked from this thread, whose restrictions it
// inherits.
func start(s *Spawn, files []uintptr) (int, error) {
	if len(s.Argv) == 0 || !path.IsAbs(s.Dir) {
		return 0, errors.New("no command, or no directory to run it in")
	}
	program, err := lookPath(s.Argv[0], s.Env, s.Dir)
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(program, s.Argv, &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: s.Terminal, Ctty: 0}})
	if err != nil {
		return 0, fmt.Errorf("start %q in %q: %w", program, s.Dir, err)
	}
	return pid, nil
}

// lookPath finds a program as a shell would, in the PATH of the environment that it will have.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, place := range strings.Split(list, ":") {
			if !path.IsAbs(place) {
				place = path.Join(dir, place)
			}
			file := path.Join(place, name)
			var st unix.Stat_t
			if unix.Stat(file, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && unix.Access(file, unix.X_OK) == nil {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("start %q: %w in the PATH of the cage", name, unix.ENOENT)
}

// reap collects every process that ends in the cage, and tells the app of those that it started.
func (c *cage) reap() {
	for {
		var info unix.Siginfo
		// Looked at first, and collected under the lock: a process may end before spawn has noted it.
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		c.mu.Lock()
		if err == unix.ECHILD {
			for len(c.started) == 0 {
				c.more.Wait()
			}
			c.mu.Unlock()
			continue
		}
		c.collect()
		c.mu.Unlock()
	}
}

// collect waits for one process that has ended.
func (c *cage) collect() {
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
	if err != nil || pid <= 0 {
		return
	}
	id, ours := c.started[pid]
	if !ours {
		return
	}
	delete(c.started, pid)
	exited := Exited{ID: id, Code: status.ExitStatus()}
	if status.Signaled() {
		exited.Signal = int(status.Signal())
	}
	tell(Event{Exited: &exited})
}

// signal sends to every process of a session, which outlives its leader. Who is gone needs no signal, and nothing
// else can go wrong: the cage has one user.
func (c *cage) signal(s Signal) {
	c.mu.Lock()
	session, ok := c.leaders[s.ID]
	c.mu.Unlock()
	if !ok {
		return
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid > 1 && sessionOf(pid) == session {
			_ = unix.Kill(pid, unix.Signal(s.Number))
		}
	}
}

// sessionOf returns the session of a process, 0 when it is gone.
func sessionOf(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return 0
	}
	return sid
}
