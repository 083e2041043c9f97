package app

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"termic/registry/refusal"
)

// TestATaskStartsFromWhatOriginHas: the base is fetched first when that is asked for, and only then; without the remote the
// task is made all the same, and says from what.
func TestATaskStartsFromWhatOriginHas(t *testing.T) {
	r := newRig(t)
	r.refused(refusal.Conflict, "task_new", `{"name":"alone","agent":"shell","fetch":true}`) // no remote at all
	origin := filepath.Join(t.TempDir(), "origin.git")
	runGit(t, "clone", "-q", "--bare", r.repo, origin)
	runGit(t, "-C", r.repo, "remote", "add", "origin", "file://"+origin)
	theirs := filepath.Join(t.TempDir(), "theirs")
	runGit(t, "clone", "-q", origin, theirs)
	push := func(branch, file string) string {
		t.Helper()
		runGit(t, "-C", theirs, "checkout", "-q", "-B", branch)
		if err := os.WriteFile(filepath.Join(theirs, file), []byte("theirs\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, "-C", theirs, "add", file)
		runGit(t, "-C", theirs, "commit", "-qm", file)
		runGit(t, "-C", theirs, "push", "-q", "origin", branch)
		return runGit(t, "-C", theirs, "rev-parse", "HEAD")
	}
	mine := runGit(t, "-C", r.repo, "rev-parse", "main")
	one := push("main", "one")
	two := push("feature/two", "two")
	made := func(name, more, base, file string) map[string]any {
		t.Helper()
		out := r.must("task_new", `{"name":%q,"agent":"shell"%s}`, name, more)
		got := out["task"].(map[string]any)
		if got["base"] != base {
			t.Errorf("%s starts from %v, want %s", name, got["base"], base)
		}
		if _, err := os.Stat(filepath.Join(got["path"].(string), file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return out
	}
	made("not-asked", "", mine, "README")
	if out := made("asked", `,"fetch":true`, one, "one"); out["fetched"] != nil {
		t.Errorf("origin was reached, and %v", out["fetched"])
	}
	made("named", `,"fetch":true,"base":"feature/two"`, two, "two")
	made("as-git-says-it", `,"fetch":true,"base":"origin/feature/two"`, two, "two")
	if now := runGit(t, "-C", r.repo, "rev-parse", "main"); now != mine {
		t.Error("the person's own branch moved")
	}
	r.refused(refusal.NotFound, "task_new", `{"name":"nowhere","agent":"shell","fetch":true,"base":"nowhere"}`)
	r.refused(refusal.NotFound, "task_new", `{"name":"commit","agent":"shell","fetch":true,"base":%q}`, one) // no branch
	r.refused(refusal.BadInput, "task_new", `{"name":"live","agent":"shell","fetch":true,"live":true}`)

	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	runGit(t, "-C", r.repo, "remote", "set-url", "origin", "git://"+gone.Addr().String()+"/demo")
	out := made("offline", `,"fetch":true`, one, "one")
	shown(t, out["fetched"].(string), "origin was not reached", "unable to connect", "origin/main as it was fetched last")
	runGit(t, "-C", r.repo, "update-ref", "-d", "refs/remotes/origin/main")
	out = made("never-fetched", `,"fetch":true`, mine, "README")
	shown(t, out["fetched"].(string), "never was", "main as it is here")
	r.refused(refusal.NotFound, "task_new", `{"name":"unknown-here","agent":"shell","fetch":true,"base":"elsewhere"}`)
}
