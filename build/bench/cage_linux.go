package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
)

// ordinary is the uid as which cages are measured beside root's. It needs no entry in /etc/passwd.
const ordinary = 1500

// cages measures cages in another process, as an ordinary user and, when this is root, as root too. That process is
// small, as nothing but it is; the app's size does not count, since it forks nothing but the stage.
func cages(s *samples, rounds int) error {
	dir, err := os.MkdirTemp("/tmp", "termic-bench-") // not TMPDIR, which may be closed to the other user
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := programs(dir); err != nil {
		return err
	}
	if *realtime {
		runtime.LockOSThread() // what it starts inherits it
		if err := beFirst(); err != nil {
			return fmt.Errorf("real-time priority: %w", err)
		}
	}
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = []int{ordinary, 0}
	}
	for _, uid := range users {
		cmd := exec.Command(filepath.Join(dir, "bench"), "-inside", dir, "-rounds", strconv.Itoa(max(rounds/2, 30)))
		cmd.Dir, cmd.Stderr = "/", os.Stderr
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		if uid != os.Getuid() {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("as uid %d: %w", uid, err)
		}
		if err := json.Unmarshal(out, s); err != nil { // into the same maps
			return err
		}
	}
	return nil
}

// beFirst gives the calling thread real-time priority: SCHED_RR, the lowest of its kind; sched(7).
func beFirst() error {
	priority := int32(1) // struct sched_param
	if _, _, e := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_RR, uintptr(unsafe.Pointer(&priority))); e != 0 {
		return e
	}
	return nil
}

// programs puts what is run where any user can run it.
func programs(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name, from := range map[string]string{"bench": self, "stage": "build/bin/stage", "termic": "build/bin/termic"} {
		data, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("%w: run make build first", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			return err
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "helper"), "./build/bench/helper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build helper: %w\n%s", err, out)
	}
	return os.Chmod(dir, 0o755)
}

// measured is one user's part.
type measured struct {
	*samples
	dir     string // of the programs
	root    string // of the person's directories
	user    string // "user" or "root"
	support launch.Support
	plan    linuxcage.Plan
}

// inside measures everything as this user, and prints the samples.
func inside(dir string, rounds int) error {
	ctx := context.Background()
	m := &measured{samples: newSamples(), dir: dir, user: "user"}
	if os.Getuid() == 0 {
		m.user = "root"
	}
	var err error
	if m.root, err = os.MkdirTemp("/tmp", "termic-bench-home-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.root)
	if m.plan, err = layOut(m.root, dir); err != nil {
		return err
	}
	m.support = launch.Probe(ctx, filepath.Join(dir, "stage"))
	if err := m.support.Check(capability.Enforce); err != nil {
		return err
	}
	if err := errors.Join(m.starts(ctx, rounds), m.many(ctx)); err != nil {
		return err
	}
	if err := m.watching(); err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	if m.user == "user" { // the work in a cage is the same for root
		if err := m.builds(ctx); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"micros": m.Micros, "kilobytes": m.Kilobytes, "notes": m.Notes})
}

// starts measures the start of `true` plainly, in a cage and in bubblewrap, in turns that begin with another each time.
func (m *measured) starts(ctx context.Context, rounds int) error {
	wrapped, why := m.bubblewrap()
	if why != nil {
		m.Notes = append(m.Notes, fmt.Sprintf("bubblewrap, as %s: %v", m.user, why))
	}
	kinds := []func() error{
		func() error {
			return m.time(plainTrue+", "+m.user, func() error { return exec.Command("/usr/bin/true").Run() })
		},
		func() error { return m.oneCage(ctx) },
	}
	if why == nil {
		kinds = append(kinds, func() error { return m.time(wrapTrue+", "+m.user, wrapped) })
	}
	for i := range rounds {
		for j := range kinds {
			if err := kinds[(i+j)%len(kinds)](); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *measured) oneCage(ctx context.Context) error {
	var cage *launch.Cage
	err := m.time(cageTrue+", "+m.user, func() error {
		err := m.time(sealed+", "+m.user, func() (err error) { cage, err = launch.Start(ctx, m.support, m.plan); return err })
		if err != nil {
			return err
		}
		p, err := cage.Spawn(ctx, launch.Command{Argv: []string{"/usr/bin/true"}, Dir: "/"})
		if err != nil {
			return err
		}
		if exit := p.Wait(); exit.Code != 0 {
			return fmt.Errorf("%+v", exit)
		}
		return nil
	})
	if cage != nil {
		err = errors.Join(err, cage.Kill())
	}
	return err
}

// settled is when process 1 has given back what its start took, a second after it; see stage.
const settled = 1500 * time.Millisecond

// many starts twenty cages at once, and reads what memory each keeps to itself while all live.
func (m *measured) many(ctx context.Context) error {
	cages := make([]*launch.Cage, manyCages)
	failed := make([]error, manyCages)
	err := m.time(together+", "+m.user, func() error {
		var all sync.WaitGroup
		for i := range cages {
			all.Go(func() { cages[i], failed[i] = launch.Start(ctx, m.support, m.plan) })
		}
		all.Wait()
		return errors.Join(failed...)
	})
	for _, cage := range cages {
		if cage != nil {
			defer cage.Kill()
		}
	}
	if err != nil {
		return err
	}
	time.Sleep(settled)
	return m.memory()
}

// memory reads of each process 1 the memory that is no page of a file: those, of its program, all cages share.
func (m *measured) memory() error {
	lists, err := filepath.Glob("/proc/self/task/*/children") // of each thread that started some
	if err != nil {
		return err
	}
	var children []string
	for _, list := range lists {
		pids, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		children = append(children, strings.Fields(string(pids))...)
	}
	if len(children) != manyCages {
		return fmt.Errorf("%d children for %d cages", len(children), manyCages)
	}
	for _, pid := range children {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			return err
		}
		_, rest, found := strings.Cut(string(status), "\nRssAnon:")
		var kilobytes int64
		if _, err := fmt.Sscan(rest, &kilobytes); err != nil || !found {
			return fmt.Errorf("process %s: no RssAnon in its status", pid)
		}
		m.Kilobytes[ownMemory+", "+m.user] = append(m.Kilobytes[ownMemory+", "+m.user], kilobytes)
	}
	return nil
}

// builds compares the processor time of go build in one cage and outside. Both have a cache in the checkout that holds
// the library, and compile and link a program that is new each time.
func (m *measured) builds(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		m.Notes = append(m.Notes, fmt.Sprintf("go build, as %s: %v", m.user, err))
		return nil
	}
	cage, err := launch.Start(ctx, m.support, m.plan)
	if err != nil {
		return err
	}
	defer cage.Kill()
	checkout := m.root + "/data/tasks/1/checkout"
	cmd := launch.Command{Argv: []string{filepath.Join(m.dir, "helper"), "usage", "go", "build", "-o", "program", "program.go"}, Dir: checkout,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.root + "/home", "GOCACHE=" + checkout + "/cache", "GOFLAGS=", "GOENV=off",
			"GOTOOLCHAIN=local", "CGO_ENABLED=0", "TMPDIR=" + checkout + "/tmp"}}
	run := map[string]func() (string, error){
		cageGo:  func() (string, error) { return inCage(ctx, cage, cmd) },
		plainGo: func() (string, error) { return outside(ctx, cmd) },
	}
	if err := errors.Join(os.Mkdir(checkout+"/tmp", 0o755), writeProgram(checkout, -1)); err != nil {
		return err
	}
	if _, err := outside(ctx, cmd); err != nil { // fills the cache
		return err
	}
	for i := range 2 * pairs {
		what := []string{plainGo, cageGo, cageGo, plainGo}[i%4] // pairs, of which each second is the other way round
		if err := writeProgram(checkout, i); err != nil {
			return err
		}
		out, err := run[what]()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		micros, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		m.Micros[what+", "+m.user] = append(m.Micros[what+", "+m.user], micros)
	}
	return nil
}

// writeProgram writes a Go program of 500 functions and no imports: the library under it is the runtime alone. Inlined
// into each other they would take the compiler hours.
func writeProgram(dir string, number int) error {
	var text strings.Builder
	fmt.Fprintf(&text, "package main\n\nfunc main() { println(%d, f0(1)) }\n", number)
	const functions = 500
	for i := range functions {
		fmt.Fprintf(&text, "\n//go:noinline\nfunc f%d(n int) string {\n\tif n > %d {\n\t\treturn f%d(n-1) + \"%d\"\n\t}\n\treturn \"end\"\n}\n", i, i, (i+1)%functions, i)
	}
	return os.WriteFile(filepath.Join(dir, "program.go"), []byte(text.String()), 0o644)
}

func outside(ctx context.Context, c launch.Command) (string, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.Env, c.Dir, os.Stderr
	out, err := cmd.Output()
	return string(out), err
}

// inCage runs a program and returns what it writes.
func inCage(ctx context.Context, cage *launch.Cage, cmd launch.Command) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	p, err := cage.Spawn(ctx, cmd, nil, w, w)
	_ = w.Close()
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(r)
	if exit := p.Wait(); err == nil && exit.Code != 0 {
		err = fmt.Errorf("%+v: %s", exit, out)
	}
	return string(out), err
}
