package launch_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
)

// TestNamespaces: the entry of the stage has made all that the mode has, and the cage has the app's uid in them.
func TestNamespaces(t *testing.T) {
	m := cagetest.New(t)
	tests := []struct {
		mode capability.Mode
		same string // the only one that is the host's
	}{{capability.Enforce, ""}, {capability.EnforceFS, "net"}}
	for _, tt := range tests {
		t.Run(tt.mode.String(), func(t *testing.T) {
			if err := m.Support.Check(tt.mode); err != nil && tt.mode == capability.EnforceFS && m.Support.Landlock < 6 {
				t.Skip(err)
			}
			cage := m.Start(t, tt.mode, capability.Set{})
			for _, name := range []string{"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"} {
				link := "/proc/self/ns/" + name
				host, err := os.Readlink(link)
				if err != nil {
					t.Fatal(err)
				}
				inside := strings.TrimSpace(m.Run(t, cage, "readlink", link).Output)
				if !strings.HasPrefix(inside, name+":[") || (inside == host) != (name == tt.same) {
					t.Errorf("%s: %s inside, %s outside", name, inside, host)
				}
			}
			if got := m.Run(t, cage, "cat", "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups").Output; !strings.HasSuffix(got, "deny\n") ||
				fmt.Sprint(strings.Fields(got)) != fmt.Sprint([]any{os.Getuid(), os.Getuid(), 1, os.Getgid(), os.Getgid(), 1, "deny"}) {
				t.Errorf("users and groups: %q", got)
			}
		})
	}
}

// TestSignalsOfProcessOne: the kernel keeps from process 1 what it has no handler for. Where Landlock has no scopes,
// that is all that does.
func TestSignalsOfProcessOne(t *testing.T) {
	m := cagetest.New(t)
	m.Start(t, capability.Enforce, capability.Set{})
	seen := 0
	for pid := range descendants(t, os.Getpid()) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || !strings.HasPrefix(string(status), "Name:\tstage\n") {
			continue
		}
		seen++
		_, rest, _ := strings.Cut(string(status), "SigCgt:\t")
		caught, err := strconv.ParseUint(rest[:16], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM} {
			if caught&(1<<(sig-1)) != 0 {
				t.Errorf("%s is caught", unix.SignalName(sig))
			}
		}
		if caught&(1<<(unix.SIGURG-1)) == 0 { // the runtime's own
			t.Error("no signal is caught: this is not what the runtime set up")
		}
	}
	if seen != 1 {
		t.Errorf("%d processes have the name of the stage", seen)
	}
}
