package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// home is an isolated machine: an empty HOME with a git identity, and a Git
// that sees nothing else. Plain git commands of the test run in it too.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
	git *Git
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, env: map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": filepath.Join(dir, "home"), "TMPDIR": filepath.Join(dir, "tmp"), "LANG": "C.UTF-8",
	}}
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.write("home/.gitconfig", "[user]\n\tname = A Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n[core]\n\tfsync = none\n[maintenance]\n\tauto = false\n")
	// What find does, without asking the same program again for every test.
	known, err := foundOnce()
	if err != nil {
		t.Fatal(err)
	}
	g := *known
	g.inherited = h.env
	h.git = &g
	return h
}

var foundOnce = sync.OnceValues(func() (*Git, error) { return Find(context.Background()) })

// find looks git up again, in the environment as it is now.
func (h *home) find() *Git {
	h.t.Helper()
	g, err := findIn(h.t.Context(), func(name string) (string, bool) { v, ok := h.env[name]; return v, ok })
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

func (h *home) path(elem ...string) string {
	return filepath.Join(append([]string{h.dir}, elem...)...)
}

// write writes a file below the home's directory, with its parents.
func (h *home) write(name, text string) {
	h.t.Helper()
	p := name
	if !filepath.IsAbs(p) {
		p = h.path(name)
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// program writes a program. No process may be forked meanwhile: the child would
// hold the file open for writing for a moment, and to run it would fail with
// "text file busy" (go.dev/issue/22315).
func (h *home) program(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// sh runs plain git, as the person would, and returns its trimmed output.
func (h *home) sh(dir string, args ...string) string {
	h.t.Helper()
	out, err := h.try(dir, args...)
	if err != nil {
		h.t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSpace(out)
}

func (h *home) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=file"}
	for k, v := range h.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repo makes a repository with one commit of the files (default: a.txt), and opens it.
func (h *home) repo(name string, files ...string) *Repo {
	h.t.Helper()
	dir := h.path(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	if len(files) == 0 {
		files = []string{"a.txt"}
	}
	h.sh(dir, "init", "-q", "--template=") // no sample hooks
	for _, f := range files {
		h.write(filepath.Join(dir, f), "one\ntwo\nthree\n")
	}
	h.sh(dir, "add", "-A")
	h.sh(dir, "commit", "-q", "-m", "first")
	return h.open(dir)
}

func (h *home) open(dir string) *Repo {
	h.t.Helper()
	r, err := h.git.Open(h.t.Context(), dir)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// worktree adds a worktree of a new branch at HEAD and returns its directory.
func (h *home) worktree(r *Repo, name string) string {
	h.t.Helper()
	dir := h.path("tasks", name)
	if err := r.AddWorktree(h.t.Context(), AddOptions{Dir: dir, Branch: filepath.Base(name), Base: h.oid(r.Root, "HEAD")}); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

func (h *home) oid(dir, rev string) OID { return OID(h.sh(dir, "rev-parse", rev)) }

// snapshot maps every path below dir to its kind and contents.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		v := info.Mode().String()
		switch {
		case d.Type().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			v += " " + string(b)
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			v += " -> " + to
		}
		m[rel] = v
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// same fails unless both snapshots are equal, and says where they differ.
func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	var diffs []string
	for k, v := range want {
		if g, ok := got[k]; !ok {
			diffs = append(diffs, "missing: "+k)
		} else if g != v {
			diffs = append(diffs, "changed: "+k)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			diffs = append(diffs, "new: "+k)
		}
	}
	sort.Strings(diffs)
	if len(diffs) > 0 {
		t.Errorf("%s: not as before:\n%s", what, strings.Join(diffs[:min(len(diffs), 20)], "\n"))
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// fakeGit puts a program named git first in the home's PATH: script is a shell
// body in which $GIT is the real one. It returns a Git that uses it.
func (h *home) fakeGit(script string) *Git {
	h.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		h.t.Fatal(err)
	}
	dir := h.t.TempDir()
	text := "#!/bin/sh\nGIT='" + real + "'\n" + script + "\n"
	h.program(filepath.Join(dir, "git"), text)
	old := h.env["PATH"]
	h.env["PATH"] = dir + ":" + old
	defer func() { h.env["PATH"] = old }()
	return h.find()
}

// with returns r as seen through another git program.
func (r *Repo) with(g *Git) *Repo {
	c := *r
	c.git = g
	return &c
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
