package watch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/seccomp"
)

// Install reports the named calls of this thread, and of all that is started from it, to the listener that it returns.
// The thread must have no_new_privs. Until somebody serves the listener such calls wait; when it is closed they fail with
// ENOSYS. No filter of the process is taken off, and each of them still refuses what it refuses.
func Install(calls ...string) (listener int, err error) {
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return -1, err
	}
	var rules []seccomp.Rule
	for _, name := range calls {
		if groups[name] == nil {
			return -1, fmt.Errorf("watch %q: no such kind of call", name)
		}
		for _, call := range groups[name] {
			rules = append(rules, seccomp.Rule{Call: call, Do: seccomp.Notify, Why: "is told to who watches"})
		}
	}
	prog, err := seccomp.Watch(rules, arch)
	if err != nil {
		return -1, err
	}
	return seccomp.Listen(prog)
}

// notification and response are struct seccomp_notif and seccomp_notif_resp of linux/seccomp.h.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type response struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// Serve lets every call go on and tells of it first, until no process is watched any more. It blocks a thread. tell must
// not wait for the processes.
func Serve(listener *os.File, tell func(Notice)) error {
	defer listener.Close()
	fd := int(listener.Fd())
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("wait for calls: %w", err)
		}
		var call notification
		switch err := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)); {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT) && !hungUp(fd): // the caller was killed meanwhile
			continue
		case errors.Is(err, unix.ENOENT):
			return nil
		case err != nil:
			return fmt.Errorf("receive a call: %w", err)
		}
		if notice, ok := read(&call); ok {
			tell(notice)
		}
		goOn := response{id: call.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if err := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&goOn)); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("let a call go on: %w", err)
		}
	}
}

// hungUp reports whether no process has the filter any more.
func hungUp(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLHUP != 0
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); e != 0 {
		return e
	}
	return nil
}

// read makes a Notice of a call; what of it cannot be read is left out.
func read(call *notification) (Notice, bool) {
	n := Notice{PID: int(call.pid)}
	at := func(dir int32, name uint64) {
		n.Path = absolute(n.PID, dir, text(n.PID, name))
	}
	const here = unix.AT_FDCWD
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return n, false
	}
	switch nr := uint32(call.nr); {
	case is(arch, nr, "connect"):
		n.Call = "connect"
		raw := make([]byte, min(call.args[2], 128)) // struct sockaddr_storage
		address(raw[:memory(n.PID, call.args[1], raw)], &n)
	case is(arch, nr, "openat"):
		n.Call, n.Write = "open", writes(call.args[2])
		at(int32(call.args[0]), call.args[1])
	case is(arch, nr, "open"):
		n.Call, n.Write = "open", writes(call.args[1])
		at(here, call.args[0])
	case is(arch, nr, "creat"):
		n.Call, n.Write = "open", true
		at(here, call.args[0])
	case is(arch, nr, "openat2"):
		how := make([]byte, 8) // struct open_how begins with its flags
		memory(n.PID, call.args[2], how)
		n.Call, n.Write = "open", writes(binary.LittleEndian.Uint64(how))
		at(int32(call.args[0]), call.args[1])
	case is(arch, nr, "execve"):
		n.Call = "exec"
		at(here, call.args[0])
	case is(arch, nr, "execveat"):
		n.Call = "exec"
		at(int32(call.args[0]), call.args[1])
	default:
		return n, false
	}
	return n, true
}

func is(arch seccomp.Arch, nr uint32, call string) bool {
	number, has := seccomp.Number(arch, call)
	return has && number == nr
}

func writes(flags uint64) bool {
	return flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0
}

// memory reads of a process and returns how much it got.
func memory(pid int, from uint64, into []byte) int {
	if len(into) == 0 {
		return 0
	}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(from), Len: len(into)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

// text reads a string of a process; empty when it cannot be read or does not end within PATH_MAX (4096).
func text(pid int, from uint64) string {
	const page = 4096
	var whole []byte
	for len(whole) < unix.PathMax {
		part := make([]byte, page-int(from%page)) // no further than the page, since the next may not be there
		got := memory(pid, from, part)
		if end := bytes.IndexByte(part[:got], 0); end >= 0 {
			return string(append(whole, part[:end]...))
		}
		if got < len(part) {
			return ""
		}
		whole, from = append(whole, part...), from+uint64(len(part))
	}
	return ""
}

// absolute returns where a name leads from a process's directory; by its text, no link is followed.
func absolute(pid int, dir int32, name string) string {
	if name == "" || path.IsAbs(name) {
		return name
	}
	from := "cwd"
	if dir != unix.AT_FDCWD {
		from = "fd/" + strconv.Itoa(int(dir))
	}
	base, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/" + from)
	if err != nil || !path.IsAbs(base) {
		return name
	}
	return path.Join(base, name)
}

// Missing reports whether nothing is at a path as a process sees it. No link of the process leads out of its root, and
// nothing is opened but for its name.
func Missing(pid int, name string) bool {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, path.Clean("/"+name), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err == nil {
		_ = unix.Close(fd)
	}
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}

// Supported returns an error when the kernel does not report calls. Nothing is watched by asking.
func Supported() error {
	action := uint32(seccomp.Notify)
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))); e != 0 {
		return fmt.Errorf("watch programs: %w", e)
	}
	return nil
}
