package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// allHooks are the hooks of githooks(5).
var allHooks = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
	"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
}

// trap makes every program that a repository can name say so in one file: hooks
// in the hooks directory and below core.hooksPath, hooks in the configuration,
// fsmonitor, filters, textconv, external diff, signature checks, editors, helpers.
func (h *home) trap(r *Repo) (fired func() string) {
	h.t.Helper()
	marks := h.path("marks")
	program := h.path("trap.sh")
	h.program(program, "#!/bin/sh\necho \"${0##*/} $*\" >> '"+marks+"'\ncat >/dev/null\nexit 0\n")
	for _, dir := range []string{filepath.Join(r.CommonDir, "hooks"), h.path("hooks")} {
		os.MkdirAll(dir, 0o755)
		for _, name := range allHooks {
			os.Remove(filepath.Join(dir, name))
			h.program(filepath.Join(dir, name), "#!/bin/sh\necho hook-"+name+" >> '"+marks+"'\n")
		}
	}
	for _, kv := range [][2]string{
		{"core.hooksPath", h.path("hooks")}, {"core.fsmonitor", program}, {"diff.external", program}, {"diff.x.textconv", program}, {"diff.x.command", program},
		{"merge.x.driver", program}, {"core.editor", program}, {"core.pager", program}, {"gpg.program", program}, {"log.showSignature", "true"},
		{"commit.gpgSign", "true"}, {"core.sshCommand", program}, {"credential.helper", program}, {"core.alternateRefsCommand", program},
		{"hook.mine.command", program + " configured"},
	} {
		h.sh(r.Root, "config", kv[0], kv[1])
	}
	for _, name := range allHooks {
		h.sh(r.Root, "config", "--add", "hook.mine.event", name)
	}
	return func() string {
		b, _ := os.ReadFile(marks)
		os.Remove(marks)
		return string(b)
	}
}

// operations runs every operation of the package that works on a repository.
func (h *home) operations(r *Repo) {
	h.t.Helper()
	ctx := h.t.Context()
	must := func(what string, err error) {
		h.t.Helper()
		if err != nil {
			h.t.Errorf("%s: %v", what, err)
		}
	}
	r, err := h.git.Open(ctx, r.Root)
	must("Open", err)
	base, err := r.Resolve(ctx, "HEAD")
	must("Resolve", err)
	_, err = r.DefaultBranch(ctx)
	must("DefaultBranch", err)
	_, err = r.BranchExists(ctx, "main")
	must("BranchExists", err)
	dir := h.path("tasks", "trapped")
	must("AddWorktree", r.AddWorktree(ctx, AddOptions{Dir: dir, Branch: "trapped", Base: base}))
	h.write(dir+"/a.txt", "changed\n")
	h.write(dir+"/new.txt", "new\n")
	for _, d := range []string{dir, r.Root} {
		_, err = r.Status(ctx, d)
		must("Status", err)
		_, err = r.Diff(ctx, d, base, DiffOptions{})
		must("Diff", err)
		_, err = r.Ahead(ctx, d, base)
		must("Ahead", err)
	}
	must("SetRef", r.SetRef(ctx, "refs/termic/x/base", base, ""))
	must("DeleteRef", r.DeleteRef(ctx, "refs/termic/x/base", base))
	must("RenameBranch", r.RenameBranch(ctx, "trapped", "renamed"))
	a, err := r.Archive(ctx, ArchiveOptions{Dir: dir, ID: "x", Store: h.path("store")})
	must("Archive", err)
	must("RemoveArchived", r.RemoveArchived(ctx, a))
	must("Restore", r.Restore(ctx, RestoreOptions{Archived: a, Dir: dir}))
	must("RemoveWorktree", r.RemoveWorktree(ctx, dir))
	must("DeleteBranch", r.DeleteBranch(ctx, "renamed", base))
	must("DropPins", r.DropPins(ctx, "x"))
}

func TestNoHookAndNoConfiguredProgramEverRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	h.write(r.Root+"/.gitattributes", "*.txt diff=x merge=x\n")
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-qm", "attributes")
	fired := h.trap(r)
	fired()
	h.operations(r)
	if got := fired(); got != "" {
		t.Errorf("these ran:\n%s", got)
	}
	// The twin: plain git doing much the same runs them.
	h.try(r.Root, "worktree", "add", "-q", h.path("plain"), "-b", "plain")
	h.write(h.path("plain", "a.txt"), "changed\n")
	h.try(h.path("plain"), "status")
	h.try(h.path("plain"), "diff")
	h.try(h.path("plain"), "log", "-1", "-p", "--ext-diff")
	h.try(r.Root, "branch", "-m", "plain", "other")
	got := fired()
	want := []string{"hook-post-checkout", "hook-reference-transaction", "hook-post-index-change", "trap.sh"}
	if !h.git.Version().Less(configHooks) {
		want = append(want, "trap.sh configured")
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("plain git did not run %q, so the test proves nothing about it:\n%s", w, got)
		}
	}
}

// Filters are the person's own programs. They run where the person's git would
// run them at the first checkout, and never where a checkout's contents are read.
func TestFiltersRunAtTheFirstCheckoutOnly(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	marks := h.path("marks")
	h.program(h.path("filter.sh"), "#!/bin/sh\necho $1 >> '"+marks+"'\nexec cat\n")
	h.write(r.Root+"/.gitattributes", "*.txt filter=x\n")
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-qm", "attributes")
	h.sh(r.Root, "config", "--global", "filter.x.clean", h.path("filter.sh")+" clean")
	h.sh(r.Root, "config", "--global", "filter.x.smudge", h.path("filter.sh")+" smudge")
	h.sh(r.Root, "config", "filter.x.required", "true")
	take := func() string { b, _ := os.ReadFile(marks); os.Remove(marks); return string(b) }
	base := h.oid(r.Root, "HEAD")
	dir := h.worktree(r, "task")
	if got := take(); got != "smudge\n" {
		t.Errorf("at the checkout: %q", got)
	}
	h.write(dir+"/a.txt", "changed\n")
	h.write(dir+"/b.txt", "new\n")
	if _, err := r.Status(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if d, err := r.Diff(t.Context(), dir, base, DiffOptions{}); err != nil || len(d.Files) != 2 {
		t.Error(d.Files, err)
	}
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "x", Store: h.path("store")})
	if err != nil {
		t.Error(err)
	}
	if err := r.RemoveArchived(t.Context(), a); err != nil {
		t.Error(err)
	}
	if got := take(); got != "" {
		t.Errorf("while reading: %q", got)
	}
	h.sh(r.Root, "worktree", "add", "-q", h.path("plain"), "-b", "plain")
	h.write(h.path("plain/a.txt"), "changed\n")
	h.sh(h.path("plain"), "diff")
	if got := take(); !strings.Contains(got, "clean") {
		t.Errorf("plain git did not filter: %q", got)
	}
}

// A repository inside a checkout has a configuration of its own, and a submodule
// entry makes plain git go and look there.
func TestNothingOfANestedRepositoryRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	lib := h.repo("lib", "x.txt")
	h.sh(r.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
	h.sh(r.Root, "config", "-f", ".gitmodules", "submodule.lib.ignore", "none")
	h.sh(r.Root, "commit", "-qam", "add lib")
	base := h.oid(r.Root, "HEAD")
	dir := h.worktree(r, "task")
	os.Remove(dir + "/lib")
	h.sh(h.dir, "clone", "-q", lib.Root, dir+"/lib")
	h.sh(h.dir, "clone", "-q", lib.Root, dir+"/untracked")
	marks := h.path("marks")
	h.program(h.path("trap.sh"), "#!/bin/sh\necho ran >> '"+marks+"'\ncat\n")
	for _, sub := range []string{"lib", "untracked"} {
		h.write(dir+"/"+sub+"/.gitattributes", "*.txt filter=x\n")
		h.write(dir+"/"+sub+"/x.txt", "ONE\ntwo\nthree\n") // of the same size: git must read it
		h.sh(dir+"/"+sub, "config", "filter.x.clean", h.path("trap.sh"))
		h.sh(dir+"/"+sub, "config", "core.fsmonitor", h.path("trap.sh"))
	}
	os.Remove(marks)
	if _, err := r.Status(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := r.Diff(t.Context(), dir, base, DiffOptions{}); err != nil {
		t.Error(err)
	}
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "x", Store: h.path("store"), LeaveOut: []string{"lib", "untracked"}})
	if err != nil {
		t.Error(err)
	}
	wantErr(t, r.RemoveArchived(t.Context(), a), nil)
	if b, err := os.ReadFile(marks); err == nil {
		t.Errorf("it ran: %s", b)
	}
	// The twin: plain git looks inside.
	h.sh(r.Root, "worktree", "add", "-q", h.path("plain"), "-b", "plain")
	os.Remove(h.path("plain", "lib"))
	h.sh(h.dir, "clone", "-q", lib.Root, h.path("plain", "lib"))
	h.sh(h.path("plain", "lib"), "config", "core.fsmonitor", h.path("trap.sh"))
	os.Remove(marks)
	h.try(h.path("plain"), "status")
	if _, err := os.ReadFile(marks); err != nil {
		t.Error("plain git did not run it, so the test proves nothing")
	}
}
