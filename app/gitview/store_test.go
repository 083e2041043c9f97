//go:build unix

package gitview

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"termic/app/git"
)

// A cage with isolated history reads nothing of the project but the history of its base, and works all the same; the
// twin, which borrows the project's objects, reads what is on every branch.
func TestIsolatedHistory(t *testing.T) {
	for _, isolated := range []bool{true, false} {
		t.Run(map[bool]string{true: "isolated", false: "shared"}[isolated], func(t *testing.T) {
			r := newProject(t)
			base := r.oid("main")
			r.host("tag", "-a", "-m", "x", "old")
			r.host("switch", "-q", "-c", "secret")
			r.write(filepath.Join(r.project, "secret.txt"), "SECRET\n")
			r.host("add", "-A")
			r.host("commit", "-q", "-m", "secret")
			r.host("tag", "secret-tag")
			secret := r.oid("secret:secret.txt")
			r.host("switch", "-q", "main")
			r.host("commit", "-q", "--allow-empty", "-m", "later")
			later := r.oid("main")
			if isolated {
				r.task.Store = filepath.Join(r.top, "data", "base")
			}
			r.create(Options{BaseBranch: "main"})
			if isolated != slices.Equal(r.view.Objects, []string{r.task.Store}) {
				t.Errorf("it reads %q", r.view.Objects)
			}
			for what, oid := range map[string]git.OID{"a file of another branch": secret, "a later commit of the base branch": later} {
				if out, err := r.tryCage("cat-file", "-p", string(oid)); isolated != (err != nil) {
					t.Errorf("%s: %v %s", what, err, out)
				}
			}
			want := "refs/heads/main\nrefs/heads/task\nrefs/tags/light\nrefs/tags/old\nrefs/tags/v1"
			if got := r.cage("for-each-ref", "--format=%(refname)"); isolated != (got == want) {
				t.Errorf("refs:\n%s", got)
			}
			if isolated && r.cageOID("main") != base {
				t.Error("main is not at the base")
			}
			if got := r.cage("log", "--format=%s"); got != "first" {
				t.Errorf("log: %s", got)
			}
			// Both ways.
			tip := r.commit("a.txt", "agent\n")
			if got := r.sync(); got.Outcome != Moved || r.oid("task") != tip {
				t.Errorf("%+v", got)
			}
			r.write(r.file("b.txt"), "person\n")
			r.hostAt(r.task.Dir, "commit", "-q", "-m", "of the person", "--", "b.txt")
			if got := r.sync(); got.Given != r.oid("task") || r.cage("show", "HEAD:b.txt") != "person" {
				t.Errorf("%+v", got)
			}
			r.cage("gc", "-q", "--prune=now")
			r.gc()
			r.intact()
			if left, _ := filepath.Glob(filepath.Join(r.top, "data", "*half*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestIsolatedHistoryOfAPartialCloneIsRefused(t *testing.T) {
	r := cloned(t, "--filter=blob:none")
	r.task.Store = filepath.Join(r.top, "data", "base")
	if _, err := r.task.Create(t.Context(), r.private, Options{}); !errors.Is(err, git.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	for _, p := range []string{r.task.Store, r.private} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s is left", p)
		}
	}
	r.task.Store = ""
	if _, err := r.task.Create(t.Context(), r.private, Options{}); err != nil {
		t.Errorf("the twin that shares: %v", err)
	}
}
