package agentstate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/sandbox/cagetest"
)

// everywhere prints what of a cage holds a string: each file but the system's, and what /proc tells of each process. As a
// pattern with a bracket the string is not in the search itself.
func everywhere(marker string) string {
	pattern := marker[:1] + "[" + marker[1:2] + "]" + marker[2:]
	return `for d in /*; do case $d in /usr|/bin|/sbin|/lib*|/opt|/proc|/dev|/nix) ;; *) grep -rlsD skip '` + pattern + `' "$d";; esac; done
		cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep -aqs '` + pattern + `' && echo proc; env | grep -q '` + pattern + `' && echo env; true`
}

// TestNoRefreshToken: no file, variable or process of a cage has what renews a login. The search finds the access token,
// and outside, where it is, what renews it.
func TestNoRefreshToken(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	for _, tt := range logins {
		t.Run(tt.agent, func(t *testing.T) {
			r := newRig(t, "CLAUDE_CODE_OAUTH_REFRESH_TOKEN="+refresh)
			for _, every := range logins { // the other agents' logins neither
				r.write(t, every.file, every.content)
			}
			plan := r.prepare(t, r.task(t, tt.agent))
			cage := r.cage(t, plan)
			if got := r.sh(t, cage, plan, everywhere(refresh)); got != "" {
				t.Errorf("what renews a login is in:\n%s", got)
			}
			if got := r.sh(t, cage, plan, everywhere(access)); strings.Count(got, "\n") != 1 || !strings.Contains(got, "-login/") {
				t.Errorf("the twin: the access token is in:\n%s", got)
			}
			if got := r.OutsideRun(t, "grep", "-rlsD", "skip", refresh, r.Root); !strings.Contains(got.Output, tt.file) || strings.Contains(got.Output, r.state) {
				t.Errorf("the twin: outside it is in:\n%s", got.Output)
			}
		})
	}
}

// TestRotation: a running agent finds the login that the person's own program wrote, and cannot change its copy; a
// logout takes the copy away.
func TestRotation(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	for _, tt := range logins {
		t.Run(tt.agent, func(t *testing.T) {
			r := newRig(t)
			file := r.write(t, tt.file, tt.content)
			task := r.task(t, tt.agent)
			plan := r.prepare(t, task)
			cage := r.cage(t, plan)
			if got := r.sh(t, cage, plan, "cat "+tt.copy); !strings.Contains(got, access) {
				t.Errorf("the copy: %s", got)
			}
			for _, attack := range []string{"echo x > " + tt.copy, `rm "$(readlink -f ` + tt.copy + `)"`, `touch "$(dirname "$(readlink -f ` + tt.copy + `)")/x"`,
				`mv "$(dirname "$(readlink -f ` + tt.copy + `)")" /tmp/x`} {
				r.sh(t, cage, plan, "! { "+attack+"; } 2>/dev/null")
			}
			next := filepath.Join(r.Home, "next")
			writeFile(t, next, strings.ReplaceAll(tt.content, access, "SECOND-marker-77aa"), 0o600)
			if err := os.Rename(next, file); err != nil {
				t.Fatal(err)
			}
			r.keeper.Look()
			if got := r.sh(t, cage, plan, "cat "+tt.copy); !strings.Contains(got, "SECOND-marker-77aa") || strings.Contains(got, refresh) {
				t.Errorf("after the rotation: %s", got)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			r.keeper.Look()
			r.sh(t, cage, plan, "! cat "+tt.copy+" 2>/dev/null")
			if err := cage.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := r.keeper.Release(task.ID); err != nil {
				t.Fatal(err)
			}
			if got := r.OutsideRun(t, "grep", "-rls", "-e", "-marker-", r.state); got.Output != "" {
				t.Errorf("after the end of the cage copies are left in:\n%s", got.Output)
			}
		})
	}
}
