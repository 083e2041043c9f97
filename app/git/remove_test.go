package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A2 of the public bug reports, and its whole kind: what is no linked worktree of
// this repository is never removed, however it is named.
func TestOnlyLinkedWorktreesAreRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir  func(h *home, r *Repo) string
		want error
	}{
		"the project":                {func(h *home, r *Repo) string { return r.Root }, ErrMainWorktree},
		"the project, with dots":     {func(h *home, r *Repo) string { return r.Root + "/../p/." }, ErrMainWorktree},
		"the project through a link": {func(h *home, r *Repo) string { os.Symlink(r.Root, h.path("l")); return h.path("l") }, ErrMainWorktree},
		"the parent through a link": {func(h *home, r *Repo) string {
			os.Symlink(h.dir, h.path("l"))
			return h.path("l", "p")
		}, ErrMainWorktree},
		"its .git":                         {func(h *home, r *Repo) string { return r.CommonDir }, ErrMainWorktree},
		"a directory in the project":       {func(h *home, r *Repo) string { return r.Root + "/dir" }, ErrMainWorktree},
		"a directory around it":            {func(h *home, r *Repo) string { return h.dir }, ErrMainWorktree},
		"a directory in a worktree":        {func(h *home, r *Repo) string { return h.worktree(r, "w") + "/dir" }, ErrMainWorktree},
		"any other directory":              {func(h *home, r *Repo) string { h.write("other/x", "x"); return h.path("other") }, ErrMainWorktree},
		"another repository":               {func(h *home, r *Repo) string { return h.repo("q").Root }, ErrMainWorktree},
		"a worktree of another repository": {func(h *home, r *Repo) string { return h.worktree(h.repo("q"), "w") }, ErrMainWorktree},
		"a link to a worktree": {func(h *home, r *Repo) string {
			os.Symlink(h.worktree(r, "w"), h.path("l"))
			return h.path("l")
		}, ErrMainWorktree},
		"a worktree whose .git became a repository": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			os.Remove(dir + "/.git")
			h.sh(dir, "init", "-q")
			return dir
		}, ErrMainWorktree},
		"a worktree whose .git names another one": {func(h *home, r *Repo) string {
			dir, other := h.worktree(r, "w"), h.worktree(r, "other")
			b, _ := os.ReadFile(other + "/.git")
			h.write(dir+"/.git", string(b))
			return dir
		}, ErrMainWorktree},
		"a copy of a worktree": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			b, _ := os.ReadFile(dir + "/.git")
			h.write("copy/.git", string(b))
			return h.path("copy")
		}, ErrMainWorktree},
		"a worktree that became a link": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			os.Rename(dir, h.path("away"))
			os.Symlink(r.Root, dir)
			return dir
		}, ErrMainWorktree},
		"a worktree with another one in it": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			h.sh(r.Root, "worktree", "add", "-q", dir+"/inner", "-b", "inner")
			return dir
		}, ErrNestedRepository},
		"a worktree around the project": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			moved := filepath.Join(dir, "p")
			os.Rename(r.Root, moved)
			*r = *h.open(moved)
			h.sh(moved, "worktree", "repair", dir)
			return dir
		}, ErrNestedRepository},
		"a worktree of another repository where ours was": {func(h *home, r *Repo) string {
			dir := h.worktree(r, "w")
			os.RemoveAll(dir)
			h.sh(h.repo("q").Root, "worktree", "add", "-q", dir, "-b", "w")
			return dir
		}, ErrMainWorktree},
		"a relative path": {func(h *home, r *Repo) string { return "p" }, ErrBadPath},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", "a.txt", "dir/b.txt")
			dir := c.dir(h, r)
			before := snapshot(t, h.dir)
			err := r.RemoveWorktree(t.Context(), dir)
			wantErr(t, err, c.want)
			same(t, "everything", before, snapshot(t, h.dir))
		})
	}
}

func TestALinkedWorktreeIsRemoved(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(h *home, r *Repo, dir string) string{
		"as it is":   func(h *home, r *Repo, dir string) string { return dir },
		"when dirty": func(h *home, r *Repo, dir string) string { h.write(dir+"/new", "x"); return dir },
		"with a submodule": func(h *home, r *Repo, dir string) string {
			h.repo("lib")
			h.sh(dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
			return dir
		},
		"through a link above it": func(h *home, r *Repo, dir string) string {
			os.Symlink(h.path("tasks"), h.path("l"))
			return h.path("l", "task")
		},
		"when its directory is gone":       func(h *home, r *Repo, dir string) string { os.RemoveAll(dir); return dir },
		"when the directory above is gone": func(h *home, r *Repo, dir string) string { os.RemoveAll(h.path("tasks")); return dir },
		"with closed directories in it": func(h *home, r *Repo, dir string) string {
			h.write(dir+"/cache/mod/file", "x")
			os.Chmod(dir+"/cache/mod", 0o500)
			os.Chmod(dir+"/cache", 0o500)
			return dir
		},
		"with a link to the project in it": func(h *home, r *Repo, dir string) string {
			os.Symlink(r.Root, dir+"/project")
			return dir
		},
		"with relative links to and fro": func(h *home, r *Repo, dir string) string {
			rel, _ := filepath.Rel(dir, filepath.Join(r.CommonDir, "worktrees", "task"))
			h.write(dir+"/.git", "gitdir: "+rel+"\n")
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			keep := h.worktree(r, "../kept/keep")
			before := snapshot(t, r.Root)
			dir := prepare(h, r, h.worktree(r, "task"))
			wantErr(t, r.RemoveWorktree(t.Context(), dir), nil)
			if exists(h.path("tasks", "task")) {
				t.Error("it is still there")
			}
			if left, _ := filepath.Glob(h.path("tasks", ".removed-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			h.sh(r.Root, "branch", "-D", "task")
			after := snapshot(t, r.Root)
			for k := range after { // what the plain git of this test made
				if strings.HasPrefix(k, ".git/objects/") || k == ".git/packed-refs" || k == ".git/config" && strings.Contains(name, "submodule") {
					delete(after, k)
					delete(before, k)
				}
			}
			same(t, "project", before, after)
			if s, err := r.Status(t.Context(), keep); err != nil || !s.Clean() {
				t.Errorf("the other worktree: %+v %v", s, err)
			}
			if err := r.RemoveWorktree(t.Context(), dir); !errors.Is(err, ErrMainWorktree) {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// Once begun a removal is finished or taken back, whatever fails and whoever goes away.
func TestARemovalIsWholeOrNot(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"fail", "late"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			h.write(dir+"/kept.txt", "work\n")
			before := snapshot(t, h.dir)
			s := newStepper(h)
			s.each(mode, func(context.Context) error {
				if !exists(dir) {
					return nil // the last step went through although git said no
				}
				return r.with(s.git).RemoveWorktree(t.Context(), dir)
			}, func(step int, err error) {
				if err != nil {
					same(t, "everything", before, snapshot(t, h.dir))
				} else if exists(dir) {
					t.Error("success, and it is still there")
				}
			})
			if list, err := r.Worktrees(t.Context()); err != nil || len(list) != 1 || exists(dir) {
				t.Errorf("%+v %v", list, err)
			}
		})
	}
}

func TestACallerThatGoesAwayDoesNotStopARemovalThatBegan(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	ctx, cancel := context.WithCancel(t.Context())
	// One FIFO a direction: a child that is being forked holds our end for a moment.
	reached, goOn := h.path("reached"), h.path("go-on")
	for _, f := range []string{reached, goOn} {
		if err := syscall.Mkfifo(f, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := h.fakeGit(`case "$*" in *worktree*remove*) echo > '` + reached + `'; read x < '` + goOn + `';; esac; exec "$GIT" "$@"`)
	go func() {
		if fd, err := os.OpenFile(reached, os.O_RDONLY, 0); err == nil {
			fd.Read(make([]byte, 1))
			fd.Close()
		}
		cancel()
		os.WriteFile(goOn, []byte("go on\n"), 0o600)
	}()
	wantErr(t, r.with(g).RemoveWorktree(ctx, dir), nil)
	if ctx.Err() == nil || exists(dir) {
		t.Errorf("context %v, still there: %v", ctx.Err(), exists(dir))
	}
}

func TestARemovalThatACrashInterruptedIsFinished(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir, other := h.worktree(r, "task"), h.worktree(r, "other")
	h.write(dir+"/left.txt", "work\n")
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
	if err != nil {
		t.Fatal(err)
	}
	left := movedPrefix(dir) + "X"
	if err := os.Rename(dir, left); err != nil {
		t.Fatal(err)
	}
	stranger := movedPrefix(dir) + "A" // which has the name, and is another checkout
	if err := os.Rename(other, stranger); err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.RemoveArchived(t.Context(), a), nil)
	list, err := r.Worktrees(t.Context())
	if err != nil || len(list) != 2 || exists(left) || exists(dir) || !exists(stranger+"/.git") {
		t.Errorf("%+v %v", list, err)
	}
}
