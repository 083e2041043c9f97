//go:build unix

package gitview

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"termic/app/git"
)

func TestBothSidesCommitWithDirtyFiles(t *testing.T) {
	r := newRig(t)
	r.commit("a.txt", "agent\n")
	if got := r.sync(); got.Outcome != Moved || got.Given != "" {
		t.Errorf("%+v", got)
	}
	r.write(r.file("b.txt"), "dirty\n")
	r.write(r.file("a.txt"), "person\n")
	r.hostAt(r.task.Dir, "commit", "-q", "-m", "of the person", "--", "a.txt")
	person := r.oid("task")
	if got := r.sync(); got.Outcome != UpToDate || got.Given != person {
		t.Errorf("%+v", got)
	}
	if host, cage := r.status(); host != " M b.txt" || cage != " M b.txt" {
		t.Errorf("host:\n%s\ncage:\n%s", host, cage)
	}
	if r.cageOID("HEAD") != person {
		t.Error("the cage is not at the person's commit")
	}
	r.hostAt(r.task.Dir, "commit", "-q", "--amend", "--allow-empty", "-m", "again")
	r.gc() // the offered commit is nobody's but the cage's now
	r.intact()

	// Both moved: the agent's branch stays, and the agent can see the person's commit.
	r.commit("d/c.txt", "agent\n")
	agent := r.cageOID("HEAD")
	if got := r.sync(); got.Outcome != Diverged || got.Given != "" {
		t.Errorf("%+v", got)
	}
	if r.cageOID("HEAD") != agent || r.cageOID("refs/remotes/project/task") != r.oid("task") {
		t.Error("the cage lost its commit or does not see the person's")
	}
	if got := r.sync(); got.Outcome != Diverged || got.Commits != 0 {
		t.Errorf("once more: %+v", got)
	}
	r.cage("merge", "-q", "-m", "merge", "-s", "ours", "refs/remotes/project/task")
	if got := r.sync(); got.Outcome != Moved || got.Rewritten {
		t.Errorf("%+v", got)
	}
	if host, cage := r.status(); host != cage {
		t.Errorf("host:\n%s\ncage:\n%s", host, cage)
	}
	if got := r.sync(); got.Outcome != UpToDate || got.Given != "" {
		t.Errorf("%+v", got)
	}
}

// The person takes the agent's commits and adds one before the next sync: the host has everything, and the cage follows.
func TestHostThatIsAheadIsFollowed(t *testing.T) {
	r := newRig(t)
	tip := r.commit("a.txt", "agent\n")
	r.importClaim(Claim{Keep: []git.OID{tip}})
	r.hostAt(r.task.Dir, "reset", "-q", "--soft", string(tip))
	r.hostAt(r.task.Dir, "read-tree", "-i", "-m", "main", "task")
	r.hostAt(r.task.Dir, "commit", "-q", "--allow-empty", "-m", "of the person")
	if got := r.sync(); got.Outcome != Behind || got.Given != r.oid("task") {
		t.Errorf("%+v", got)
	}
	if r.cageOID("HEAD") != r.oid("task") {
		t.Error("the cage did not follow")
	}
	if got := r.sync(); got.Outcome != UpToDate {
		t.Errorf("%+v", got)
	}
}

// The index is only carried where the branch is checked out, and the branch goes back where it cannot be.
func TestCagesThatCannotTakeThePersonsCommit(t *testing.T) {
	person := func(r *rig) {
		r.write(r.file("a.txt"), "person\n")
		r.hostAt(r.task.Dir, "commit", "-q", "-m", "of the person", "--", "a.txt")
	}
	for name, c := range map[string]struct {
		do    func(r *rig)
		fail  string // the git command that the cage refuses to run
		taken bool
	}{
		"nothing is in the way": {taken: true},
		"another branch is checked out": {do: func(r *rig) {
			r.cage("switch", "-q", "-c", "side")
		}, taken: true},
		"the agent staged the same file": {do: func(r *rig) {
			r.write(r.file("a.txt"), "agent\n")
			r.cage("add", "a.txt")
			r.write(r.file("a.txt"), "person\n")
		}},
		"the index cannot be written": {fail: "read-tree -i"},
		"the branch cannot be moved":  {fail: "update-ref -m from the project refs/heads/task"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			person(r)
			if c.do != nil {
				c.do(r)
			}
			before, index := r.cageOID("refs/heads/task"), r.cage("ls-files", "-s")
			run := func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
				if c.fail != "" && strings.HasPrefix(strings.Join(argv[1:], " "), c.fail) {
					return errors.New("exit 128")
				}
				return r.inCage(ctx, argv, stdin, stdout)
			}
			got, err := r.task.Sync(t.Context(), run, Limits{})
			if c.taken != (err == nil) || err != nil && !errors.Is(err, ErrNotTaken) {
				t.Fatalf("%+v, %v", got, err)
			}
			if moved := r.cageOID("refs/heads/task") != before; moved != c.taken {
				t.Errorf("the branch moved: %v", moved)
			}
			if c.taken {
				if head := r.cage("symbolic-ref", "HEAD"); (r.cage("ls-files", "-s") != index) != (head == "refs/heads/task") {
					t.Errorf("at %s the index changed: %v", head, r.cage("ls-files", "-s") != index)
				}
				return
			}
			if r.cage("ls-files", "-s") != index {
				t.Error("the index changed")
			}
			if r.cageOID("refs/remotes/project/task") != r.oid("task") {
				t.Error("the agent does not see the commit")
			}
		})
	}
}

func TestSyncWithCagesThatLie(t *testing.T) {
	r := newRig(t)
	tip := r.commit("a.txt", "agent\n")
	answer := func(word, with string) Runner {
		return func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
			if argv[1] != word {
				return r.inCage(ctx, argv, stdin, stdout)
			}
			_, err := io.WriteString(stdout, with)
			return err
		}
	}
	for name, c := range map[string]struct {
		run  Runner
		lim  Limits
		want error
	}{
		"no branch":             {answer("for-each-ref", ""), Limits{}, ErrNoBranch},
		"a word for an id":      {answer("for-each-ref", "HEAD\n"), Limits{}, ErrBadClaim},
		"an option for an id":   {answer("for-each-ref", "--all\n"), Limits{}, ErrBadClaim},
		"two ids":               {answer("for-each-ref", string(tip)+"\n"+string(r.oid("main"))+"\n"), Limits{}, ErrNoBranch},
		"an id that is nowhere": {answer("for-each-ref", strings.Repeat("a", 40)+"\n"), Limits{}, nil},
		"an answer that never ends": {func(ctx context.Context, argv []string, _ io.Reader, stdout io.Writer) error {
			_, err := io.Copy(stdout, endless{})
			return err
		}, Limits{}, ErrBadClaim},
		"no answer": {func(ctx context.Context, _ []string, _ io.Reader, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}, Limits{Time: 200e6}, ErrNoAnswer},
		"junk for a pack": {answer("pack-objects", "junk"), Limits{}, ErrRefused},
		"a pack that never ends": {func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
			if argv[1] != "pack-objects" {
				return r.inCage(ctx, argv, stdin, stdout)
			}
			_, err := io.Copy(stdout, endless{})
			return err
		}, Limits{Pack: 1 << 20}, ErrRefused},
		"a cage that is gone": {func(context.Context, []string, io.Reader, io.Writer) error { return io.ErrClosedPipe }, Limits{}, io.ErrClosedPipe},
	} {
		before := r.host("for-each-ref")
		if _, err := r.task.Sync(t.Context(), c.run, c.lim); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if r.host("for-each-ref") != before {
			t.Errorf("%s: the project changed", name)
		}
	}
	if got := r.sync(); got.Outcome != Moved || r.oid("task") != tip {
		t.Errorf("the twin that tells the truth: %+v", got)
	}
}

// privateWork is what an agent may have beside its branch; it returns commits by what they are.
func privateWork(r *rig) map[string]git.OID {
	is := map[string]git.OID{"the branch": r.commit("a.txt", "1\n")}
	for _, text := range []string{"stash one\n", "stash two\n"} {
		r.write(r.file("a.txt"), text)
		r.cage("stash", "-q")
	}
	is["the last stash"], is["the stash before"] = r.cageOID("stash"), r.cageOID("stash@{1}")
	r.cage("switch", "-q", "-c", "side/branch")
	is["another branch"] = r.commit("side.txt", "x\n")
	r.cage("tag", "-a", "-m", "x", "mine")
	is["a tag"] = r.cageOID("mine")
	r.cage("notes", "add", "-m", "noted")
	is["notes"] = r.cageOID("refs/notes/commits")
	r.cage("switch", "-q", "--detach")
	is["a detached commit"] = r.commit("detached.txt", "x\n")
	r.write(r.file("staged.txt"), "staged\n")
	r.cage("add", "staged.txt")
	r.write(r.file("staged.txt"), "changed since\n")
	r.write(r.file("untracked.txt"), "x\n")
	return is
}

func TestKeepTakesEverything(t *testing.T) {
	r := newRig(t)
	is := privateWork(r)
	e, err := r.task.Keep(t.Context(), r.inCage, Limits{})
	must(t, err)
	if now, err := Fingerprint(r.private); err != nil || now != e.Print {
		t.Errorf("the directory is not as it was kept: %v", err)
	}
	if e.Synced.Outcome != Moved || r.oid("task") != is["the branch"] {
		t.Errorf("%+v", e.Synced)
	}
	refs := r.cage("for-each-ref", "--format=%(refname) %(objectname)")
	status := r.cage("status", "--porcelain")
	must(t, os.RemoveAll(r.private))
	r.gc()
	for what, oid := range is {
		if out, err := r.run(r.project, nil, "", "cat-file", "-e", string(oid)); err != nil {
			t.Errorf("%s is not kept: %s", what, out)
		}
	}
	if got := r.host("show", string(e.Kept.Index)+":staged.txt"); got != "staged" {
		t.Errorf("what was staged: %q", got)
	}
	r.create(Options{BaseBranch: "main", Kept: &e.Kept})
	r.intact()
	if got := r.cage("for-each-ref", "--format=%(refname) %(objectname)"); got != refs {
		t.Errorf("refs were\n%s\nand are\n%s", refs, got)
	}
	if got := r.cageOID("HEAD"); got != is["a detached commit"] || r.cage("rev-parse", "--symbolic-full-name", "HEAD") != "HEAD" {
		t.Errorf("HEAD is %s", got)
	}
	if r.cageOID("stash@{1}") != is["the stash before"] || r.cageOID("stash@{0}") != is["the last stash"] {
		t.Error("the stashes are not as they were:\n" + r.cage("stash", "list"))
	}
	if got := r.cage("status", "--porcelain"); got != status {
		t.Errorf("status was\n%s\nand is\n%s", status, got)
	}
	if got := r.cage("show", ":staged.txt"); got != "staged" {
		t.Errorf("staged is %q", got)
	}
	if got := r.sync(); got.Outcome != UpToDate {
		t.Errorf("%+v", got)
	}
}

// The agent's branch may not be the host's when the task is archived: then it is brought back as it was.
func TestKeepOfABranchThatHasDiverged(t *testing.T) {
	r := newRig(t)
	r.hostAt(r.task.Dir, "commit", "-q", "--allow-empty", "-m", "of the person")
	agent := r.commit("a.txt", "agent\n")
	e, err := r.task.Keep(t.Context(), r.inCage, Limits{})
	must(t, err)
	if e.Synced.Outcome != Diverged || e.Kept.Branch != agent {
		t.Errorf("%+v", e)
	}
	must(t, os.RemoveAll(r.private))
	r.gc()
	r.create(Options{BaseBranch: "main", Kept: &e.Kept})
	if r.cageOID("task") != agent || r.cageOID("refs/remotes/project/task") != r.oid("task") {
		t.Error("the agent's branch is not where it was, or the person's cannot be seen")
	}
	if got := r.sync(); got.Outcome != Diverged {
		t.Errorf("%+v", got)
	}
	r.intact()
}

func TestKeepRefuses(t *testing.T) {
	r := newRig(t)
	r.commit("a.txt", "1\n")
	n := 0
	restless := func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
		if argv[1] == "worktree" {
			n++
			r.cage("update-ref", "refs/heads/other", "HEAD")
			r.write(r.private+"/packed-refs.lock", strings.Repeat("x", n))
			r.write(r.private+"/refs/heads/n", strings.Repeat("x", n))
			defer os.Remove(r.private + "/refs/heads/n") //nolint:errcheck // for the next listing
			r.write(r.private+"/logs/refs/stash", strings.Repeat("x", n))
		}
		return r.inCage(ctx, argv, stdin, stdout)
	}
	if _, err := r.task.Keep(t.Context(), restless, Limits{}); !errors.Is(err, ErrRestless) {
		t.Errorf("an agent that goes on: %v", err)
	}
	if n != keepRounds {
		t.Errorf("%d rounds", n)
	}
	must(t, os.Remove(r.private+"/logs/refs/stash"))
	if _, err := r.task.Keep(t.Context(), r.inCage, Limits{}); err != nil {
		t.Errorf("the twin that rests: %v", err)
	}
}

func TestKeptThatKeepDidNotReturn(t *testing.T) {
	r := newRig(t)
	is := privateWork(r)
	e, err := r.task.Keep(t.Context(), r.inCage, Limits{})
	must(t, err)
	must(t, os.RemoveAll(r.private))
	unkept := r.projectObject("commit", "tree "+r.host("rev-parse", "main^{tree}")+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n")
	for name, change := range map[string]func(k *Kept){
		"a branch that nothing keeps": func(k *Kept) { k.Branch = unkept },
		"a HEAD that nothing keeps":   func(k *Kept) { k.Commit = unkept },
		"a ref that nothing keeps":    func(k *Kept) { k.Refs = append(k.Refs, KeptRef{"refs/heads/x", unkept}) },
		"a stash that nothing keeps":  func(k *Kept) { k.Stashes = append(k.Stashes, KeptStash{OID: unkept}) },
		"a line break in a ref": func(k *Kept) {
			k.Refs = append(k.Refs, KeptRef{"refs/heads/x\n" + string(unkept) + " refs/heads/y", is["a tag"]})
		},
		"a ref that climbs": func(k *Kept) { k.Refs = append(k.Refs, KeptRef{"refs/heads/../../x", is["a tag"]}) },
		"the task's branch": func(k *Kept) { k.Refs = append(k.Refs, KeptRef{"refs/heads/task", is["a tag"]}) },
	} {
		k := e.Kept
		k.Refs, k.Stashes = slices.Clone(k.Refs), slices.Clone(k.Stashes)
		change(&k)
		if _, err := r.task.Create(t.Context(), r.private, Options{Kept: &k}); !errors.Is(err, ErrBadTask) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.task.Create(t.Context(), r.private, Options{Kept: &e.Kept}); err != nil {
		t.Errorf("the twin: %v", err)
	}
}
