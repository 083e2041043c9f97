package stage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attest proves from inside that the walls stand. Each proof tries the forbidden thing, and counts only the refusal
// that the wall gives: a failure for another reason proves nothing.
func attest(start *Start, r *root, b *before) (*Report, error) {
	report := &Report{Landlock: b.abi, Absent: len(start.Plan.Attest.Absent)}
	proofs := map[string]func() error{
		ProofRoot: func() error {
			return errors.Join(proveReadOnly(append(start.Plan.Attest.Unwritable, "/proc/sys", "/dev")), proveOneRoot())
		},
		ProofAbsent:     func() error { return r.proveAbsent(start.Plan.Attest.Absent, start.Plan.Attest.Replaced) },
		ProofProcesses:  proveProcesses,
		ProofPrivileges: provePrivileges,
		ProofSeccomp:    proveFilter,
		ProofNetwork:    func() error { return proveNetwork(start.HostNet, start.Canary) },
		ProofScopes:     b.proveScopes,
	}
	for _, name := range Needs(start.Plan) {
		if err := proofs[name](); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report.Proved = append(report.Proved, name)
	}
	return report, nil
}

func proveReadOnly(names []string) error {
	for _, name := range names {
		var fs unix.Statfs_t
		if err := unix.Statfs(name, &fs); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if fs.Flags&unix.ST_RDONLY == 0 || unix.Access(name, unix.W_OK) == nil {
			return fmt.Errorf("%q can be written", name)
		}
	}
	return nil
}

// proveOneRoot reads that nothing is mounted over or under the root: the host's would be.
func proveOneRoot() error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	roots := 0
	for line := range bytes.Lines(mounts) {
		// id parent major:minor root mount-point …; proc_pid_mountinfo(5)
		if fields := bytes.Fields(line); len(fields) > 4 && string(fields[4]) == "/" {
			roots++
		}
	}
	if roots != 1 {
		return fmt.Errorf("%d file systems are mounted on the root", roots)
	}
	return nil
}

// proveAbsent opens what must not be there. What opens is right in two cases only: a directory that the stage made,
// on the way to a mount of the task's own; or, where the plan says that the task has something of its own there,
// another file than the host's.
func (r *root) proveAbsent(names, replaced []string) error {
	for _, name := range names {
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
		case unix.ENOENT, unix.ENOTDIR, unix.EACCES, unix.ENXIO: // ENXIO: a socket; it has no connection here
			if err == unix.ENXIO {
				return fmt.Errorf("%q is a socket of the host", name)
			}
			continue
		default:
			return fmt.Errorf("%q: %w", name, err)
		}
		id, kind, err := identify(fd)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		own := kind == unix.S_IFDIR && r.made[id.dev]
		other := slices.Contains(replaced, name) && !slices.Contains(r.absent[name], id)
		if !own && !other {
			return fmt.Errorf("%q opens", name)
		}
	}
	return nil
}

func proveProcesses() error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 {
			return fmt.Errorf("process %d is in sight", pid)
		}
	}
	return nil
}

// provePrivileges reads what the kernel says about every thread, its filter too, and about the bounding set of this one, which is that of
// everything in the cage.
func provePrivileges() error {
	const none = "0000000000000000"
	if err := everyThread(map[string]string{"CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none, "NoNewPrivs": "1",
		"Seccomp": "2"}); err != nil {
		return err
	}
	if err := compare("/proc/thread-self/status", map[string]string{"CapBnd": none}); err != nil {
		return err
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		return fmt.Errorf("process 1 can be looked into (%d, %v)", dumpable, err)
	}
	bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	if err == nil && bits != noRoot {
		err = fmt.Errorf("the secure bits are %#x, not %#x", bits, noRoot)
	}
	return err
}

// proveFilter tries what only the filter refuses. That it is on every thread (Seccomp: 2, SECCOMP_MODE_FILTER) was read
// with the rights, once for both: the kernel takes its time to tell.
func proveFilter() error {
	s, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(s)
	}
	if err != unix.EAFNOSUPPORT {
		return fmt.Errorf("a vsock socket: %v, not %w", err, unix.EAFNOSUPPORT)
	}
	// Alone, the process could not do it either (EINVAL: it has threads); the filter answers first.
	if err := unix.Unshare(unix.CLONE_NEWUSER); err != unix.EPERM {
		return fmt.Errorf("a new user namespace: %v, not %w", err, unix.EPERM)
	}
	return nil
}

// everyThread compares fields of the status of each thread.
func everyThread(want map[string]string) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		if err := compare("/proc/self/task/"+thread.Name()+"/status", want); err != nil {
			return err
		}
	}
	return nil
}

// compare compares fields of a status file of /proc.
func compare(file string, want map[string]string) error {
	status, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	found := 0
	for line := range bytes.Lines(status) {
		name, value, _ := strings.Cut(string(line), ":")
		wanted, ok := want[name]
		if !ok {
			continue
		}
		found++
		if value = strings.TrimSpace(value); value != wanted {
			return fmt.Errorf("%s in %s is %s, not %s", name, file, value, wanted)
		}
	}
	if found != len(want) {
		return fmt.Errorf("%s has %d of %d fields", file, found, len(want))
	}
	return nil
}

func proveNetwork(host string, canary uint16) error {
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return err
	}
	if host == "" || own == host || canary == 0 {
		return fmt.Errorf("the network is the app's (%q, %q)", own, host)
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	if err := unix.Connect(s, &unix.SockaddrInet4{Port: int(canary), Addr: [4]byte{127, 0, 0, 1}}); err != unix.ECONNREFUSED {
		return fmt.Errorf("the app's loopback port: %v, not %w", err, unix.ECONNREFUSED)
	}
	return nil
}

func (b *before) proveScopes() error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	if err := unix.Connect(s, &unix.SockaddrUnix{Name: b.name}); err != unix.EPERM {
		return fmt.Errorf("an abstract socket from before: %v, not %w", err, unix.EPERM)
	}
	return nil
}
