package probes

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var process = func() []Probe {
	procFile := func(file string) func(*World) error {
		return func(w *World) error {
			_, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", w.Victim, file))
			return err
		}
	}
	return []Probe{
		row(Process, "a signal to a process of the host", unix.ESRCH, false, func(w *World) error { return unix.Kill(w.Victim, 0) }, false),
		row(Process, "a handle on a process of the host", unix.ESRCH, false, func(w *World) error {
			fd, err := unix.PidfdOpen(w.Victim, 0)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}, false),
		row(Process, "tracing a process of the host", unix.ESRCH, false, trace, false),
		row(Process, "the environment of a process of the host", unix.ENOENT, false, procFile("environ"), false),
		row(Process, "the arguments of a process of the host", unix.ENOENT, false, procFile("cmdline"), false),
		row(Process, "the memory map of a process of the host", unix.ENOENT, false, procFile("maps"), false),
		row(Process, "the open files of a process of the host", unix.ENOENT, false, func(w *World) error {
			_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.Victim))
			return err
		}, false),
		row(Process, "the memory of a process of the host", unix.ENOENT, false, func(w *World) error {
			return appendTo(fmt.Sprintf("/proc/%d/mem", w.Victim))
		}, false),
		row(Process, "reading memory of a process of the host", unix.EPERM, false, readMemory, false),
		row(Process, "limits of a process of the host", unix.ESRCH, false, func(w *World) error {
			return unix.Prlimit(w.Victim, unix.RLIMIT_CORE, nil, &unix.Rlimit{})
		}, false),
		row(Process, "priority of a process of the host", unix.ESRCH, false, func(w *World) error { return unix.Setpriority(unix.PRIO_PROCESS, w.Victim, 10) }, false),
		row(Process, "processors of a process of the host", unix.ESRCH, false, func(w *World) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(w.Victim, &set)
		}, false),
		row(Process, "the session of a process of the host", unix.ESRCH, false, func(w *World) error { _, err := unix.Getsid(w.Victim); return err }, false),
		row(Process, "shared memory of the host", unix.ENOENT, false, func(w *World) error { return get(unix.SYS_SHMGET, w.Shm, 0, 0) }, false),
		row(Process, "semaphores of the host", unix.ENOENT, false, func(w *World) error { return get(unix.SYS_SEMGET, w.Sem, 0, 0) }, false),
		row(Process, "messages of the host", unix.ENOENT, false, func(w *World) error { return get(unix.SYS_MSGGET, w.Queue, 0, 0) }, false),
		row(Process, "shared files of the host", unix.ENOENT, false, func(w *World) error { return appendTo(w.ShmFile) }, false),
		row(Process, "the app's environment", unix.ENODATA, false, ownEnvironment, false),
		row(Process, "the environment of the app's process", unix.ENOENT, false, appEnvironment, false),
	}
}()

func get(call uintptr, key int, size, flags uintptr) error {
	if _, _, e := unix.Syscall(call, uintptr(key), size, flags); e != 0 {
		return e
	}
	return nil
}

func trace(w *World) error {
	if err := unix.PtraceSeize(w.Victim); err != nil {
		return err
	}
	return nil // the end of this process lets it go
}

func readMemory(w *World) error {
	var b [1]byte
	local := unix.Iovec{Base: &b[0], Len: 1}
	_, err := unix.ProcessVMReadv(w.Victim, []unix.Iovec{local}, []unix.RemoteIovec{{Base: 0x1000, Len: 1}}, 0)
	if err == unix.EFAULT { // allowed; there is nothing at that address
		return nil
	}
	return err
}

func ownEnvironment(w *World) error {
	if os.Getenv(w.Marker) == "" {
		return unix.ENODATA
	}
	return nil
}

func appEnvironment(w *World) error {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.App))
	if err == nil && !strings.Contains(string(data), w.Marker) {
		return fmt.Errorf("%s is not in it", w.Marker)
	}
	return err
}

// Reach tries what one process can do to another of the same user. The signals leave it alive if they arrive.
func Reach(pid int) []Result {
	return reach(&World{Victim: pid}, []Probe{
		{Name: "signal", Do: func(w *World) error { return unix.Kill(w.Victim, 0) }},
		{Name: "trace", Do: trace},
		{Name: "environment", Do: procEntry("environ", unix.O_RDONLY)},
		{Name: "memory", Do: procEntry("mem", unix.O_RDONLY)},
		{Name: "files", Do: func(w *World) error { _, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", w.Victim)); return err }},
		{Name: "root", Do: procEntry("root/", unix.O_RDONLY|unix.O_DIRECTORY)},
		{Name: "namespace", Do: procEntry("ns/net", unix.O_RDONLY)},
	})
}

func procEntry(name string, flags int) func(*World) error {
	return func(w *World) error {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", w.Victim, name), flags|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}
}

func reach(w *World, probes []Probe) []Result {
	var results []Result
	for _, p := range probes {
		r := p.Run(w)
		r.ID = p.Name
		results = append(results, r)
	}
	return results
}

var kernel = func() []Probe {
	call := func(nr uintptr, args ...uintptr) func(*World) error {
		var a [6]uintptr
		copy(a[:], args)
		return func(*World) error {
			if _, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
				return e
			}
			return nil
		}
	}
	space := func(flag uintptr) func(*World) error {
		return func(*World) error { return fork(&syscall.SysProcAttr{Cloneflags: flag}) }
	}
	user := uintptr(unix.CLONE_NEWUSER)
	self := uintptr(os.Getpid())
	return []Probe{
		row(Kernel, "a user namespace", unix.EPERM, false, space(user), false),
		row(Kernel, "a mount namespace", unix.EPERM, false, space(user|unix.CLONE_NEWNS), false),
		row(Kernel, "a pid namespace", unix.EPERM, false, space(user|unix.CLONE_NEWPID), false),
		row(Kernel, "a network namespace", unix.EPERM, false, space(user|unix.CLONE_NEWNET), false),
		row(Kernel, "a uts namespace", unix.EPERM, false, space(user|unix.CLONE_NEWUTS), false),
		row(Kernel, "an ipc namespace", unix.EPERM, false, space(user|unix.CLONE_NEWIPC), false),
		row(Kernel, "a cgroup namespace", unix.EPERM, false, space(user|unix.CLONE_NEWCGROUP), false),
		row(Kernel, "a namespace by unshare", unix.EPERM, true, func(*World) error { return unix.Unshare(unix.CLONE_NEWUTS) }, false),
		row(Kernel, "a process by clone3", unix.ENOSYS, false, clone3, false),
		row(Kernel, "io_uring", unix.ENOSYS, false, ring, false),
		row(Kernel, "a BPF map", unix.EPERM, true, bpfMap, false),
		row(Kernel, "performance events", unix.EPERM, true, perfEvent, false),
		row(Kernel, "page faults of its own", unix.EPERM, false, call(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1), false),
		row(Kernel, "a watch on file systems", unix.EPERM, false, call(unix.SYS_FANOTIFY_INIT, unix.FAN_REPORT_FID, 0), false),
		row(Kernel, "secret memory", unix.EPERM, false, call(unix.SYS_MEMFD_SECRET, 0), false),
		row(Kernel, "comparing processes", unix.EPERM, false, func(*World) error {
			_, _, e := unix.Syscall6(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(os.Getpid()), 0, 0, 0, 0)
			return none(e)
		}, false),
		row(Kernel, "the clock's state", unix.EPERM, false, func(*World) error { _, err := unix.Adjtimex(&unix.Timex{}); return err }, false),
		row(Kernel, "the kernel's log", unix.EPERM, true, call(unix.SYS_SYSLOG, 10), false),
		row(Kernel, "pages of a process", unix.EPERM, false, call(unix.SYS_MOVE_PAGES, 0, 0, 0, 0, 0, 0), false),
		row(Kernel, "keys of the user", unix.EPERM, false, call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, negative(unix.KEY_SPEC_USER_SESSION_KEYRING), 0), false),
		row(Kernel, "a new key", unix.EPERM, false, newKey, false),
		row(Kernel, "a file system", unix.EPERM, true, func(*World) error {
			fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}, false),
		row(Kernel, "a copy of a mount", unix.EPERM, true, func(*World) error {
			fd, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}, false),
		row(Kernel, "mounting", unix.EPERM, true, mountSomething, false),
		row(Kernel, "another root directory", unix.EPERM, true, func(*World) error { return unix.Chroot("/usr") }, false),
		row(Kernel, "another host name", unix.EPERM, true, func(*World) error {
			var name unix.Utsname
			if err := unix.Uname(&name); err != nil {
				return err
			}
			return unix.Sethostname([]byte(unix.ByteSliceToString(name.Nodename[:])))
		}, false),
		row(Kernel, "its own namespace again", unix.EPERM, true, func(*World) error {
			fd, err := unix.Open("/proc/self/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Setns(fd, unix.CLONE_NEWUTS)
		}, false),
		row(Kernel, "rights that root has", unix.EACCES, true, func(*World) error { return unix.Setpriority(unix.PRIO_PROCESS, int(self), -5) }, false),
		row(Kernel, "another user", unix.EINVAL, true, func(*World) error {
			return fork(&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1, NoSetGroups: true}})
		}, false),
		row(Kernel, "owning what others own", unix.EINVAL, true, func(w *World) error {
			name := scratch(w)
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				return fmt.Errorf("write: %s", err)
			}
			defer os.Remove(name)
			return unix.Chown(name, 1, 1)
		}, false),
	}
}()

func negative(v int) uintptr { return uintptr(v) }

func none(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

// fork starts a program that does nothing, in a way of its own.
func fork(attr *syscall.SysProcAttr) error {
	p, err := os.StartProcess("/usr/bin/env", []string{"env", "true"}, &os.ProcAttr{Sys: attr, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = fmt.Errorf("%v", state)
	}
	return err
}

var terminal = []Probe{
	row(Terminal, "typing into its own terminal", unix.EPERM, false, typeInto, false),
	row(Terminal, "another line discipline", unix.EPERM, false, discipline, false),
	row(Terminal, "a terminal of the host", unix.ENOENT, false, func(w *World) error { return appendTo(w.Terminal) }, false),
}

func typeInto(*World) error {
	c := byte('x')
	_, _, e := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	return none(e)
}

func discipline(*World) error {
	return unix.IoctlSetPointerInt(0, unix.TIOCSETD, 0) // N_TTY, which it has
}
