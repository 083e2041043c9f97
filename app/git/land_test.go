package git

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// landRig is a project with a task's checkout beside it.
type landRig struct {
	*home
	repo *Repo
	task string
	base OID
	n    int
}

func newLandRig(t *testing.T) *landRig {
	h := newHome(t)
	r := h.repo("project", "a.txt", "b.txt", "d/e/f.txt", "run.sh", "gone.txt")
	h.write(filepath.Join(r.Root, "x/y"), "y\n")
	if err := os.Chmod(filepath.Join(r.Root, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-q", "-m", "second")
	return &landRig{home: h, repo: r, task: h.worktree(r, "work"), base: h.oid(r.Root, "HEAD")}
}

func (r *landRig) in(name, text string)      { r.write(filepath.Join(r.task, name), text) }
func (r *landRig) project(name, text string) { r.write(filepath.Join(r.repo.Root, name), text) }

func (r *landRig) options(how LandHow) LandOptions {
	r.n++
	keep := r.path("keep", strconv.Itoa(r.n))
	if err := os.MkdirAll(keep, 0o700); err != nil {
		r.t.Fatal(err)
	}
	return LandOptions{Dir: r.task, ID: "t-1", How: how, Base: r.base, Label: "work", Branch: "landed", Subject: "merge it", Uncommitted: "the rest", Keep: keep}
}

// state is everything of the project that a landing may change: files, index bytes, HEAD, branches.
func (r *landRig) state() map[string]string {
	m := snapshot(r.t, r.repo.Root)
	maps.DeleteFunc(m, func(path, _ string) bool {
		return strings.HasPrefix(path, ".git/objects/") || strings.HasPrefix(path, ".git/logs") || strings.HasPrefix(path, ".git/worktrees/")
	})
	return m
}

// work changes the task in every way: commits, and what is staged, unstaged and untracked.
func (r *landRig) work() {
	r.in("a.txt", "one\nTWO\nthree\n")
	r.in("committed/new.txt", "new\n")
	r.sh(r.task, "add", "-A")
	r.sh(r.task, "commit", "-q", "-m", "agent")
	r.in("b.txt", "staged\n")
	r.sh(r.task, "add", "b.txt")
	r.in("d/e/f.txt", "unstaged\n")
	r.in("un tracked\xff.txt", "untracked\n")
	must(r.t, os.Symlink("/etc/passwd", filepath.Join(r.task, "link")))
	must(r.t, os.Remove(filepath.Join(r.task, "gone.txt")))
	must(r.t, os.RemoveAll(filepath.Join(r.task, "x")))
	r.in("x", "a file for a directory\n")
	must(r.t, os.Chmod(filepath.Join(r.task, "a.txt"), 0o755))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *landRig) land(how LandHow) (Landed, string) {
	r.t.Helper()
	o := r.options(how)
	p, err := r.repo.PlanLanding(r.t.Context(), o)
	must(r.t, err)
	raw, err := json.Marshal(p.Landed)
	must(r.t, err)
	must(r.t, p.Apply(r.t.Context()))
	var l Landed
	must(r.t, json.Unmarshal(raw, &l))
	return l, o.Keep
}

func TestALandingBringsEverythingAndUndoingTakesItAllBack(t *testing.T) {
	for _, how := range []LandHow{LandChanges, LandMerge, LandBranch} {
		t.Run(string(how), func(t *testing.T) {
			r := newLandRig(t)
			r.work()
			r.project("mine.txt", "untracked of mine\n")
			r.project("run.sh", "mine, uncommitted\n")
			before := r.state()
			l, keep := r.land(how)
			at := r.repo.Root
			if how == LandBranch {
				r.sh(r.repo.Root, "worktree", "add", "-q", r.path("look"), "landed")
				at = r.path("look")
			}
			for _, f := range []string{"a.txt", "committed/new.txt", "b.txt", "d/e/f.txt", "un tracked\xff.txt", "x"} {
				want, err := os.ReadFile(filepath.Join(r.task, f))
				must(t, err)
				got, err := os.ReadFile(filepath.Join(at, f))
				if err != nil || string(got) != string(want) {
					t.Errorf("%q: %q %v, want %q", f, got, err, want)
				}
			}
			if to, err := os.Readlink(filepath.Join(at, "link")); err != nil || to != "/etc/passwd" {
				t.Errorf("link: %q %v", to, err)
			}
			if info, err := os.Stat(filepath.Join(at, "a.txt")); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("a.txt is not executable: %v %v", info, err)
			}
			if exists(filepath.Join(at, "gone.txt")) || exists(filepath.Join(at, "x/y")) {
				t.Error("a deleted file is still there")
			}
			switch how {
			case LandChanges:
				if staged := r.sh(at, "diff", "--cached", "--name-only"); staged != "" {
					t.Errorf("staged: %q", staged)
				}
			case LandMerge:
				if parents := r.sh(at, "log", "-1", "--format=%P %s %an"); parents != string(l.Head)+" "+string(l.Work)+" merge it A Person" {
					t.Errorf("merge commit: %q", parents)
				}
				if st := r.sh(at, "status", "--porcelain"); st != "M run.sh\n?? mine.txt" {
					t.Errorf("status after a merge: %q", st)
				}
			case LandBranch:
				r.sh(r.repo.Root, "worktree", "remove", "--force", at)
			}
			if how != LandBranch && r.sh(r.repo.Root, "fsck", "--connectivity-only") != "" {
				t.Log("dangling objects are left")
			}
			must(t, r.repo.UndoLanding(t.Context(), l, keep))
			same(t, "after undoing", before, r.state())
			must(t, r.repo.UndoLanding(t.Context(), l, keep)) // again: nothing more
			same(t, "after undoing twice", before, r.state())
		})
	}
}

func TestConflictsLeaveMarkersAndAreTakenBackWhole(t *testing.T) {
	for _, how := range []LandHow{LandChanges, LandMerge} {
		t.Run(string(how), func(t *testing.T) {
			r := newLandRig(t)
			r.work()
			r.project("a.txt", "one\nzwei\nthree\n")
			r.project("gone.txt", "changed here\n")
			r.sh(r.repo.Root, "commit", "-q", "-am", "mine")
			r.project("mine.txt", "untracked of mine\n")
			before := r.state()
			l, keep := r.land(how)
			text, err := os.ReadFile(filepath.Join(r.repo.Root, "a.txt"))
			must(t, err)
			if want := "one\n<<<<<<< HEAD\nzwei\n=======\nTWO\n>>>>>>> work\nthree\n"; string(text) != want {
				t.Errorf("a.txt is %q, want %q", text, want)
			}
			if len(l.Conflicts) != 2 || l.Conflicts[0] != "a.txt" || l.Conflicts[1] != "gone.txt" {
				t.Errorf("conflicts %q", l.Conflicts)
			}
			if st := r.sh(r.repo.Root, "status", "--porcelain", "a.txt", "gone.txt"); st != "UU a.txt\nUD gone.txt" {
				t.Errorf("status %q", st)
			}
			if how == LandMerge {
				r.sh(r.repo.Root, "rev-parse", "--verify", "MERGE_HEAD")
			}
			must(t, r.repo.UndoLanding(t.Context(), l, keep))
			same(t, "after undoing", before, r.state())
		})
	}
}

func TestWhatIsInTheWayOfALandingIsNotOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		how  LandHow
		do   func(r *landRig)
		want error
	}{
		"nothing is in the way":          {LandChanges, func(r *landRig) {}, nil},
		"another file is changed":        {LandChanges, func(r *landRig) { r.project("run.sh", "x\n") }, nil},
		"another file is staged":         {LandChanges, func(r *landRig) { r.project("run.sh", "x\n"); r.sh(r.repo.Root, "add", "run.sh") }, nil},
		"the same file is changed":       {LandChanges, func(r *landRig) { r.project("a.txt", "x\n") }, &OverlapError{}},
		"the same file is staged":        {LandChanges, func(r *landRig) { r.project("b.txt", "x\n"); r.sh(r.repo.Root, "add", "b.txt") }, &OverlapError{}},
		"a deleted file is changed":      {LandChanges, func(r *landRig) { r.project("gone.txt", "x\n") }, &OverlapError{}},
		"an untracked file":              {LandChanges, func(r *landRig) { r.project("link", "x\n") }, &OverlapError{}},
		"an untracked file as directory": {LandChanges, func(r *landRig) { r.project("committed", "x\n") }, &OverlapError{}},
		"an untracked link as directory": {LandChanges, func(r *landRig) { must(r.t, os.Symlink("/tmp", filepath.Join(r.repo.Root, "committed"))) }, &OverlapError{}},
		"an ignored file":                {LandChanges, func(r *landRig) { r.project(".gitignore", "link\n"); r.project("link", "x\n") }, &OverlapError{}},
		"files in a directory that goes": {LandChanges, func(r *landRig) { r.project("x/other", "x\n") }, &OverlapError{}},
		"anything staged, and a merge":   {LandMerge, func(r *landRig) { r.project("run.sh", "x\n"); r.sh(r.repo.Root, "add", "run.sh") }, &OverlapError{}},
		"hidden by assume-unchanged": {LandChanges, func(r *landRig) {
			r.sh(r.repo.Root, "update-index", "--assume-unchanged", "a.txt")
			r.project("a.txt", "x\n")
		}, &OverlapError{}},
		"a merge is unfinished":           {LandChanges, func(r *landRig) { r.project(".git/MERGE_HEAD", string(r.base)+"\n") }, ErrUnfinished},
		"a merge is unfinished, a branch": {LandBranch, func(r *landRig) { r.project(".git/MERGE_HEAD", string(r.base)+"\n") }, nil},
		"a stash left conflicts in the task": {LandChanges, func(r *landRig) {
			r.sh(r.task, "stash", "-q")
			r.in("b.txt", "another\n")
			r.sh(r.task, "commit", "-q", "-am", "another")
			if err := exec.Command("git", "-C", r.task, "stash", "pop").Run(); err == nil {
				r.t.Fatal("the stash has no conflict")
			}
		}, ErrUnfinished},
		"the branch is there":              {LandBranch, func(r *landRig) { r.sh(r.repo.Root, "branch", "landed") }, ErrBranchExists},
		"there is nothing":                 {LandChanges, func(r *landRig) { r.sh(r.task, "reset", "-q", "--hard", string(r.base)); r.sh(r.task, "clean", "-qfd") }, ErrNothing},
		"another git holds the index":      {LandChanges, func(r *landRig) { r.project(".git/index.lock", "") }, ErrIndexLocked},
		"a FIFO in the place of a file":    {LandChanges, func(r *landRig) { must(r.t, syscall.Mkfifo(filepath.Join(r.repo.Root, "link"), 0o600)) }, ErrUnkeepable},
		"a file in the task is unreadable": {LandChanges, func(r *landRig) { r.in("sub/.GIT/x", "x") }, ErrUnkeepable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLandRig(t)
			r.work()
			c.do(r)
			before := r.state()
			p, err := r.repo.PlanLanding(t.Context(), r.options(c.how))
			if err == nil {
				err = p.Apply(t.Context())
			}
			var over *OverlapError
			if errors.As(c.want, &over) {
				if !errors.As(err, &over) || len(over.Paths) != 1 {
					t.Errorf("error %v, want one overlap", err)
				}
			} else {
				wantErr(t, err, c.want)
			}
			if c.want != nil {
				same(t, "after a refusal", before, r.state())
			}
		})
	}
}

func TestUndoingALandingLosesNothingThatCameSince(t *testing.T) {
	for name, c := range map[string]struct {
		how  LandHow
		do   func(r *landRig)
		want error
	}{
		"a look at the status":         {LandChanges, func(r *landRig) { r.sh(r.repo.Root, "status") }, nil},
		"another file changed":         {LandChanges, func(r *landRig) { r.project("run.sh", "x") }, nil},
		"a landed file changed":        {LandChanges, func(r *landRig) { r.project("a.txt", "x") }, &EditedError{}},
		"a landed file removed":        {LandChanges, func(r *landRig) { must(r.t, os.Remove(filepath.Join(r.repo.Root, "b.txt"))) }, &EditedError{}},
		"a landed file staged":         {LandChanges, func(r *landRig) { r.sh(r.repo.Root, "add", "a.txt") }, &EditedError{}},
		"a landed file committed":      {LandChanges, func(r *landRig) { r.sh(r.repo.Root, "commit", "-qam", "x") }, &EditedError{}},
		"another commit":               {LandChanges, func(r *landRig) { r.project("run.sh", "x"); r.sh(r.repo.Root, "commit", "-qm", "x", "run.sh") }, nil},
		"a commit on a merge":          {LandMerge, func(r *landRig) { r.sh(r.repo.Root, "commit", "-q", "--allow-empty", "-m", "x") }, ErrRefMoved},
		"something staged on a merge":  {LandMerge, func(r *landRig) { r.project("run.sh", "x"); r.sh(r.repo.Root, "add", "run.sh") }, &EditedError{}},
		"another branch checked out":   {LandMerge, func(r *landRig) { r.sh(r.repo.Root, "switch", "-q", "-c", "other") }, ErrRefMoved},
		"a commit on the branch":       {LandBranch, func(r *landRig) { r.sh(r.repo.Root, "branch", "-f", "landed", string(r.base)) }, ErrRefMoved},
		"the branch is gone":           {LandBranch, func(r *landRig) { r.sh(r.repo.Root, "branch", "-D", "landed") }, nil},
		"the branch is checked out":    {LandBranch, func(r *landRig) { r.sh(r.repo.Root, "worktree", "add", "-q", r.path("w"), "landed") }, ErrBranchInUse},
		"a file in a landed directory": {LandChanges, func(r *landRig) { r.project("committed/mine", "x") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLandRig(t)
			r.work()
			l, keep := r.land(c.how)
			c.do(r)
			before := r.state()
			err := r.repo.UndoLanding(t.Context(), l, keep)
			var edited *EditedError
			if errors.As(c.want, &edited) {
				if !errors.As(err, &edited) {
					t.Errorf("error %v, want what was edited", err)
				}
			} else {
				wantErr(t, err, c.want)
			}
			if c.want != nil {
				same(t, "after a refusal", before, r.state())
			}
		})
	}
}

// Programs that the task's or the person's configuration names do not run: filters, textconv, drivers, hooks, fsmonitor.
func TestALandingRunsNothing(t *testing.T) {
	for _, how := range []LandHow{LandChanges, LandMerge, LandBranch} {
		r := newLandRig(t)
		marker := r.path("ran")
		trap := r.path("trap.sh")
		r.program(trap, "#!/bin/sh\necho \"$0 $*\" >> "+marker+"\ncat\n")
		for _, kv := range [][2]string{{"filter.x.clean", trap}, {"filter.x.smudge", trap}, {"filter.x.process", trap}, {"diff.x.textconv", trap}, {"diff.x.command", trap},
			{"merge.x.driver", trap + " %A"}, {"core.fsmonitor", trap}, {"diff.external", trap}, {"commit.gpgsign", "true"}, {"gpg.program", trap}} {
			r.sh(r.repo.Root, "config", kv[0], kv[1])
		}
		for _, hook := range []string{"post-checkout", "pre-commit", "post-merge", "pre-merge-commit", "reference-transaction", "post-index-change", "commit-msg"} {
			r.program(filepath.Join(r.repo.Root, ".git/hooks", hook), "#!/bin/sh\necho hook >> "+marker+"\n")
		}
		// Committed by hand: the person's git would run the filter.
		r.in(".gitattributes", "*.txt filter=x diff=x merge=x\n")
		r.in("a.txt", "one\nTWO\nthree\n")
		r.sh(r.task, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.x.clean=cat", "-c", "filter.x.process=", "-c", "commit.gpgsign=false", "commit", "-qam", "agent")
		if how == LandChanges {
			r.in("b.txt", "uncommitted\n")
		}
		must(t, os.RemoveAll(marker))
		l, keep := r.land(how)
		must(t, r.repo.UndoLanding(t.Context(), l, keep))
		if text, err := os.ReadFile(marker); err == nil {
			t.Errorf("%s: ran %s", how, text)
		}
		// The twin: git itself does run them.
		if out, _ := r.try(r.repo.Root, "merge", "-q", "--no-ff", "-m", "x", "work"); !exists(marker) {
			t.Errorf("the person's own merge ran nothing: %s", out)
		}
	}
}

// TestALandingThatIsKilledIsBeforeOrCanBeUndone kills a process at every step of a landing and of an undoing.
func TestALandingThatIsKilledIsBeforeOrCanBeUndone(t *testing.T) {
	if os.Getenv("TERMIC_LAND_AT") != "" {
		killedLanding(t)
		return
	}
	for _, c := range []struct {
		how      LandHow
		conflict bool
	}{{LandChanges, true}, {LandMerge, false}, {LandMerge, true}, {LandBranch, false}} {
		t.Run(string(c.how)+strconv.FormatBool(c.conflict), func(t *testing.T) {
			t.Parallel()
			r := newLandRig(t)
			r.in("a.txt", "one\nTWO\nthree\n")
			r.in("new/new.txt", "new\n")
			must(t, os.RemoveAll(filepath.Join(r.task, "x")))
			if c.conflict {
				r.project("a.txt", "one\nzwei\nthree\n")
				r.sh(r.repo.Root, "commit", "-q", "-am", "mine")
			}
			before := r.state()
			for at := 1; ; at++ {
				if r.killAt(c.how, at) {
					if least := map[LandHow]int{LandChanges: 9, LandMerge: 10, LandBranch: 2}[c.how]; at < least {
						t.Errorf("only %d steps", at)
					}
					return
				}
				raw, err := os.ReadFile(r.path("keep/killed/record"))
				must(t, err)
				var l Landed
				must(t, json.Unmarshal(raw, &l))
				must(t, r.repo.UndoLanding(t.Context(), l, r.path("keep/killed")))
				same(t, "killed at step "+strconv.Itoa(at), before, r.state())
			}
		})
	}
}

// killAt lands in a process that is killed at a step. It returns true when there is no such step.
func (r *landRig) killAt(how LandHow, at int) bool {
	r.t.Helper()
	must(r.t, os.RemoveAll(r.path("keep/killed")))
	must(r.t, os.MkdirAll(r.path("keep/killed"), 0o700))
	cmd := exec.Command(os.Args[0], "-test.run=^TestALandingThatIsKilledIsBeforeOrCanBeUndone$")
	cmd.Env = []string{"TERMIC_LAND_AT=" + strconv.Itoa(at), "TERMIC_LAND_HOW=" + string(how), "TERMIC_LAND_DIR=" + r.dir, "TERMIC_LAND_BASE=" + string(r.base)}
	for k, v := range r.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	if !strings.Contains(err.Error(), "killed") {
		r.t.Fatalf("step %d: %v\n%s", at, err, out)
	}
	return false
}

func killedLanding(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv("TERMIC_LAND_AT"))
	must(t, err)
	g, err := Find(t.Context())
	must(t, err)
	dir := os.Getenv("TERMIC_LAND_DIR")
	keep := filepath.Join(dir, "keep/killed")
	repo, err := g.Open(t.Context(), filepath.Join(dir, "project"))
	must(t, err)
	p, err := repo.PlanLanding(t.Context(), LandOptions{Dir: filepath.Join(dir, "tasks/work"), ID: "t-1", How: LandHow(os.Getenv("TERMIC_LAND_HOW")),
		Base: OID(os.Getenv("TERMIC_LAND_BASE")), Label: "work", Branch: "landed", Subject: "merge it", Uncommitted: "the rest", Keep: keep})
	must(t, err)
	raw, err := json.Marshal(p.Landed)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(keep, "record"), raw, 0o600))
	landStep = func(string) {
		if at--; at == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // then the parent sees no kill
			select {}
		}
	}
	must(t, p.Apply(t.Context()))
	must(t, repo.UndoLanding(t.Context(), p.Landed, keep))
}
