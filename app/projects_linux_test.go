package app

import (
	"os"
	"path/filepath"
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
