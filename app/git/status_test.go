package git

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	type m = map[string]string // path to code
	for name, c := range map[string]struct {
		prepare                                 func(h *home, dir string)
		files                                   m
		staged, unstaged, untracked, conflicted int
		operation                               string
		detached                                bool
	}{
		"clean":                {prepare: func(h *home, dir string) {}},
		"touched but the same": {prepare: func(h *home, dir string) { h.write(dir+"/a.txt", "one\ntwo\nthree\n") }},
		"every kind at once": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "staged\n")
				h.sh(dir, "add", "a.txt")
				h.write(dir+"/a.txt", "and more\n")
				os.Remove(dir + "/b.txt")
				h.sh(dir, "mv", "c.txt", "moved to.txt")
				h.write(dir+"/new/deep/ä b.txt", "x")
			},
			files: m{"a.txt": "MM", "b.txt": ".D", "moved to.txt": "R.", "new/deep/ä b.txt": "??"}, staged: 2, unstaged: 2, untracked: 1,
		},
		"names with line breaks, quotes, invalid UTF-8": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a\nb", "x")
				h.write(dir+"/\"q\"", "x")
				h.write(dir+"/\xff", "x")
				h.write(dir+"/ space ", "x")
			},
			files: m{"a\nb": "??", "\"q\"": "??", "\xff": "??", " space ": "??"}, untracked: 4,
		},
		"a change that assume-unchanged hides from plain git": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "update-index", "--assume-unchanged", "a.txt")
				h.write(dir+"/a.txt", "hidden\n")
			},
			files: m{"a.txt": ".M"}, unstaged: 1,
		},
		"a change that skip-worktree hides from plain git": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "update-index", "--skip-worktree", "a.txt")
				h.write(dir+"/a.txt", "hidden\n")
			},
			files: m{"a.txt": ".M"}, unstaged: 1,
		},
		"a sparse checkout": {prepare: func(h *home, dir string) { h.sh(dir, "sparse-checkout", "set", "nothing") }},
		"a sparse index":    {prepare: func(h *home, dir string) { h.sh(dir, "sparse-checkout", "set", "--cone", "--sparse-index", "nothing") }},
		"ignored by the repository, the person, and this clone": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/.gitignore", "*.o\n")
				h.write("home/.config/git/ignore", ".DS_Store\n")
				h.write(h.sh(dir, "rev-parse", "--path-format=absolute", "--git-common-dir")+"/info/exclude", "mine\n")
				for _, f := range []string{"x.o", ".DS_Store", "mine"} {
					h.write(dir+"/"+f, "x")
				}
			},
			files: m{".gitignore": "??"}, untracked: 1,
		},
		"ignored by a file that the configuration names": {
			prepare: func(h *home, dir string) {
				h.write("home/my ignores", "*.tmp\n")
				h.sh(dir, "config", "--global", "core.excludesFile", "~/my ignores")
				h.write(dir+"/x.tmp", "x")
			},
		},
		"line endings that the configuration converts": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "config", "core.autocrlf", "true")
				os.Remove(dir + "/a.txt")
				h.sh(dir, "checkout", "-q", "--", "a.txt")
				h.write(dir+"/a.txt", "one\r\ntwo\r\nthree\r\n") // the same bytes, with a new time
			},
		},
		"a FIFO in place of a file, and one beside it": {
			prepare: func(h *home, dir string) {
				os.Remove(dir + "/a.txt")
				syscall.Mkfifo(dir+"/a.txt", 0o600)
				syscall.Mkfifo(dir+"/fifo", 0o600)
			},
			files: m{"a.txt": ".M"}, unstaged: 1,
		},
		"a link to a directory is not entered": {
			prepare: func(h *home, dir string) { os.Symlink("/etc", dir+"/etc") },
			files:   m{"etc": "??"}, untracked: 1,
		},
		"a repository inside": {
			prepare: func(h *home, dir string) { h.sh(dir, "init", "-q", "sub"); h.write(dir+"/sub/x", "x") },
			files:   m{"sub/": "??"}, untracked: 1,
		},
		"a merge with a conflict": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "checkout", "-q", "-b", "other")
				h.write(dir+"/a.txt", "theirs\n")
				h.sh(dir, "commit", "-qam", "theirs")
				h.sh(dir, "checkout", "-q", "task")
				h.write(dir+"/a.txt", "ours\n")
				h.sh(dir, "commit", "-qam", "ours")
				h.try(dir, "merge", "other")
			},
			files: m{"a.txt": "UU"}, conflicted: 1, operation: "merge",
		},
		"a bisection": {
			prepare:   func(h *home, dir string) { h.sh(dir, "bisect", "start") },
			operation: "bisect",
		},
		"a revert that stopped": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "x\n")
				h.sh(dir, "commit", "-qam", "x")
				h.write(dir+"/a.txt", "y\n")
				h.sh(dir, "commit", "-qam", "y")
				h.try(dir, "revert", "--no-edit", "HEAD~1")
			},
			files: m{"a.txt": "UU"}, conflicted: 1, operation: "revert",
		},
		"a detached HEAD": {prepare: func(h *home, dir string) { h.sh(dir, "checkout", "-q", "--detach") }, detached: true},
		"an index that is locked": {prepare: func(h *home, dir string) {
			h.write(h.sh(dir, "rev-parse", "--path-format=absolute", "--git-dir")+"/index.lock", "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", "a.txt", "b.txt", "c.txt")
			dir := h.worktree(r, "task")
			c.prepare(h, dir)
			before := snapshot(t, h.dir)
			s, err := r.Status(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "everything", before, snapshot(t, h.dir))
			if s.Staged != c.staged || s.Unstaged != c.unstaged || s.Untracked != c.untracked || s.Conflicted != c.conflicted || s.InProgress != c.operation || s.Detached != c.detached {
				t.Errorf("%+v", s)
			}
			got := m{}
			for _, f := range s.Files {
				got[f.Path] = f.Code
				if (f.Orig != "") != strings.ContainsAny(f.Code, "RC") {
					t.Errorf("%+v", f)
				}
			}
			want := c.files
			if want == nil {
				want = m{}
			}
			same(t, "files", want, got)
		})
	}
}

func TestStatusOfABranchWithoutCommits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	h.sh(r.Root, "checkout", "-q", "--orphan", "fresh")
	s, err := r.Status(t.Context(), r.Root)
	if err != nil || s.Branch != "fresh" || s.Head != "" || s.Detached || s.Staged != 1 {
		t.Errorf("%+v %v", s, err)
	}
	// A branch whose file is damaged is another thing.
	h.write(filepath.Join(r.CommonDir, "refs", "heads", "fresh"), "damaged\n")
	if s, err := r.Status(t.Context(), r.Root); err == nil {
		t.Errorf("%+v", s)
	}
}

func TestStatusIsAskedFromManyGoroutines(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	h.write(dir+"/new.txt", "x")
	base := h.oid(r.Root, "HEAD")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := r.Status(t.Context(), dir)
			if err != nil || s.Untracked != 1 {
				t.Errorf("%+v %v", s, err)
			}
			d, err := r.Diff(t.Context(), dir, base, DiffOptions{})
			if err != nil || len(d.Files) != 1 {
				t.Errorf("%+v %v", d, err)
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(h.path("tmp", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

func FuzzParseStatus(f *testing.F) {
	oid := strings.Repeat("a", 40)
	f.Add("1 .M N... 100644 100644 100644 " + oid + " " + oid + " a b\x00? x\x00")
	f.Add("2 R. N... 100644 100644 100644 " + oid + " " + oid + " R100 new\x00old\x00")
	f.Add("u UU N... 100644 100644 100644 100644 " + oid + " " + oid + " " + oid + " c\x00# branch.oid x\x00! ign\x00")
	f.Add("2 R. N... 1 1 1 x x R1 new\x00")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := parseStatus(in)
		if err != nil {
			return
		}
		if len(s.Files) > strings.Count(in, "\x00")+1 {
			t.Errorf("%d files from %q", len(s.Files), in)
		}
		for _, f := range s.Files {
			if f.Path == "" || len(f.Code) != 2 || strings.Contains(f.Path+f.Orig, "\x00") || !strings.Contains(in, f.Path) {
				t.Errorf("%+v from %q", f, in)
			}
		}
		if n := s.Untracked + s.Conflicted; n > len(s.Files) {
			t.Errorf("counts %+v from %q", s, in)
		}
	})
}

func FuzzParseWorktrees(f *testing.F) {
	f.Add("worktree /a b\x00HEAD " + strings.Repeat("a", 40) + "\x00branch refs/heads/x\x00\x00worktree /c\x00detached\x00locked why\nnot\x00prunable\x00\x00")
	f.Add("worktree /a\x00bare\x00\x00")
	f.Add("")
	f.Fuzz(func(t *testing.T, in string) {
		list, err := parseWorktrees(in)
		if err == nil && len(list) == 0 {
			t.Error("no worktree and no error")
		}
		for i, w := range list {
			if w.Dir == "" || w.Main != (i == 0) {
				t.Errorf("%+v from %q", w, in)
			}
		}
	})
}
