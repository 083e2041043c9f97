package seccomp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/seccomp"
)

// victimCalls are answered in one way without the filter and in another with it, by any kernel since 5.6 and for any
// user. None of them does anything.
var victimCalls = []struct {
	name    string
	nr      uintptr
	args    [3]uintptr
	without unix.Errno
	with    unix.Errno
}{
	{"a pidfd of no process", unix.SYS_PIDFD_GETFD, [3]uintptr{^uintptr(0), 0, 0}, unix.EBADF, unix.EPERM},
	{"the session keyring", unix.SYS_KEYCTL, [3]uintptr{9999}, unix.EOPNOTSUPP, unix.EPERM}, // no such operation
	{"clone3 without arguments", unix.SYS_CLONE3, [3]uintptr{0, 0}, unix.EINVAL, unix.ENOSYS},
	{"a netlink socket of an unknown protocol", unix.SYS_SOCKET, [3]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, 99}, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT},
	{"a TCP socket", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM, 0}, 0, 0},
}

type victimReport struct{ Main, Other []unix.Errno }

const victimVar = "TERMIC_TEST_VICTIM"

func TestMain(m *testing.M) {
	if how := os.Getenv(victimVar); how != "" {
		victim(how)
		return
	}
	os.Exit(m.Run())
}

// victim makes the calls on two threads, one of which was there before the filter.
func victim(how string) {
	runtime.LockOSThread()
	start, other := make(chan bool), make(chan []unix.Errno)
	go func() {
		runtime.LockOSThread()
		start <- true
		<-start
		other <- tryCalls()
	}()
	<-start
	if how == "filtered" {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			panic(err)
		}
		arch, err := seccomp.ArchOf(runtime.GOARCH)
		if err != nil {
			panic(err)
		}
		prog, err := seccomp.Assemble(seccomp.Rules(), arch)
		if err != nil {
			panic(err)
		}
		if err := seccomp.Install(prog); err != nil {
			panic(err)
		}
	}
	start <- true
	if err := json.NewEncoder(os.Stdout).Encode(victimReport{tryCalls(), <-other}); err != nil {
		panic(err)
	}
}

func tryCalls() []unix.Errno {
	var got []unix.Errno
	for _, call := range victimCalls {
		_, _, e := unix.Syscall(call.nr, call.args[0], call.args[1], call.args[2])
		got = append(got, e)
	}
	return got
}

func TestFilterBites(t *testing.T) {
	for _, how := range []string{"filtered", "free"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), victimVar+"="+how)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var report victimReport
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for i, call := range victimCalls {
				want := call.without
				if how == "filtered" {
					want = call.with
				}
				if report.Main[i] != want || report.Other[i] != want {
					t.Errorf("%s: %v on the thread that set the filter, %v on another, want %v", call.name, report.Main[i], report.Other[i], want)
				}
			}
		})
	}
}

func TestAnEmptyFilterIsNotInstalled(t *testing.T) {
	if err := seccomp.Install(nil); err == nil {
		t.Error("it was")
	}
}
