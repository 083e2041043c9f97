package launch_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
)

// crowd starts more processes than the smallest limit allows, reserved numbers included, and says whether it could.
const crowd = `i=0; while [ $i -lt 800 ]; do sleep 1000 > /dev/null 2>&1 & i=$((i+1)); done; echo all of them`

func TestACageHasNoMoreProcessesThanItsLimit(t *testing.T) {
	m := cagetest.New(t)
	for _, mode := range m.Support.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			plan := m.Plan(t, mode, capability.Set{})
			unlimited := m.StartPlan(t, plan)
			if got := m.Run(t, unlimited, "sh", "-c", crowd); got.Code != 0 || !strings.Contains(got.Output, "all of them") || unlimited.Report.Processes != 0 {
				t.Fatalf("without a limit: %+v, %+v", got, unlimited.Report)
			}
			plan.Processes = linuxcage.MinProcesses
			limited := m.StartPlan(t, plan)
			if !limitable() {
				if limited.Report.Processes != 0 {
					t.Errorf("a limit is claimed that this kernel does not hold: %+v", limited.Report)
				}
				return
			}
			if limited.Report.Processes != plan.Processes {
				t.Errorf("no limit is reported: %+v", limited.Report)
			}
			raise := "echo 100000 > /proc/sys/kernel/pid_max && echo raised; bash -c 'ulimit -u 100000' && echo raised"
			if got := m.Run(t, limited, "sh", "-c", raise); strings.Contains(got.Output, "raised") {
				t.Errorf("from inside: %+v", got)
			}
			if got := m.Run(t, limited, "sh", "-c", crowd); got.Code == 0 || strings.Contains(got.Output, "all of them") {
				t.Errorf("with a limit of %d: %+v", plan.Processes, got)
			}
			if got := m.Run(t, unlimited, "true"); got.Code != 0 {
				t.Errorf("a full cage fills another: %+v", got)
			}
		})
	}
}

// What fills a cage keeps nobody from being told so, nor from ending it.
func TestAFullCageRefusesAndEnds(t *testing.T) {
	if !limitable() {
		return // nothing is ever full
	}
	m := cagetest.New(t)
	plan := m.Plan(t, capability.Enforce, capability.Set{})
	plan.Processes = linuxcage.MinProcesses
	cage := m.StartPlan(t, plan)
	bomb := terminal(t, m, cage, "sh", "-c", "(while :; do sleep 1000 > /dev/null 2>&1 & done); echo full; while :; do :; done") // the inner shell ends when it cannot fork
	until(t, bomb, "full")
	if p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{"true"}, Env: m.Env(), Dir: m.Checkout}); err == nil {
		if exit := p.Wait(); exit.Code == 0 {
			t.Logf("a place was free: %+v", exit)
		}
	}
	if err := cage.Kill(); err != nil {
		t.Error(err)
	}
}

// limitable tells whether this kernel holds a cage to a number of processes; see package stage.
func limitable() bool {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor); err != nil {
		return false
	}
	since := [2]int{5, 14}
	if os.Getuid() == 0 {
		since = [2]int{6, 14}
	}
	return major > since[0] || major == since[0] && minor >= since[1]
}
