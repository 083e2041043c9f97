package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
	"termic/sandbox/seccomp"
)

// TestMachinesThatLack runs Probe on machines that were made worse. The first row is their twin.
func TestMachinesThatLack(t *testing.T) {
	if want := os.Getenv("WANT"); want != "" {
		probe(t, want, os.Getenv("WANTFS"))
		return
	}
	if cagetest.Inner() {
		return // the runs below are those of both users
	}
	cagetest.Require(t)
	tests := []struct {
		name, script, want, wantFS string
	}{
		{"as it is", `exec "$@"`, "supported", "supported"},
		{"user namespaces switched off", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "max_user_namespaces=15000", "max_user_namespaces=15000"},
		{"a masked /proc", `for d in irq fs bus tty; do [ ! -d /proc/$d ] || { mount -t tmpfs none /proc/$d && exec "$@"; }; done`, "outside the container", "outside the container"},
		{"a module that forbids mounts", `export LANDLOCK=1; exec "$@"`, "forbids namespaces", "forbids namespaces"},
		{"a kernel without Landlock", refusing("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS), "supported", "use Linux 6.12"},
		{"Landlock switched off", refusing("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, unix.EOPNOTSUPP), "supported", "/sys/kernel/security/lsm"},
		{"a kernel before 5.12", refusing("mount_setattr", unix.SYS_MOUNT_SETATTR, unix.ENOSYS), "use Linux 5.12", "use Linux 5.12"},
		{"a kernel without filters", refusing("seccomp", unix.SYS_SECCOMP, unix.EINVAL), "CONFIG_SECCOMP_FILTER", "CONFIG_SECCOMP_FILTER"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, uid := range cagetest.Users() {
				cagetest.Again(t, uid, "^TestMachinesThatLack$", "unshare", "--user", "--map-root-user", "--mount", "env", "WANT="+tt.want, "WANTFS="+tt.wantFS, "sh", "-c", tt.script, "sh")
			}
		})
	}
}

// refusing returns the script of a machine on which a system call is answered with an error.
func refusing(name string, number int, errno syscall.Errno) string {
	return fmt.Sprintf(`export REFUSED=%d ERRNO=%d; exec "$@" # %s`, number, errno, name)
}

// probe is what TestMachinesThatLack runs on such a machine.
func probe(t *testing.T, want, wantFS string) {
	t.Helper()
	if os.Getenv("LANDLOCK") != "" {
		forbidMounts(t)
		defer runtime.UnlockOSThread()
	}
	if os.Getenv("REFUSED") != "" {
		refuseCall(t)
	}
	support := launch.Probe(context.Background(), filepath.Join(cagetest.Bin(t), "stage"))
	for mode, want := range map[capability.Mode]string{capability.Enforce: want, capability.EnforceFS: wantFS} {
		got := "supported"
		if err := support.Check(mode); err != nil {
			got = err.Error()
			var unsupported *launch.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Lack.What == "" || unsupported.Lack.Remedy == "" {
				t.Errorf("%s: no remedy in %v", mode, err)
			}
			if _, err := launch.Start(context.Background(), support, linuxcage.Plan{Mode: mode}); !errors.As(err, &unsupported) {
				t.Errorf("%s: a start: %v", mode, err)
			}
		}
		t.Logf("%s: %s", mode, got)
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", mode, got, want)
		}
	}
	childless(t)
}

// refuseCall puts a filter over this process that answers one system call with an error, as a kernel without it does.
func refuseCall(t *testing.T) {
	t.Helper()
	number, err := strconv.ParseUint(os.Getenv("REFUSED"), 10, 32)
	errno, err2 := strconv.ParseUint(os.Getenv("ERRNO"), 10, 16)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := seccomp.Install([]seccomp.Instruction{ // linux/bpf_common.h: load the number, compare, answer
		{Code: 0x20, K: 0}, {Code: 0x15, K: uint32(number), Jf: 1},
		{Code: 0x06, K: uint32(seccomp.Refuse(seccomp.Errno(errno)))}, {Code: 0x06, K: uint32(seccomp.Allow)},
	}); err != nil {
		t.Fatal(err)
	}
}

// forbidMounts puts this thread, from which Probe starts the stage, under a Landlock rule that allows every file to be
// read and, as any such rule does, no mount: AppArmor's restriction of user namespaces looks like that.
func forbidMounts(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	attr := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		t.Fatal(e)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); e != 0 {
		t.Fatal(e)
	}
}
