package launch_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/cgroup"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
)

// startLimited starts a cage in a control group of its own. The group is nil where there are none.
func startLimited(t *testing.T, m *cagetest.Machine, groups *cgroup.Groups, plan linuxcage.Plan, limits cgroup.Limits) (*launch.Cage, *cgroup.Group) {
	t.Helper()
	var group *cgroup.Group
	var refused error
	cage, err := launch.StartPlaced(t.Context(), m.Support, plan, func(pid int) { group, refused = groups.Put(t.Context(), "test", pid, limits) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cage.Kill(); err != nil {
			t.Error(err)
		}
		if group != nil {
			if err := group.Remove(); err != nil {
				t.Error(err)
			}
		}
	})
	if (refused == nil) != (group != nil) {
		t.Fatalf("%v, %v", group, refused)
	}
	return cage, group
}

// TestACageOfAnOrdinaryUserIsHeldToItsLimits: root plays the system that hands a group to its user.
func TestACageOfAnOrdinaryUserIsHeldToItsLimits(t *testing.T) {
	if cagetest.Inner() {
		return // TestACageIsHeldToItsLimits runs
	}
	users := cagetest.Users()
	cagetest.AgainDelegated(t, users[len(users)-1], "^TestACageIsHeldToItsLimits$")
}

// Where the machine lets this user make control groups, a cage does the forbidden thing and its twin without the limit
// does the same; where it does not, no limit is claimed, and the cage is one all the same.
func TestACageIsHeldToItsLimits(t *testing.T) {
	m := cagetest.New(t)
	groups := cgroup.Open("termic-test-"+strconv.Itoa(os.Getpid())+"-", os.Environ())
	how, here, err := groups.Check(t.Context())
	if err != nil && !errors.Is(err, cgroup.ErrNone) {
		t.Fatalf("the way to control groups does not work: %v", err)
	}
	t.Logf("control groups here: %q %+v %v", how, here, err)
	for _, c := range cagetest.Delegated() {
		if err != nil || map[string]int64{"memory": here.Memory, "pids": here.Processes, "cpu": here.CPUWeight}[c] == 0 {
			t.Fatalf("this user was handed %q, and not all of it holds a cage: %+v, %v", cagetest.Delegated(), here, err)
		}
	}
	limits := cgroup.Limits{Memory: cgroup.MinMemory, Processes: 64, CPUWeight: 50}
	for _, mode := range m.Support.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			plan := m.Plan(t, mode, capability.Set{})
			limited, group := startLimited(t, m, groups, plan, limits)
			if got := m.Run(t, limited, "sh", "-c", "echo works"); got.Output != "works\n" {
				t.Fatalf("a cage that is limited, or was to be: %+v", got)
			}
			if err != nil {
				if group != nil || !errors.Is(err, cgroup.ErrNone) {
					t.Errorf("limits are claimed: %+v, %v", group, err)
				}
				return
			}
			if group.Held != here {
				t.Errorf("held: %+v, and %+v when it was tried", group.Held, here)
			}
			free, _ := startLimited(t, m, groups, plan, cgroup.Limits{})
			// One block, which is in memory as a whole.
			hungry := []string{"sh", "-c", "dd if=/dev/zero of=/dev/null bs=320M count=1 2> /dev/null && echo took all"}
			forks := []string{"sh", "-c", "i=0; while [ $i -lt 100 ]; do sleep 1000 > /dev/null 2>&1 & i=$((i+1)); done; echo all of them"}
			if here.Memory != 0 {
				if got := m.Run(t, free, hungry...); got.Output != "took all\n" {
					t.Errorf("twin: %+v", got)
				}
				if got := m.Run(t, limited, hungry...); strings.Contains(got.Output, "took all") {
					t.Errorf("320 MiB in a cage of 256: %+v", got)
				}
				if use := group.Usage(); use.Memory <= 0 || use.Memory > limits.Memory {
					t.Errorf("it takes %d bytes", use.Memory)
				}
			}
			if here.Processes != 0 {
				if got := m.Run(t, free, forks...); !strings.Contains(got.Output, "all of them") {
					t.Errorf("twin: %+v", got)
				}
				if got := m.Run(t, limited, forks...); strings.Contains(got.Output, "all of them") {
					t.Errorf("100 processes in a cage of 64: %+v", got)
				}
			}
			select {
			case <-limited.Done():
				t.Error("the cage has ended with what was too much in it")
			default:
			}
		})
	}
}
