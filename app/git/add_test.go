package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A1 of the public bug reports: eight tasks from origin/main at once, where
// plain `worktree add` would write tracking configuration.
func TestManyWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.repo("upstream")
	h.sh(h.dir, "clone", "-q", h.path("upstream"), h.path("p"))
	r := h.open(h.path("p"))
	h.sh(r.Root, "config", "branch.autoSetupMerge", "always")
	base, err := r.Resolve(t.Context(), "origin/main")
	if err != nil {
		t.Fatal(err)
	}
	config := h.sh(r.Root, "config", "--local", "--list")
	const n = 12
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			other, err := h.git.Open(t.Context(), r.Root) // another value, the same repository
			if err == nil {
				err = other.AddWorktree(t.Context(), AddOptions{Dir: h.path("tasks", fmt.Sprint(i), "tree"), Branch: fmt.Sprintf("termic/t%d", i), Base: base})
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("worktree %d: %v", i, err)
		}
	}
	list, err := r.Worktrees(t.Context())
	if err != nil || len(list) != n+1 {
		t.Errorf("%d worktrees, %v", len(list)-1, err)
	}
	for _, w := range list[1:] {
		if !w.Locked || w.Head != base || w.Branch == "" {
			t.Errorf("%+v", w)
		}
		if s, err := r.Status(t.Context(), w.Dir); err != nil || !s.Clean() {
			t.Errorf("%s: %+v %v", w.Dir, s, err)
		}
	}
	if got := h.sh(r.Root, "for-each-ref", "--format=x", "refs/heads/termic"); len(strings.Fields(got)) != n {
		t.Errorf("branches: %q", got)
	}
	if now := h.sh(r.Root, "config", "--local", "--list"); now != config {
		t.Errorf("configuration changed:\n%s", now)
	}
	for _, w := range list[1:] {
		wg.Go(func() {
			if err := r.RemoveWorktree(t.Context(), w.Dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := r.Worktrees(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("after removal: %v %v", list, err)
	}
}

func TestTheSameNameAtOnceIsTakenByOne(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	base := h.oid(r.Root, "HEAD")
	const n = 6
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range n {
		wg.Go(func() {
			err := r.AddWorktree(t.Context(), AddOptions{Dir: h.path("tasks", strconv.Itoa(i%2)), Branch: "same", Base: base})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, ErrBranchExists) && !errors.Is(err, ErrDirExists):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := r.Worktrees(t.Context()); won != 1 || err != nil || len(list) != 2 {
		t.Errorf("%d won: %+v %v", won, list, err)
	}
}

func TestAddWorktreeRefuses(t *testing.T) {
	t.Parallel()
	type change func(h *home, r *Repo, o *AddOptions)
	for name, c := range map[string]struct {
		change change
		want   error
	}{
		"nothing when all is well":      {func(h *home, r *Repo, o *AddOptions) {}, nil},
		"a branch that exists":          {func(h *home, r *Repo, o *AddOptions) { h.sh(r.Root, "branch", "new") }, ErrBranchExists},
		"a branch below another":        {func(h *home, r *Repo, o *AddOptions) { h.sh(r.Root, "branch", "new"); o.Branch = "new/b" }, ErrBranchConflict},
		"a branch above another":        {func(h *home, r *Repo, o *AddOptions) { h.sh(r.Root, "branch", "new/b") }, ErrBranchConflict},
		"a branch that differs in case": {func(h *home, r *Repo, o *AddOptions) { h.sh(r.Root, "branch", "NEW") }, ErrBranchConflict},
		"a branch above in another case": {func(h *home, r *Repo, o *AddOptions) {
			h.sh(r.Root, "branch", "NEW/b")
		}, ErrBranchConflict},
		"a branch in another Unicode form": {func(h *home, r *Repo, o *AddOptions) {
			h.sh(r.Root, "branch", "caf\u00e9")
			o.Branch = "cafe\u0301"
		}, ErrBranchConflict},
		"a branch with a packed conflict": {func(h *home, r *Repo, o *AddOptions) {
			h.sh(r.Root, "branch", "new/b")
			h.sh(r.Root, "pack-refs", "--all")
		}, ErrBranchConflict},
		"a tag of the same name is no conflict": {func(h *home, r *Repo, o *AddOptions) {
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "elsewhere")
			h.sh(r.Root, "tag", "new")
		}, nil},
		"a directory that exists": {func(h *home, r *Repo, o *AddOptions) { h.write(o.Dir+"/mine", "x") }, ErrDirExists},
		"an empty directory":      {func(h *home, r *Repo, o *AddOptions) { os.MkdirAll(o.Dir, 0o755) }, ErrDirExists},
		"a file":                  {func(h *home, r *Repo, o *AddOptions) { h.write(o.Dir, "x") }, ErrDirExists},
		"a dangling link": {func(h *home, r *Repo, o *AddOptions) {
			os.MkdirAll(filepath.Dir(o.Dir), 0o755)
			os.Symlink("nowhere", o.Dir)
		}, ErrDirExists},
		"a file where a parent must be": {func(h *home, r *Repo, o *AddOptions) { h.write(filepath.Dir(o.Dir), "x") }, syscall.ENOTDIR},
		"a relative directory":          {func(h *home, r *Repo, o *AddOptions) { o.Dir = "x/y" }, ErrBadPath},
		"a directory with a newline":    {func(h *home, r *Repo, o *AddOptions) { o.Dir += "\nx" }, ErrBadPath},
		"a directory that is not UTF-8": {func(h *home, r *Repo, o *AddOptions) { o.Dir += "\xff" }, ErrBadPath},
		"a directory in the git directory": {func(h *home, r *Repo, o *AddOptions) {
			o.Dir = filepath.Join(r.CommonDir, "sub", "x")
		}, ErrBadPath},
		"a directory with spaces, quotes, colons, Unicode": {func(h *home, r *Repo, o *AddOptions) {
			o.Dir = h.path(`tasks ä`, `"it's": #1; \ $x`, "-dash", "tree")
		}, nil},
		"a base that is no commit":   {func(h *home, r *Repo, o *AddOptions) { o.Base = h.oid(r.Root, "HEAD^{tree}") }, ErrRefNotFound},
		"a base that is missing":     {func(h *home, r *Repo, o *AddOptions) { o.Base = OID(strings.Repeat("1", 40)) }, ErrRefNotFound},
		"a base that is a name":      {func(h *home, r *Repo, o *AddOptions) { o.Base = "main" }, ErrBadRef},
		"no base":                    {func(h *home, r *Repo, o *AddOptions) { o.Base = "" }, ErrBadRef},
		"an option for a branch":     {func(h *home, r *Repo, o *AddOptions) { o.Branch = "--detach" }, ErrBadRef},
		"a branch with ..":           {func(h *home, r *Repo, o *AddOptions) { o.Branch = "a..b" }, ErrBadRef},
		"a branch with a caret":      {func(h *home, r *Repo, o *AddOptions) { o.Branch = "a^" }, ErrBadRef},
		"a branch with a colon":      {func(h *home, r *Repo, o *AddOptions) { o.Branch = "a:b" }, ErrBadRef},
		"a branch with a newline":    {func(h *home, r *Repo, o *AddOptions) { o.Branch = "a\nb" }, ErrBadRef},
		"a branch called HEAD":       {func(h *home, r *Repo, o *AddOptions) { o.Branch = "HEAD" }, ErrBadRef},
		"an earlier branch by @{-1}": {func(h *home, r *Repo, o *AddOptions) { o.Branch = "@{-1}" }, ErrBadRef},
		"no branch":                  {func(h *home, r *Repo, o *AddOptions) { o.Branch = "" }, ErrBadRef},
		"a very long branch":         {func(h *home, r *Repo, o *AddOptions) { o.Branch = strings.Repeat("x", 300) }, ErrBadRef},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			o := AddOptions{Dir: h.path("tasks", "new"), Branch: "new", Base: h.oid(r.Root, "HEAD"), Reason: "task \"new\""}
			c.change(h, r, &o)
			before := snapshot(t, h.dir)
			err := r.AddWorktree(t.Context(), o)
			if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err != nil {
				same(t, "refused", before, snapshot(t, h.dir))
				return
			}
			list, err := r.Worktrees(t.Context())
			if err != nil || len(list) != 2 {
				t.Fatalf("%+v %v", list, err)
			}
			if w := list[1]; w.Dir != o.Dir || w.Branch != o.Branch || w.Head != o.Base || !w.Locked || w.Reason != o.Reason {
				t.Errorf("%+v", w)
			}
			info, err := os.Stat(o.Dir)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("mode %v %v", info.Mode(), err)
			}
			wantErr(t, r.RemoveWorktree(t.Context(), o.Dir), nil)
		})
	}
}

// stepper is a fake git that does something else at its n-th call.
type stepper struct {
	h    *home
	dir  string
	fifo string
	git  *Git
}

// newStepper makes one. Modes: "fail" refuses instead of running, "late" runs and
// then refuses, "hang" hangs before and "hung" after running, telling the test.
func newStepper(h *home) *stepper {
	h.t.Helper()
	s := &stepper{h: h, dir: h.t.TempDir()}
	s.fifo = filepath.Join(s.dir, "fifo")
	if err := syscall.Mkfifo(s.fifo, 0o600); err != nil {
		h.t.Fatal(err)
	}
	s.set(0, "none")
	s.git = h.fakeGit(`D='` + s.dir + `'
read n < "$D/n"; n=$((n+1)); echo $n > "$D/n"
read at mode < "$D/at"
if [ $n -eq $at ]; then
	case $mode in
	fail) echo 'fatal: made to fail' >&2; exit 128;;
	late) "$GIT" "$@" >/dev/null; echo 'fatal: made to fail' >&2; exit 128;;
	hang) echo > "$D/fifo"; sleep 1000;;
	hung) "$GIT" "$@" >/dev/null; echo > "$D/fifo"; sleep 1000;;
	esac
fi
exec "$GIT" "$@"`)
	return s
}

func (s *stepper) set(at int, mode string) {
	s.h.t.Helper()
	for name, text := range map[string]string{"n": "0\n", "at": fmt.Sprintf("%d %s\n", at, mode)} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.h.t.Fatal(err)
		}
	}
}

// calls returns how many calls there were since set.
func (s *stepper) calls() int {
	s.h.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "n"))
	if err != nil {
		s.h.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.h.t.Fatal(err)
	}
	return n
}

// each runs f once for every call that it makes, with that call disturbed in the
// given mode, and then check. For the hanging modes f's context is cancelled.
func (s *stepper) each(mode string, f func(ctx context.Context) error, check func(step int, err error)) {
	s.h.t.Helper()
	for at := 1; ; at++ {
		s.set(at, mode)
		ctx, cancel := context.WithCancel(s.h.t.Context())
		done := make(chan error, 1)
		go func() { done <- f(ctx) }()
		if strings.HasPrefix(mode, "h") {
			told := make(chan struct{})
			go func() {
				defer close(told)
				if fd, err := os.OpenFile(s.fifo, os.O_RDONLY, 0); err == nil {
					buf := make([]byte, 1)
					fd.Read(buf)
					fd.Close()
				}
			}()
			select {
			case <-told:
				cancel()
			case err := <-done: // no such call any more
				done <- err
				if fd, err := os.OpenFile(s.fifo, os.O_WRONLY, 0); err == nil {
					fd.Close() // release the reader
				}
			}
		}
		err := <-done
		cancel()
		if s.calls() < at {
			if err != nil {
				s.h.t.Errorf("undisturbed: %v", err)
			}
			return
		}
		check(at, err)
		if s.h.t.Failed() {
			s.h.t.Fatalf("at call %d, mode %s", at, mode)
		}
	}
}

func TestNothingIsLeftOfAWorktreeThatFailedAtAnyStep(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"fail", "late", "hang", "hung"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			h.worktree(r, "other") // so that directories of git exist and stay
			s := newStepper(h)
			base := h.oid(r.Root, "HEAD")
			before := snapshot(t, h.dir)
			steps := 0
			o := AddOptions{Dir: h.path("deep", "er", "tree"), Branch: "x/y", Base: base}
			s.each(mode, func(ctx context.Context) error { return r.with(s.git).AddWorktree(ctx, o) }, func(step int, err error) {
				steps = step
				if err == nil {
					t.Error("no error")
				}
				if strings.HasPrefix(mode, "h") && !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want the cancellation", err)
				}
				same(t, fmt.Sprint("step ", step), before, snapshot(t, h.dir))
			})
			if steps < 6 {
				t.Errorf("only %d steps", steps)
			}
			if st, err := r.Status(t.Context(), o.Dir); err != nil || !st.Clean() || st.Head != base || st.Branch != "x/y" {
				t.Errorf("%+v %v", st, err)
			}
		})
	}
}

func TestAnOutsideLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	lock := filepath.Join(r.CommonDir, "refs", "heads", "new.lock")
	h.write(lock, "")
	tried := filepath.Join(h.t.TempDir(), "tried")
	if err := syscall.Mkfifo(tried, 0o600); err != nil {
		t.Fatal(err)
	}
	// The first refusal tells the test, which then lets the lock go.
	g := h.fakeGit(`case "$*" in *update-ref*refs/heads/new*)
	"$GIT" "$@"; code=$?
	if [ -p '` + tried + `' ]; then echo > '` + tried + `'; fi
	exit $code;;
esac
exec "$GIT" "$@"`)
	go func() {
		fd, err := os.OpenFile(tried, os.O_RDONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		buf := make([]byte, 1)
		fd.Read(buf)
		os.Remove(tried)
		os.Remove(lock)
		fd.Close()
	}()
	err := r.with(g).AddWorktree(t.Context(), AddOptions{Dir: h.path("tasks", "new"), Branch: "new", Base: h.oid(r.Root, "HEAD")})
	wantErr(t, err, nil)
	if exists(lock) {
		t.Error("the lock was never met")
	}
}

func TestALostGitFileNeverMeansTheParent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := filepath.Join(r.Root, "inside")
	base := h.oid(r.Root, "HEAD")
	if err := r.AddWorktree(t.Context(), AddOptions{Dir: dir, Branch: "in", Base: base}); err != nil {
		t.Fatal(err)
	}
	h.write(r.Root+"/a.txt", "the person's work\n")
	os.Remove(dir + "/.git")
	_, err := r.Status(t.Context(), dir)
	wantErr(t, err, ErrNotWorktree)
	_, err = r.Diff(t.Context(), dir, base, DiffOptions{})
	wantErr(t, err, ErrNotWorktree)
	_, err = r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t", Store: h.path("store")})
	wantErr(t, err, ErrNotWorktree)
	before := snapshot(t, r.Root)
	wantErr(t, r.RemoveWorktree(t.Context(), dir), ErrMainWorktree)
	same(t, "project", before, snapshot(t, r.Root))
}
