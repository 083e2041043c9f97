package git

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestStagingIsWhatGitAddDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, dir string)
		sel     Selection
		status  string // of plain git afterwards
		files   int
		err     error
	}{
		"all": {
			prepare: everyChange, sel: Selection{All: true}, files: 6,
			status: "M  a.txt\nD  b.txt\nT  c.txt\nA  dir/new.txt\nA  \"odd\\377.txt\"\nM  run.sh",
		},
		"one file": {prepare: everyChange, sel: Selection{Paths: []string{"a.txt"}}, files: 1, status: "M  a.txt\n D b.txt\n T c.txt\n M run.sh\n?? dir/new.txt\n?? \"odd\\377.txt\""},
		"a directory, named with a slash at its end": {prepare: everyChange, sel: Selection{Paths: []string{"dir/"}}, files: 1, status: " M a.txt\n D b.txt\n T c.txt\nA  dir/new.txt\n M run.sh\n?? \"odd\\377.txt\""},
		"a name that is no UTF-8":                    {prepare: everyChange, sel: Selection{Paths: []string{"odd\xff.txt"}}, files: 1, status: " M a.txt\n D b.txt\n T c.txt\nA  \"odd\\377.txt\"\n M run.sh\n?? dir/new.txt"},
		"a file that is not changed":                 {prepare: func(*home, string) {}, sel: Selection{Paths: []string{"a.txt"}}},
		"a file that is gone and staged so":          {prepare: func(h *home, dir string) { h.sh(dir, "rm", "-q", "a.txt") }, sel: Selection{Paths: []string{"a.txt"}}, status: "D  a.txt"},
		"a pattern is a name":                        {prepare: func(h *home, dir string) { h.write(dir+"/a.txt", "x"); h.write(dir+"/*.txt", "x") }, sel: Selection{Paths: []string{"*.txt"}}, files: 1, status: "A  *.txt\n M a.txt"},
		"nothing of that name":                       {prepare: func(*home, string) {}, sel: Selection{Paths: []string{"nope"}}, err: ErrNoChange},
		"an ignored file":                            {prepare: func(h *home, dir string) { h.write(dir+"/.git-is-not-here", ""); h.write(dir+"/x.log", "x") }, sel: Selection{Paths: []string{"x.log"}}, err: ErrNoChange},
		"a path that leads out":                      {prepare: func(*home, string) {}, sel: Selection{Paths: []string{"../x"}}, err: ErrBadPath},
		"an absolute path":                           {prepare: func(*home, string) {}, sel: Selection{Paths: []string{"/etc/passwd"}}, err: ErrBadPath},
		"a path into a git directory":                {prepare: func(*home, string) {}, sel: Selection{Paths: []string{"x/.GIT/y"}}, err: ErrBadPath},
		"a directory that became a link to a full one": {
			prepare: func(h *home, dir string) { os.Rename(dir+"/sub", dir+"/moved"); os.Symlink("moved", dir+"/sub") },
			sel:     Selection{All: true}, files: 3, status: "R  sub/x.txt -> moved/x.txt\nA  sub",
		},
		"a repository inside is left out": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "init", "-q", "inner")
				h.write(dir+"/inner/x", "x")
				h.write(dir+"/a.txt", "x")
			},
			sel: Selection{All: true}, files: 1, status: "M  a.txt\n?? inner/",
		},
		"while a merge is unfinished": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "x\n")
				h.write(filepath.Join(h.sh(dir, "rev-parse", "--git-dir"), "MERGE_HEAD"), h.sh(dir, "rev-parse", "HEAD")+"\n")
			},
			sel: Selection{All: true}, err: ErrUnfinished,
		},
		"a file with conflicts": {prepare: leftConflicts, sel: Selection{Paths: []string{"a.txt"}}, err: ErrUnfinished},
		"another file beside one with conflicts": {
			prepare: func(h *home, dir string) { leftConflicts(h, dir); h.write(dir+"/b.txt", "x\n") },
			sel:     Selection{Paths: []string{"b.txt"}}, files: 1, status: "UU a.txt\nM  b.txt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("project", "a.txt", "b.txt", "c.txt", "run.sh", "sub/x.txt")
			h.write(r.Root+"/.gitignore", "*.log\n.git-is-not-here\n")
			h.sh(r.Root, "add", ".")
			h.sh(r.Root, "commit", "-qm", "ignore")
			dir := h.worktree(r, "work")
			c.prepare(h, dir)
			files := snapshot(t, dir)
			got, err := r.Stage(t.Context(), dir, c.sel)
			wantErr(t, err, c.err)
			if c.err != nil {
				return
			}
			if got.Files != c.files {
				t.Errorf("%d files, want %d", got.Files, c.files)
			}
			same(t, "the files", files, snapshot(t, dir))
			if status, _ := h.try(dir, "status", "--porcelain", "-uall"); strings.TrimSuffix(status, "\n") != c.status {
				t.Errorf("status\n%s\nwant\n%s", status, c.status)
			}
			h.sh(dir, "fsck", "--connectivity-only")
			again, err := r.Stage(t.Context(), dir, c.sel)
			wantErr(t, err, nil)
			if again.Files != 0 {
				t.Errorf("again: %d files", again.Files)
			}
		})
	}
}

// everyChange changes a checkout in every way that is no commit.
func everyChange(h *home, dir string) {
	h.write(dir+"/a.txt", "one\nTWO\nthree\n")
	os.Remove(dir + "/b.txt")
	os.Remove(dir + "/c.txt")
	os.Symlink("/etc/passwd", dir+"/c.txt")
	os.Chmod(dir+"/run.sh", 0o755)
	h.write(dir+"/dir/new.txt", "new\n")
	h.write(dir+"/odd\xff.txt", "odd\n")
	h.write(dir+"/x.log", "ignored\n")
}

// leftConflicts leaves a conflict and no operation, as a stash does.
func leftConflicts(h *home, dir string) {
	h.write(dir+"/a.txt", "stashed\n")
	h.sh(dir, "stash", "-q")
	h.write(dir+"/a.txt", "mine\n")
	h.sh(dir, "commit", "-qam", "mine")
	h.try(dir, "stash", "pop") // fails: that is the point
}

func TestUnstagingIsWhatGitResetDoes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "c.txt", "run.sh")
	dir := h.worktree(r, "work")
	everyChange(h, dir)
	unstaged := h.sh(dir, "status", "--porcelain", "-uall")
	h.sh(dir, "add", "-A")
	if out, err := r.Unstage(t.Context(), dir, Selection{Paths: []string{"a.txt", "dir"}}); err != nil || out.Files != 2 {
		t.Fatalf("%+v %v", out, err)
	}
	if got := h.sh(dir, "diff", "--cached", "--name-only"); strings.Contains(got, "a.txt") || strings.Contains(got, "dir/") || !strings.Contains(got, "b.txt") {
		t.Errorf("staged after two were unstaged: %s", got)
	}
	if out, err := r.Unstage(t.Context(), dir, Selection{All: true}); err != nil || out.Files != 5 {
		t.Fatalf("%+v %v", out, err)
	}
	if got := h.sh(dir, "status", "--porcelain", "-uall"); got != unstaged {
		t.Errorf("status\n%s\nwant\n%s", got, unstaged)
	}
	if out, err := r.Unstage(t.Context(), dir, Selection{Paths: []string{"a.txt", "dir"}}); err != nil || out.Files != 0 {
		t.Errorf("again: %+v %v", out, err)
	}
	_, err := r.Unstage(t.Context(), dir, Selection{Paths: []string{"nope"}})
	wantErr(t, err, ErrNoChange)
}

// plantPrograms has the checkout and the configuration name programs in every way that git add, git commit and git restore
// know. Whatever runs leaves the file ran.
func plantPrograms(h *home, r *Repo, dir string) (ran string) {
	ran = h.path("ran")
	h.program(dir+"/evil.sh", "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
	h.program(h.path("hooks/any"), "#!/bin/sh\ntouch '"+ran+"'\n")
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-checkout"} {
		os.Symlink("any", h.path("hooks", hook))
	}
	for key, value := range map[string]string{
		"core.hooksPath": h.path("hooks"), "core.fsmonitor": dir + "/evil.sh", "gpg.program": dir + "/evil.sh", "commit.gpgsign": "true",
		"filter.evil.clean": dir + "/evil.sh", "filter.evil.smudge": dir + "/evil.sh", "diff.evil.textconv": dir + "/evil.sh", "core.editor": dir + "/evil.sh",
	} {
		h.sh(r.Root, "config", key, value)
	}
	return ran
}

func TestStageCommitAndDiscardRunNothing(t *testing.T) {
	t.Parallel()
	for _, twin := range []bool{false, true} {
		t.Run("twin with plain git: "+strconv.FormatBool(twin), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("project", "a.txt", "b.txt")
			h.write(r.Root+"/.gitattributes", "*.evil filter=evil diff=evil\n")
			h.sh(r.Root, "add", ".")
			h.sh(r.Root, "commit", "-qm", "attributes")
			dir := h.worktree(r, "work")
			ran := plantPrograms(h, r, dir)
			h.write(dir+"/a.txt", "changed\n")
			if twin {
				h.try(dir, "add", "a.txt")
				h.try(dir, "commit", "-qm", "x")
				if _, err := os.Stat(ran); err != nil {
					t.Error("plain git ran nothing: the programs are not where it looks")
				}
				return
			}
			_, err := r.Stage(t.Context(), dir, Selection{Paths: []string{"a.txt"}})
			must(t, err)
			_, err = r.Unstage(t.Context(), dir, Selection{All: true})
			must(t, err)
			c, err := r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "all", All: true})
			must(t, err)
			h.write(dir+"/a.txt", "again\n")
			d, keep := discard(t, h, r, dir, Selection{All: true})
			must(t, r.UndoDiscard(t.Context(), dir, d, keep))
			if _, err := os.Stat(ran); err == nil {
				t.Error("a program ran")
			}
			if got := h.oid(dir, "HEAD"); got != c.OID {
				t.Errorf("HEAD %s, want %s", got, c.OID)
			}
			h.write(dir+"/x.evil", "x\n")
			_, err = r.Stage(t.Context(), dir, Selection{Paths: []string{"x.evil"}})
			var filtered *FilteredError
			if !errors.As(err, &filtered) {
				t.Errorf("a file with a filter: %v", err)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("a program ran for a file with a filter")
			}
		})
	}
}

func TestCommitting(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	dir := h.worktree(r, "work")
	_, err := r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "nothing"})
	wantErr(t, err, ErrNothingStaged)
	h.write(dir+"/a.txt", "staged\n")
	h.sh(dir, "add", "a.txt")
	h.write(dir+"/a.txt", "staged\nand more\n")
	h.write(dir+"/b.txt", "not staged\n")
	for _, bad := range []string{"", " \n", "a\x00b", "\xff"} {
		_, err := r.Commit(t.Context(), CommitOptions{Dir: dir, Message: bad})
		wantErr(t, err, ErrNoMessage)
	}
	before := h.oid(dir, "HEAD")
	c, err := r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "first line\n\n# no comment\n-m x\n"})
	must(t, err)
	if c.Files != 1 || c.Branch != "work" || c.OID != h.oid(dir, "HEAD") || h.oid(dir, "HEAD^") != before {
		t.Errorf("%+v", c)
	}
	if got, want := h.sh(dir, "log", "-1", "--format=%an <%ae> %cn <%ce>%n%B"), "A Person <person@example.org> A Person <person@example.org>\nfirst line\n\n# no comment\n-m x"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := h.sh(dir, "show", "HEAD:a.txt"); got != "staged" {
		t.Errorf("committed %q", got)
	}
	if got := h.sh(dir, "status", "--porcelain"); got != "M a.txt\n M b.txt" { // sh trims the first space
		t.Errorf("status %q", got)
	}
	if got := h.sh(dir, "reflog", "-1", "--format=%gs"); got != "commit: first line" {
		t.Errorf("reflog %q", got)
	}
	h.write(dir+"/new.txt", "new\n")
	c, err = r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "rest", All: true})
	if err != nil || c.Files != 3 {
		t.Errorf("%+v %v", c, err)
	}
	if got := h.sh(dir, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	h.sh(dir, "fsck", "--strict")
	h.sh(dir, "switch", "-q", "--detach")
	h.write(dir+"/a.txt", "detached\n")
	if c, err = r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "detached", All: true}); err != nil || c.Branch != "" {
		t.Errorf("%+v %v", c, err)
	}
	if h.oid(dir, "HEAD") != c.OID || h.oid(dir, "work") == c.OID {
		t.Error("a commit at a detached HEAD moved the branch, or not HEAD")
	}
}

func TestACommitDoesNotOvertakeAnother(t *testing.T) {
	h := newHome(t)
	r := h.repo("project")
	dir := h.worktree(r, "work")
	h.write(dir+"/a.txt", "mine\n")
	h.sh(dir, "add", "a.txt")
	var theirs OID
	landStep = func(name string) {
		if name == "commit" && theirs == "" {
			h.sh(dir, "commit", "-qm", "theirs")
			theirs = h.oid(dir, "HEAD")
		}
	}
	defer func() { landStep = nil }()
	_, err := r.Commit(t.Context(), CommitOptions{Dir: dir, Message: "mine"})
	wantErr(t, err, ErrRefMoved)
	if h.oid(dir, "HEAD") != theirs {
		t.Error("the branch is not where the other left it")
	}
}

func TestStagingBesideAnotherGit(t *testing.T) {
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	dir := h.worktree(r, "work")
	gitDir := h.sh(dir, "rev-parse", "--absolute-git-dir")
	h.write(dir+"/a.txt", "mine\n")
	h.write(dir+"/b.txt", "theirs\n")
	// Another git adds something between our look and our lock: both are staged in the end.
	added := false
	landStep = func(name string) {
		if name == "link" && !added {
			added = true
			h.sh(dir, "add", "b.txt")
		}
	}
	defer func() { landStep = nil }()
	_, err := r.Stage(t.Context(), dir, Selection{Paths: []string{"a.txt"}})
	must(t, err)
	if got := h.sh(dir, "diff", "--cached", "--name-only"); got != "a.txt\nb.txt" {
		t.Errorf("staged: %q", got)
	}
	landStep = nil
	// A lock of another git's is waited for and left alone.
	h.write(dir+"/a.txt", "more\n")
	h.write(gitDir+"/index.lock", "theirs")
	old := lockWait
	lockWait = retryFirst
	defer func() { lockWait = old }()
	_, err = r.Stage(t.Context(), dir, Selection{All: true})
	wantErr(t, err, ErrIndexLocked)
	if data, _ := os.ReadFile(gitDir + "/index.lock"); string(data) != "theirs" {
		t.Error("the other's lock is gone")
	}
	must(t, os.Remove(gitDir+"/index.lock"))
	// One that a process of ours left is not: no process has that number (it is above what Linux gives).
	h.write(gitDir+"/"+ownIndex+"999999999-X", "half")
	must(t, os.Link(gitDir+"/"+ownIndex+"999999999-X", gitDir+"/index.lock"))
	_, err = r.Stage(t.Context(), dir, Selection{All: true})
	must(t, err)
	if left, _ := filepath.Glob(gitDir + "/index.*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	info, err := os.Stat(gitDir + "/index")
	must(t, err)
	if mode := info.Mode().Perm(); mode&^0o200 != 0o444 && mode != 0o600 && mode != 0o644 {
		t.Errorf("index has mode %v", mode)
	}
}

func TestStagingKeepsAssumeUnchangedBits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	dir := h.worktree(r, "work")
	h.sh(dir, "update-index", "--assume-unchanged", "b.txt")
	h.write(dir+"/a.txt", "x\n")
	_, err := r.Stage(t.Context(), dir, Selection{Paths: []string{"a.txt"}})
	must(t, err)
	if got := h.sh(dir, "ls-files", "-v"); got != "H a.txt\nh b.txt" {
		t.Errorf("%q", got)
	}
}

func TestStagingConvertsLineEndings(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project")
	h.write(r.Root+"/.gitattributes", "* text=auto\n")
	h.sh(r.Root, "add", ".")
	h.sh(r.Root, "commit", "-qm", "attributes")
	dir := h.worktree(r, "work")
	h.write(dir+"/a.txt", "one\r\nTWO\r\n")
	_, err := r.Stage(t.Context(), dir, Selection{All: true})
	must(t, err)
	if got := h.sh(dir, "cat-file", "blob", ":a.txt"); got != "one\nTWO" {
		t.Errorf("staged %q", got)
	}
}

func TestStagingLooksAtNoSocketAndBlocksOnNoFIFO(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt")
	dir := h.worktree(r, "work")
	must(t, os.Remove(dir+"/a.txt"))
	must(t, syscall.Mkfifo(dir+"/a.txt", 0o600))
	out, err := r.Stage(t.Context(), dir, Selection{All: true})
	must(t, err)
	if len(out.LeftOut) != 1 || out.LeftOut[0] != "a.txt" {
		t.Errorf("%+v", out)
	}
}
