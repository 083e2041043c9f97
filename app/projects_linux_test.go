package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// added adds the repository at path and returns the project.
func (r *rig) added(path string) map[string]any {
	r.t.Helper()
	return r.must("project_add", `{"path":%q}`, path)["project"].(map[string]any)
}

// TestAProjectIsOneRepositoryWhateverThePath: two projects never share a repository, or a caller with one of them in its
// list would act on what the other's list is for.
func TestAProjectIsOneRepositoryWhateverThePath(t *testing.T) {
	r := newRig(t)
	demo := r.added(r.repo)["id"]
	base := t.TempDir()
	link, linked, sub := filepath.Join(base, "link"), filepath.Join(base, "linked"), filepath.Join(r.repo, "sub")
	if err := os.Symlink(r.repo, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	runGit(t, "-C", r.repo, "worktree", "add", "-q", "-b", "beside", linked)
	for name, path := range map[string]string{
		"a symbolic link": link, "a directory under a link": filepath.Join(link, "sub"), "a linked worktree": linked, "its git directory's top": r.repo + "/.",
	} {
		if got := r.added(path)["id"]; got != demo {
			t.Errorf("%s: another project %v, not %v", name, got, demo)
		}
		r.refused(refusal.Conflict, "project_add", `{"path":%q,"name":"another"}`, path)
	}
	nested := filepath.Join(r.repo, "nested")
	newRepository(t, nested)
	if got := r.added(nested); got["id"] == demo || got["path"] != nested {
		t.Errorf("twin: a repository inside another is a project of its own: %v", got)
	}
}

// TestARightEndsWithTheProject: a caged caller's list names a project, which is removed and added again. It is another
// project then, however it is called and wherever it lies; and a nested one is none of the caller's either.
func TestARightEndsWithTheProject(t *testing.T) {
	r := newRig(t)
	gamma, nested := filepath.Join(t.TempDir(), "gamma"), filepath.Join(r.repo, "nested")
	newRepository(t, gamma)
	newRepository(t, nested)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	first := r.added(gamma)
	r.added(nested)
	r.cagedTask("lead", `,"mcp":true,"projects":["gamma"]`)
	r.wait("lead")
	r.tell("lead", `let w = call task_new {"name":"before","project":"gamma","agent":"test"}`)
	made := r.must("task_status", `{"task":"before"}`)["task"].(map[string]any)
	if made["project_name"] != "gamma" {
		t.Fatalf("twin: while it is there: %v", made)
	}
	r.refused(refusal.Conflict, "project_remove", `{"project":"gamma"}`)
	r.must("task_archive", `{"task":"before","force":true}`)
	r.must("task_purge", `{"task":"before","yes":true}`)
	r.must("project_remove", `{"project":"gamma"}`)
	r.refusedInside("lead", map[string]string{
		`task_new {"name":"w","project":"gamma","agent":"test"}`: "not_found", `task_new {"name":"w","project":"nested","agent":"test"}`: "not_found",
	})
	if again := r.added(gamma); again["id"] == first["id"] {
		t.Fatal("a project's id came again")
	}
	r.refusedInside("lead", map[string]string{`task_new {"name":"w","project":"gamma","agent":"test"}`: "not_found"})
	r.must("cage_edit", `{"task":"lead","projects":["gamma"],"confirm":true}`)
	r.wait("lead")
	r.tell("lead", `let w = call task_new {"name":"after","project":"gamma","agent":"test"}`)
	if made := r.must("task_status", `{"task":"after"}`)["task"].(map[string]any); made["project_name"] != "gamma" {
		t.Errorf("twin: named again: %v", made)
	}
}

// TestAProjectIsNothingThatATaskWrote: a repository that a caged agent made has the hooks and the configuration that it gave
// it, and so has one whose git directory lies there, wherever its top is. A clone of it elsewhere has not.
func TestAProjectIsNothingThatATaskWrote(t *testing.T) {
	r := newRig(t)
	shared := sharedDir(t)
	made := r.cagedShell("maker", fmt.Sprintf(`,"write":[%q]`, shared))
	checkout := made["path"].(string)
	r.inside("maker", fmt.Sprintf(`for d in nested %s/planted; do git init -q $d && git -C $d -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m planted; done`, shared))
	elsewhere, link, pointing := t.TempDir(), filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "pointing")
	if err := errors.Join(os.Symlink(filepath.Join(checkout, "nested"), link), os.Mkdir(pointing, 0o700)); err != nil {
		t.Fatal(err)
	}
	put(t, "gitdir: "+filepath.Join(checkout, "nested", ".git")+"\n", pointing, ".git")
	newRepository(t, filepath.Join(r.dir, "inside"))
	newRepository(t, filepath.Join(filepath.Dir(checkout), "beside"))
	for name, c := range map[string]struct{ path, where string }{
		"in a checkout":                           {filepath.Join(checkout, "nested"), "the checkout of task maker"},
		"through a link":                          {link, "the checkout of task maker"},
		"with its git directory there":            {pointing, "the checkout of task maker"},
		"where a cage may write":                  {filepath.Join(shared, "planted"), "that task maker may write"},
		"in the data directory":                   {filepath.Join(r.dir, "inside"), "data directory"},
		"among the checkouts, but of no task now": {filepath.Join(filepath.Dir(checkout), "beside"), "checkouts of tasks"},
	} {
		no := r.refused(refusal.Conflict, "project_add", `{"path":%q,"name":"planted"}`, c.path)
		if !strings.Contains(no.Reason, c.where) || !strings.Contains(no.Remedy, "clone") {
			t.Errorf("%s: %+v", name, no)
		}
	}
	if demo := r.added(checkout)["name"]; demo != "demo" {
		t.Errorf("twin: the checkout itself is of the project that there is: %v", demo)
	}
	runGit(t, "clone", "-q", filepath.Join(shared, "planted"), filepath.Join(elsewhere, "clone"))
	r.added(filepath.Join(elsewhere, "clone")) // the twin
}
