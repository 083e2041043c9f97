package launch

import (
	_ "embed"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"termic/sandbox/capability"
	"termic/sandbox/stage"
)

// AppArmorProfile lets the stage, and nothing else, make user namespaces where AppArmor forbids them (Ubuntu 23.10 and
// later). It names the stage's path; a package installs both.
//
//go:embed apparmor/termic-stage
var AppArmorProfile []byte

// Remedies, as a person can run them.
const (
	remedyUserNS   = "allow user namespaces: sudo sysctl -w user.max_user_namespaces=15000"
	remedyDebian   = "allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
	remedyAppArmor = "install the stage and its AppArmor profile, once: sudo build/install-stage.sh, where termic was built; then start termic again"
	remedyKernel   = "use Linux 5.12 or later"
	remedyScopes   = "use Linux 6.12 or later with Landlock switched on (landlock in /sys/kernel/security/lsm), or choose enforce"
	remedyOutside  = "run termic outside the container, on the machine itself"
)

// restriction is Ubuntu's switch (23.10 and later) that keeps programs without an AppArmor profile from user namespaces.
const restriction = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// diagnose says what a machine lacks, from the step that failed and from what the system tells about itself. root is
// "/" of that system.
func diagnose(mode capability.Mode, failure *stage.Failure, root fs.FS) *UnsupportedError {
	return &UnsupportedError{Mode: mode, Lack: lackOf(failure, root), Cause: failure}
}

func lackOf(failure *stage.Failure, root fs.FS) Lack {
	denied := failure.Errno == syscall.EPERM || failure.Errno == syscall.EACCES
	setting := func(name string) string { return read(root, "proc/sys/"+name) }
	switch {
	case failure.Errno == syscall.ENOSYS:
		return Lack{"the kernel is older than Linux 5.12, or calls that the cage is made with are forbidden to termic", remedyKernel}
	case failure.Step == stage.StepClone && setting("user/max_user_namespaces") == "0", failure.Errno == syscall.ENOSPC && failure.Step == stage.StepClone:
		return Lack{"user namespaces are switched off, or all in use", remedyUserNS}
	case failure.Step == stage.StepClone && denied && setting("kernel/unprivileged_userns_clone") == "0":
		return Lack{"user namespaces are forbidden to users", remedyDebian}
	case (failure.Step == stage.StepClone || failure.Step == stage.StepPrivate) && denied && read(root, restriction) == "1":
		return Lack{"AppArmor forbids user namespaces to programs that it does not know", remedyAppArmor}
	case failure.Step == stage.StepProc && denied:
		return Lack{"/proc is masked, as containers do it, so the cage can have none of its own", remedyOutside}
	case denied && inContainer(root):
		return Lack{"the container forbids namespaces", remedyOutside}
	case failure.Step == stage.StepClone && denied, failure.Step == stage.StepPrivate && denied:
		return Lack{"a security module or a sandbox around termic forbids namespaces", "start termic outside that sandbox"}
	case failure.Step == stage.StepLandlock && failure.Errno == syscall.EOPNOTSUPP:
		return Lack{"the kernel cannot keep a cage with an open network from the host's abstract sockets and processes", remedyScopes}
	case failure.Step == stage.StepSeccomp && failure.Errno == syscall.EINVAL:
		return Lack{"the kernel has no system-call filters", "use a kernel with CONFIG_SECCOMP_FILTER"}
	}
	return Lack{"the cage could not be made or proved", "read the cause; what it names is missing, or was changed while the cage started"}
}

// machineLacks reports whether a failure says something about the machine, and not about one plan.
func machineLacks(failure *stage.Failure) bool {
	switch failure.Step {
	case stage.StepClone, stage.StepPrivate, stage.StepProc, stage.StepLandlock, stage.StepSeccomp:
		return true
	}
	return failure.Errno == syscall.ENOSYS
}

func read(root fs.FS, name string) string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// inContainer reports whether the system says that it is a container: as Docker, Podman and systemd mark theirs.
func inContainer(root fs.FS) bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		if _, err := fs.Stat(root, mark); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
