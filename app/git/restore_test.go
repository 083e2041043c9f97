package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// dirty gives a worktree work of every sort.
func (h *home) dirty(dir string) {
	h.t.Helper()
	h.write(dir+"/a.txt", "staged\n")
	h.sh(dir, "add", "a.txt")
	h.write(dir+"/a.txt", "changed\n")
	h.write(dir+"/new/file.txt", "untracked\n")
}

func TestNothingIsLeftOfARestoreThatFailedAtAnyStep(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hung"} { // with "fail" AddWorktree is tried, which undoes in the same way
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			h.worktree(r, "other")
			dir := h.worktree(r, "task")
			h.dirty(dir)
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store"), Branches: []string{"task"}})
			if err != nil {
				t.Fatal(err)
			}
			want := h.facts(dir)
			if err := r.RemoveArchived(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			h.sh(r.Root, "branch", "-D", "task")
			s := newStepper(h)
			before := snapshot(t, h.dir)
			to := h.path("restored", "tree")
			s.each(mode, func(ctx context.Context) error {
				return r.with(s.git).Restore(ctx, RestoreOptions{Archived: a, Dir: to})
			}, func(step int, err error) {
				if err == nil {
					t.Error("no error")
				}
				after := snapshot(t, h.dir)
				for k := range after { // loose objects without a name: git collects them
					if strings.HasPrefix(k, "p/.git/objects/") && before[k] == "" {
						delete(after, k)
					}
				}
				same(t, fmt.Sprint("step ", step), before, after)
			})
			same(t, "restored", want, h.facts(to))
		})
	}
}

func TestAnArchiveThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"fail"} { // half an archive is of no effect, however it ended
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			h.dirty(dir)
			s := newStepper(h)
			before := snapshot(t, dir)
			var a Archived
			s.each(mode, func(ctx context.Context) (err error) {
				a, err = r.with(s.git).Archive(ctx, ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
				return err
			}, func(step int, err error) {
				// A file that vanishes makes git fail, so that is tried again.
				if err == nil && mode == "hung" || (err == nil) != (a.Worktree != "") {
					t.Errorf("step %d: %+v %v", step, a, err)
				}
				same(t, fmt.Sprint("step ", step), before, snapshot(t, dir))
				if left, _ := filepath.Glob(h.path("store", "scratch", "*")); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
			})
			wantErr(t, r.RemoveArchived(t.Context(), a), nil)
		})
	}
}

func TestRestorePlacesTheBranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, r *Repo, o *RestoreOptions)
		branch  string
		want    error
	}{
		"the branch is where it was": {func(h *home, r *Repo, o *RestoreOptions) {}, "task", nil},
		"the branch is gone":         {func(h *home, r *Repo, o *RestoreOptions) { h.sh(r.Root, "branch", "-D", "task") }, "task", nil},
		"the branch moved": {func(h *home, r *Repo, o *RestoreOptions) {
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "x")
			h.sh(r.Root, "branch", "-f", "task", "main")
		}, "", ErrRefMoved},
		"the branch moved, and another is named": {func(h *home, r *Repo, o *RestoreOptions) {
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "x")
			h.sh(r.Root, "branch", "-f", "task", "main")
			o.Branch = "again"
		}, "again", nil},
		"the branch is checked out elsewhere": {func(h *home, r *Repo, o *RestoreOptions) { h.sh(r.Root, "checkout", "-q", "task") }, "", ErrBranchInUse},
		"the named branch exists":             {func(h *home, r *Repo, o *RestoreOptions) { o.Branch = "main" }, "", ErrBranchExists},
		"the named branch is none":            {func(h *home, r *Repo, o *RestoreOptions) { o.Branch = "-x" }, "", ErrBadRef},
		"a branch in the way": {func(h *home, r *Repo, o *RestoreOptions) {
			h.sh(r.Root, "branch", "-D", "task")
			h.sh(r.Root, "branch", "task/sub")
		}, "", ErrBranchConflict},
		"the directory exists":             {func(h *home, r *Repo, o *RestoreOptions) { h.write(o.Dir+"/mine", "x") }, "", ErrDirExists},
		"the store is gone":                {func(h *home, r *Repo, o *RestoreOptions) { os.RemoveAll(o.Archived.Store) }, "", errAny},
		"the store is another":             {func(h *home, r *Repo, o *RestoreOptions) { o.Archived.Store = r.Root }, "", errAny},
		"the record is of a later version": {func(h *home, r *Repo, o *RestoreOptions) { o.Archived.Version = 2 }, "", ErrUnsupported},
		"the record is empty":              {func(h *home, r *Repo, o *RestoreOptions) { o.Archived = Archived{} }, "", errAny},
		"the record is damaged":            {func(h *home, r *Repo, o *RestoreOptions) { o.Archived.Worktree = "--help" }, "", errAny},
		"the record has another tree":      {func(h *home, r *Repo, o *RestoreOptions) { o.Archived.WorktreeTree = h.oid(r.Root, "HEAD^{tree}") }, "", errAny},
		"an object of the archive is gone": {func(h *home, r *Repo, o *RestoreOptions) {
			packs, _ := filepath.Glob(o.Archived.Store + "/objects/pack/*")
			for _, p := range packs {
				os.Remove(p)
			}
		}, "", errAny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p")
			dir := h.worktree(r, "task")
			h.dirty(dir)
			head := h.oid(dir, "HEAD")
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.RemoveWorktree(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			o := RestoreOptions{Archived: a, Dir: h.path("restored")}
			c.prepare(h, r, &o)
			before := snapshot(t, r.Root)
			err = r.Restore(t.Context(), o)
			if c.want == errAny {
				if err == nil {
					t.Error("no error")
				}
			} else {
				wantErr(t, err, c.want)
			}
			if err != nil {
				same(t, "project", before, snapshot(t, r.Root))
				return
			}
			if s, err := r.Status(t.Context(), o.Dir); err != nil || s.Branch != c.branch || s.Head != head || s.Staged != 1 || s.Unstaged != 1 || s.Untracked != 1 {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
}

// Kinds of repositories, each through the whole way: archive, remove, collect
// garbage, restore.
func TestEveryKindOfRepositoryIsArchived(t *testing.T) {
	t.Parallel()
	clone := func(h *home, options ...string) *Repo {
		r := h.repo("upstream", "a.txt", "b.txt")
		for range 3 {
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "more")
		}
		h.sh(r.Root, "config", "uploadpack.allowFilter", "true")
		h.sh(h.dir, append(append([]string{"clone", "-q"}, options...), "file://"+r.Root, h.path("p"))...)
		return h.open(h.path("p"))
	}
	for name, make := range map[string]func(h *home) *Repo{
		"SHA-256": func(h *home) *Repo {
			h.sh(h.dir, "init", "-q", "--object-format=sha256", h.path("p"))
			h.write("p/a.txt", "one\n")
			h.sh(h.path("p"), "add", "-A")
			h.sh(h.path("p"), "commit", "-qm", "x")
			return h.open(h.path("p"))
		},
		"partial":                           func(h *home) *Repo { return clone(h, "--filter=blob:none", "--no-checkout") },
		"shallow":                           func(h *home) *Repo { return clone(h, "--depth=1") },
		"shared with another by alternates": func(h *home) *Repo { return clone(h, "--shared") },
		"a submodule": func(h *home) *Repo {
			h.repo("lib")
			r := h.repo("super")
			h.sh(r.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
			return h.open(r.Root + "/lib")
		},
		"with an uninitialised submodule": func(h *home) *Repo {
			h.repo("lib")
			r := h.repo("super")
			h.sh(r.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", h.path("lib"), "lib")
			h.sh(r.Root, "commit", "-qm", "lib")
			return r
		},
		"reached through a link": func(h *home) *Repo {
			h.repo("real")
			os.Symlink(h.path("real"), h.path("p"))
			return h.open(h.path("p"))
		},
		"with a name that must be quoted": func(h *home) *Repo { return h.repo(`it's: "ä" #1;\x`) },
		"with a sparse checkout": func(h *home) *Repo {
			r := h.repo("p", "a.txt", "in/b.txt", "out/c.txt")
			h.sh(r.Root, "sparse-checkout", "set", "in")
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := make(h)
			dir := h.worktree(r, "task")
			h.dirty(dir)
			want := h.facts(dir)
			to, _ := h.roundTripQuick(r, dir)
			same(t, name, want, h.facts(to))
		})
	}
}

// A partial clone fetches at the checkout, and never while its files are read.
func TestAPartialClone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	up := h.repo("upstream", "a.txt", "b.txt")
	for _, text := range []string{"first", "second"} {
		h.write(up.Root+"/a.txt", text+"\n")
		h.sh(up.Root, "commit", "-qam", text)
	}
	h.sh(up.Root, "config", "uploadpack.allowFilter", "true")
	h.sh(h.dir, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+up.Root, h.path("p"))
	r := h.open(h.path("p"))
	dir := h.worktree(r, "task")
	if b, err := os.ReadFile(dir + "/a.txt"); string(b) != "second\n" {
		t.Fatalf("%q %v", b, err)
	}
	h.write(dir+"/b.txt", "changed\n")
	d, err := r.Diff(t.Context(), dir, h.oid(r.Root, "HEAD"), DiffOptions{})
	if err != nil || len(d.Files) != 1 || !strings.Contains(d.Patch, "+changed") || d.Truncated {
		t.Errorf("%+v %v", d, err)
	}
	d, err = r.Diff(t.Context(), dir, h.oid(r.Root, "HEAD~1"), DiffOptions{}) // whose a.txt was never fetched
	if err != nil || len(d.Files) != 2 || d.Files[0].Path != "a.txt" || d.Files[1].Path != "b.txt" || !d.Truncated {
		t.Errorf("%+v %v", d, err)
	}
	if out, err := h.try(r.Root, "rev-list", "--objects", "--all", "--missing=print"); err != nil || !strings.Contains(out, "\n?") {
		t.Errorf("the missing blob was fetched: %s %v", out, err)
	}
}

// What a filter or the line-ending settings make of an unchanged file is made
// again at the restore; a changed file comes back as the bytes that it had.
func TestFilesThatAreConvertedComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p", "same.txt", "changed.txt", "touched.txt", "lf.txt", "same.rot", "changed.rot")
	h.program(h.path("rot.sh"), "#!/bin/sh\nexec tr a-z n-za-m\n")
	h.sh(r.Root, "config", "filter.rot.clean", h.path("rot.sh"))
	h.sh(r.Root, "config", "filter.rot.smudge", h.path("rot.sh"))
	h.sh(r.Root, "config", "core.autocrlf", "true")
	h.write(r.Root+"/.gitattributes", "*.rot filter=rot -text\n*.txt ident\n")
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-qm", "attributes")
	dir := h.worktree(r, "task")
	if b, _ := os.ReadFile(dir + "/same.txt"); string(b) != "one\r\ntwo\r\nthree\r\n" {
		t.Fatalf("not converted: %q", b)
	}
	h.write(dir+"/changed.txt", "mixed\r\nendings\n$Id$\n")
	h.write(dir+"/touched.txt", "one\r\ntwo\r\nthree\r\n")
	h.write(dir+"/lf.txt", "one\ntwo\nthree\n")
	h.write(dir+"/changed.rot", "clear text\n")
	h.write(dir+"/new.rot", "new clear text\r\n")
	want := snapshot(t, dir)
	delete(want, ".git")
	to, _ := h.roundTrip(r, dir, ArchiveOptions{Branches: []string{"task"}})
	got := snapshot(t, to)
	delete(got, ".git")
	same(t, "files", want, got)
	if s := h.sh(to, "status", "--porcelain", "same.txt", "same.rot"); s != "" {
		t.Errorf("unchanged files show as changed: %s", s)
	}
}

func TestManyArchivesShareAStore(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	const n = 3
	dirs := make([]string, n)
	for i := range n {
		dirs[i] = h.worktree(r, fmt.Sprint("t", i))
		h.write(dirs[i]+"/new.txt", fmt.Sprint("work ", i))
	}
	var wg sync.WaitGroup
	archived := make([]Archived, n)
	for i := range n {
		wg.Go(func() {
			a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dirs[i], ID: fmt.Sprint("t", i), Store: h.path("data", "store")})
			if err == nil {
				err = r.RemoveArchived(t.Context(), a)
			}
			if err != nil {
				t.Error(err)
			}
			archived[i] = a
		})
	}
	wg.Wait()
	for i := range n {
		wg.Go(func() {
			if err := r.Restore(t.Context(), RestoreOptions{Archived: archived[i], Dir: dirs[i]}); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(dirs[i] + "/new.txt"); string(b) != fmt.Sprint("work ", i) {
				t.Errorf("%q %v", b, err)
			}
		})
	}
	wg.Wait()
}

func TestAStoreIsSweptOfWhatACrashLeft(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	h.write("store/scratch/x", "so that there is no store yet")
	_, err := r.openStore(t.Context(), h.path("store"))
	if err == nil {
		t.Error("a directory that is no store was opened")
	}
	st, err := r.openStore(t.Context(), h.path("data", "store"))
	if err != nil {
		t.Fatal(err)
	}
	h.write(filepath.Join(st.temp(), "old", "objects", "x"), "x")
	wantErr(t, st.sweep(time.Now().Add(staleAfter/2)), nil)
	if !exists(filepath.Join(st.temp(), "old")) {
		t.Error("a young one was swept")
	}
	wantErr(t, st.sweep(time.Now().Add(2*staleAfter)), nil)
	if exists(filepath.Join(st.temp(), "old")) {
		t.Error("an old one was left")
	}
}

func TestTheSameTaskIsArchivedAgainAndAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	var all []Archived
	for i := range 3 {
		h.write(dir+"/new.txt", fmt.Sprint("version ", i/2)) // the second changes nothing
		a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.RemoveArchived(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: dir}); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	for i, a := range all { // the older ones are still whole
		to := h.path("old", fmt.Sprint(i))
		if err := r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: to, Branch: fmt.Sprint("old", i)}); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(to + "/new.txt"); string(b) != fmt.Sprint("version ", i/2) {
			t.Errorf("archive %d has %q", i, b)
		}
	}
}

func TestAMovedProjectStillRestores(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.dirty(dir)
	want := h.facts(dir)
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.RemoveArchived(t.Context(), a), nil)
	if err := os.Rename(r.Root, h.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	r = h.open(h.path("elsewhere"))
	wantErr(t, r.Restore(t.Context(), RestoreOptions{Archived: a, Dir: h.path("restored")}), nil)
	same(t, "restored", want, h.facts(h.path("restored")))
}
