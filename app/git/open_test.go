package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(h *home) string // returns the path to open
		root string               // below the home; "p" when empty
		want error
	}{
		"a repository":                    {make: func(h *home) string { return h.repo("p").Root }},
		"a directory in it":               {make: func(h *home) string { return h.repo("p", "d/e/f").Root + "/d/e" }},
		"a path with dots":                {make: func(h *home) string { return h.repo("p", "d/e/f").Root + "/d/../d/." }},
		"its .git directory":              {make: func(h *home) string { return h.repo("p").Root + "/.git" }},
		"a directory in .git":             {make: func(h *home) string { return h.repo("p").Root + "/.git/objects" }},
		"a linked worktree":               {make: func(h *home) string { return h.worktree(h.repo("p", "d/f"), "task") + "/d" }},
		"a path through a link":           {make: func(h *home) string { os.Symlink(h.repo("p").Root, h.path("link")); return h.path("link") }},
		"spaces, quotes, colons, Unicode": {make: func(h *home) string { return h.repo("it's: \"ä\" $x;#é").Root }, root: "it's: \"ä\" $x;#é"},
		"a separate git directory": {make: func(h *home) string {
			h.sh(h.dir, "init", "-q", "--separate-git-dir", h.path("elsewhere"), h.path("p"))
			h.sh(h.path("p"), "commit", "-q", "--allow-empty", "-m", "x")
			return h.path("p")
		}},
		"a submodule": {make: func(h *home) string {
			h.repo("lib")
			r := h.repo("super")
			h.sh(r.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
			return r.Root + "/lib"
		}, root: "super/lib"},
		"a worktree of a submodule": {make: func(h *home) string {
			h.repo("lib")
			r := h.repo("super")
			h.sh(r.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
			return h.worktree(h.open(r.Root+"/lib"), "task")
		}, root: "super/lib"},
		"SHA-256": {make: func(h *home) string {
			h.sh(h.dir, "init", "-q", "--object-format=sha256", h.path("p"))
			h.sh(h.path("p"), "commit", "-q", "--allow-empty", "-m", "x")
			return h.path("p")
		}},
		"an unborn HEAD beside a branch": {make: func(h *home) string {
			r := h.repo("p")
			h.sh(r.Root, "checkout", "-q", "--orphan", "fresh")
			return r.Root
		}},
		"a detached HEAD and no branch": {make: func(h *home) string {
			r := h.repo("p")
			h.sh(r.Root, "checkout", "-q", "--detach")
			h.sh(r.Root, "branch", "-D", "main")
			return r.Root
		}},
		"no commit": {make: func(h *home) string { h.sh(h.dir, "init", "-q", h.path("p")); return h.path("p") }, want: ErrNoCommits},
		"a bare repository": {make: func(h *home) string {
			h.sh(h.dir, "clone", "-q", "--bare", h.repo("x").Root, h.path("p"))
			return h.path("p")
		}, want: ErrBare},
		"a worktree of a bare repository": {make: func(h *home) string {
			h.sh(h.dir, "clone", "-q", "--bare", h.repo("x").Root, h.path("p.git"))
			h.sh(h.path("p.git"), "worktree", "add", "-q", h.path("w"), "-b", "w")
			return h.path("w")
		}, want: ErrBare},
		"no repository":       {make: func(h *home) string { return h.dir }, want: ErrNotRepository},
		"a missing directory": {make: func(h *home) string { return h.path("no", "such") }, want: ErrNotRepository},
		"a file":              {make: func(h *home) string { return h.repo("p").Root + "/a.txt" }, want: ErrNotRepository},
		"a relative path":     {make: func(h *home) string { return "p" }, want: ErrBadPath},
		"an empty path":       {make: func(h *home) string { return "" }, want: ErrBadPath},
		"a newline":           {make: func(h *home) string { return newlineRepo(h) }, want: ErrBadPath},
		"a newline behind a link": {make: func(h *home) string {
			os.Symlink(newlineRepo(h), h.path("link"))
			return h.path("link")
		}, want: ErrBadPath},
		"a newline that looks like more lines": {make: func(h *home) string {
			dir := h.path("x\n") + h.path("y")
			os.MkdirAll(dir, 0o755)
			h.sh(dir, "init", "-q")
			os.Symlink(dir, h.path("link"))
			return h.path("link")
		}, want: ErrBadPath},
		"a NUL":         {make: func(h *home) string { return h.path("a\x00b") }, want: ErrBadPath},
		"invalid UTF-8": {make: func(h *home) string { return h.path("a\xff") }, want: ErrBadPath},
		"an unknown extension": {make: func(h *home) string {
			r := h.repo("p")
			h.sh(r.Root, "config", "core.repositoryFormatVersion", "1")
			h.sh(r.Root, "config", "extensions.someday", "true")
			return r.Root
		}, want: ErrUnsupported},
		"reftable": {make: func(h *home) string {
			r := h.repo("p")
			h.sh(r.Root, "config", "core.repositoryFormatVersion", "1")
			h.sh(r.Root, "config", "extensions.refStorage", "reftable")
			return r.Root
		}, want: ErrUnsupported},
		"a later format": {make: func(h *home) string {
			r := h.repo("p")
			h.sh(r.Root, "config", "core.repositoryFormatVersion", "7")
			return r.Root
		}, want: ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r, err := h.git.Open(t.Context(), c.make(h))
			wantErr(t, err, c.want)
			if err != nil {
				return
			}
			root := c.root
			if root == "" {
				root = "p"
			}
			if r.Root != h.path(root) {
				t.Errorf("root %q, want %q", r.Root, h.path(root))
			}
			common, _ := filepath.EvalSymlinks(h.sh(r.Root, "rev-parse", "--path-format=absolute", "--git-common-dir"))
			if r.CommonDir != common {
				t.Errorf("common directory %q, want %q", r.CommonDir, common)
			}
			if _, err := r.Status(t.Context(), r.Root); err != nil {
				t.Error(err)
			}
		})
	}
}

func newlineRepo(h *home) string {
	dir := h.path("a\nb")
	os.MkdirAll(dir, 0o755)
	h.sh(dir, "init", "-q")
	h.sh(dir, "commit", "-q", "--allow-empty", "-m", "x")
	return dir
}

// git itself decides who owns a repository; its own test switch stands in for
// another user, so that the test needs no second one.
func TestOpenRefusesAnotherUsersRepository(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	other := h.fakeGit(`export GIT_TEST_ASSUME_DIFFERENT_OWNER=1; exec "$GIT" "$@"`)
	_, err := other.Open(t.Context(), r.Root)
	wantErr(t, err, ErrUnsafeOwner)
	h.sh(r.Root, "config", "--global", "--add", "safe.directory", r.Root)
	_, err = other.Open(t.Context(), r.Root)
	wantErr(t, err, nil)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	first := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "second")
	second := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "tag", "-a", "-m", "x", "v1", string(first))
	h.sh(r.Root, "update-ref", "refs/heads/-n", string(first))
	for ref, want := range map[string]OID{
		"HEAD": second, "main": second, "refs/heads/main": second, "main~1": first, "v1": first, string(first): first, string(first)[:12]: first, "refs/heads/-n": first, "@": second,
	} {
		got, err := r.Resolve(t.Context(), ref)
		if err != nil || got != want {
			t.Errorf("%q is %s, want %s: %v", ref, got, want, err)
		}
	}
	for ref, want := range map[string]error{
		"-n": ErrBadRef, "--all": ErrBadRef, "": ErrBadRef, "a\nb": ErrBadRef, "a\x00": ErrBadRef, "\xff": ErrBadRef, strings.Repeat("x", 5000): ErrBadRef, "a\u0085": ErrBadRef, "@{5 years ago": ErrBadRef,
		"nope": ErrRefNotFound, "main~5": ErrRefNotFound, "main:a.txt": ErrRefNotFound, "main^{tree}": ErrRefNotFound, "a b": ErrRefNotFound, "main..v1": ErrRefNotFound,
		strings.Repeat("1", 40): ErrRefNotFound, "^main": ErrRefNotFound, ":/nothing such": ErrRefNotFound,
	} {
		got, err := r.Resolve(t.Context(), ref)
		wantErr(t, err, want)
		if got != "" {
			t.Errorf("%q is %s", ref, got)
		}
	}
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, r *Repo)
		want    string
	}{
		"main when nothing else is said": {func(h *home, r *Repo) { h.sh(r.Root, "checkout", "-q", "-b", "work") }, "main"},
		"what origin/HEAD names": {func(h *home, r *Repo) {
			h.sh(r.Root, "branch", "trunk")
			h.sh(r.Root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
		}, "trunk"},
		"not what origin/HEAD names when it is not here": {func(h *home, r *Repo) {
			h.sh(r.Root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
		}, "main"},
		"what init.defaultBranch names": {func(h *home, r *Repo) {
			h.sh(r.Root, "branch", "dev")
			h.sh(r.Root, "config", "init.defaultBranch", "dev")
		}, "dev"},
		"master when there is no main":          {func(h *home, r *Repo) { h.sh(r.Root, "branch", "-m", "master") }, "master"},
		"the current one when there is neither": {func(h *home, r *Repo) { h.sh(r.Root, "branch", "-m", "work") }, "work"},
		"a detached HEAD when there is none": {func(h *home, r *Repo) {
			h.sh(r.Root, "checkout", "-q", "--detach")
			h.sh(r.Root, "branch", "-D", "main")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			c.prepare(h, r)
			b, err := r.DefaultBranch(t.Context())
			if err != nil || b.Name != c.want || b.OID != h.oid(r.Root, "HEAD") {
				t.Errorf("%+v %v", b, err)
			}
		})
	}
}

func TestRefsAreComparedAndSwapped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	first := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "second")
	second := h.oid(r.Root, "HEAD")
	ctx := t.Context()
	const pin = "refs/termic/t1/base"
	wantErr(t, r.SetRef(ctx, pin, first, second), ErrRefMoved)
	wantErr(t, r.SetRef(ctx, pin, first, ""), nil)
	wantErr(t, r.SetRef(ctx, pin, second, ""), ErrRefMoved)
	wantErr(t, r.SetRef(ctx, pin, second, second), ErrRefMoved)
	wantErr(t, r.SetRef(ctx, pin, second, first), nil)
	wantErr(t, r.DeleteRef(ctx, pin, first), ErrRefMoved)
	wantErr(t, r.DeleteRef(ctx, pin, ""), ErrRefMoved)
	wantErr(t, r.SetRef(ctx, pin+"/x", second, ""), ErrBranchConflict)
	wantErr(t, r.DeleteRef(ctx, pin, second), nil)
	wantErr(t, r.DeleteRef(ctx, pin, second), ErrRefMoved)
	for _, bad := range []string{"HEAD", "termic/x", "refs/../x", "refs/a..b", "-d", "refs/a\nb"} {
		wantErr(t, r.SetRef(ctx, bad, first, ""), ErrBadRef)
	}

	h.sh(r.Root, "branch", "b", string(first))
	wantErr(t, r.DeleteBranch(ctx, "b", second), ErrRefMoved)
	wantErr(t, r.DeleteBranch(ctx, "main", second), ErrBranchInUse)
	dir := h.worktree(r, "task")
	wantErr(t, r.DeleteBranch(ctx, "task", second), ErrBranchInUse)
	wantErr(t, r.RenameBranch(ctx, "task", "b"), ErrBranchExists)
	wantErr(t, r.RenameBranch(ctx, "task", "B"), ErrBranchConflict)
	wantErr(t, r.RenameBranch(ctx, "task", "b/c"), ErrBranchConflict)
	wantErr(t, r.RenameBranch(ctx, "task", "-f"), ErrBadRef)
	wantErr(t, r.RenameBranch(ctx, "none", "some"), ErrRefNotFound)
	wantErr(t, r.RenameBranch(ctx, "task", "renamed"), nil)
	if s, err := r.Status(ctx, dir); err != nil || s.Branch != "renamed" || s.Head != second {
		t.Errorf("%+v %v", s, err)
	}
	wantErr(t, r.RemoveWorktree(ctx, dir), nil)
	wantErr(t, r.DeleteBranch(ctx, "renamed", second), nil)
	wantErr(t, r.DeleteBranch(ctx, "b", first), nil)
	for name, want := range map[string]bool{"main": true, "b": false, "renamed": false} {
		if got, err := r.BranchExists(ctx, name); err != nil || got != want {
			t.Errorf("branch %s exists: %v %v", name, got, err)
		}
	}
	_, err := r.BranchExists(ctx, "a..b")
	wantErr(t, err, ErrBadRef)
}
