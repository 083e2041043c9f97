package stage

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
	"termic/sandbox/seccomp"
)

// before is what attest compares with: made before the restrictions, out of reach after them.
type before struct {
	abstract int // a listening abstract socket
	name     string
	abi      int // of Landlock
}

func (b *before) close() {
	if b.abstract >= 0 {
		_ = unix.Close(b.abstract)
	}
}

// lockDown gives up everything that the set-up needed and more, in an order in which each step still may.
func lockDown(plan linuxcage.Plan) (*before, error) {
	b := &before{abstract: -1}
	if plan.Attest.Scoped {
		if err := b.listen(); err != nil {
			return nil, step(StepLandlock, err)
		}
	}
	// A keyring of its own for what is started from this thread: that of the app's session may hold keys.
	// Without a name (NULL): an empty one is refused, and one that has a name could be joined by others.
	if _, _, e := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); e != 0 && e != unix.ENOSYS {
		return nil, step(StepPrivilege, fmt.Errorf("join a new session keyring: %w", e))
	}
	if err := dropRights(); err != nil {
		return nil, step(StepPrivilege, err)
	}
	abi, err := restrict(plan)
	if err != nil {
		return nil, step(StepLandlock, err)
	}
	b.abi = abi
	if err := filter(); err != nil {
		return nil, step(StepSeccomp, err)
	}
	return b, nil
}

// listen opens the abstract socket that must not answer after Landlock's scope is on.
func (b *before) listen() error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(s, &unix.SockaddrUnix{}); err != nil { // the kernel picks an abstract name; unix(7), autobind
		return fmt.Errorf("bind abstract socket: %w", err)
	}
	if err := unix.Listen(s, 1); err != nil {
		return fmt.Errorf("listen on abstract socket: %w", err)
	}
	name, err := unix.Getsockname(s)
	if err != nil {
		return err
	}
	b.abstract, b.name = s, name.(*unix.SockaddrUnix).Name
	return nil
}

// lastCap is beyond CAP_CHECKPOINT_RESTORE (40), the newest; the kernel answers EINVAL to what it does not know.
const lastCap = 63

// noRoot are the secure bits (linux/securebits.h) under which uid 0 gets nothing at an exec, and nobody can raise an
// ambient capability: SECBIT_NOROOT, SECBIT_NO_CAP_AMBIENT_RAISE, and their locks.
const noRoot = 1<<0 | 1<<1 | 1<<6 | 1<<7

// dropRights takes every capability from every thread, and every way to gain one from this thread, from which
// everything is started. The other threads never exec; what they have is taken here, and filter puts no_new_privs on
// them, under which no exec gives any. One call for all threads stops each of them, which takes longer than most of the
// set-up: so there is one, which clears the ambient set too (capabilities(7): none outlives its permitted one).
func dropRights() error {
	for c := uintptr(0); c <= lastCap; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL && c > unix.CAP_CHECKPOINT_RESTORE {
			break
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
		return fmt.Errorf("lock secure bits: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, e := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	runtime.KeepAlive(&none)
	if e != 0 {
		return fmt.Errorf("drop capabilities: %w", e)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return nil
}

func filter() error {
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return err
	}
	prog, err := seccomp.Assemble(seccomp.Rules(), arch)
	if err != nil {
		return err
	}
	return seccomp.Install(prog)
}

// errNoScopes is a kernel without what enforce-fs stands on.
var errNoScopes = errors.New("this Landlock has no scopes, which came with ABI 6 (Linux 6.12): abstract sockets and signals would reach the host")

// restrict puts the calling thread, and what it starts, under Landlock where the kernel has it. It is a second wall
// behind the mounts, so enforce does without; enforce-fs needs its scopes. The other threads, the first of the process
// among them, stay outside on purpose: see Main.
func restrict(plan linuxcage.Plan) (int, error) {
	abi, err := landlockABI()
	if err != nil {
		return 0, err
	}
	if plan.Attest.Scoped && abi < scopesABI {
		return 0, fmt.Errorf("%w: %w", errNoScopes, unix.EOPNOTSUPP)
	}
	if abi == 0 {
		return 0, nil
	}
	ruleset, err := newRuleset(abi)
	if err != nil {
		return 0, err
	}
	defer unix.Close(ruleset)
	if err := allowBeneath(ruleset, "/", accessRead); err != nil {
		return 0, err
	}
	for _, name := range append(plan.Writable(), "/dev/shm") {
		if err := allowBeneath(ruleset, name, accessAll(abi)&^unix.LANDLOCK_ACCESS_FS_IOCTL_DEV); err != nil {
			return 0, err
		}
	}
	if err := allowBeneath(ruleset, "/dev", accessDevice&accessAll(abi)); err != nil {
		return 0, err
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); e != 0 {
		return 0, fmt.Errorf("restrict: %w", e)
	}
	return abi, nil
}
