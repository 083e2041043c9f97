//go:build unix

package gitview

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/git"
)

// packed runs the pack command of a claim in the cage.
func (r *rig) packed(c Claim) []byte {
	r.t.Helper()
	cmd, err := r.task.PackCommand(r.t.Context(), c)
	must(r.t, err)
	run := exec.Command(cmd.Args[0], cmd.Args[1:]...)
	run.Dir, run.Env, run.Stdin = r.task.Dir, append([]string{"PATH=" + os.Getenv("PATH")}, r.cageEnv()...), strings.NewReader(cmd.Stdin)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		r.t.Fatalf("%q: %v\n%s", cmd.Args, err, &stderr)
	}
	return out
}

func (r *rig) importClaim(c Claim) *Imported {
	r.t.Helper()
	got, err := r.task.Import(r.t.Context(), bytes.NewReader(r.packed(c)), c, Limits{})
	must(r.t, err)
	return got
}

func (r *rig) importTip(tip git.OID) *Imported { r.t.Helper(); return r.importClaim(Claim{Tip: tip}) }

// status is what both views say, without the branch.
func (r *rig) status() (host, cage string) {
	r.t.Helper()
	return r.hostAt(r.task.Dir, "status", "--porcelain"), r.cage("status", "--porcelain")
}

func TestImportBringsBranchAndIndex(t *testing.T) {
	r := newRig(t)
	r.write(r.file("b.txt"), "dirty\n")
	r.write(r.file("untracked"), "x\n")
	r.cage("add", "b.txt")
	r.hostAt(r.task.Dir, "add", "b.txt") // the person staged it too
	old := r.oid("task")
	r.write(r.file("a.txt"), "agent\n")
	r.cage("commit", "-q", "-m", "one", "--", "a.txt")
	r.write(r.file("d/new.txt"), "agent\n")
	r.cage("add", "d/new.txt")
	r.cage("commit", "-q", "-m", "two", "--", "d/new.txt")
	tip := r.cageOID("HEAD")
	temp := t.TempDir()
	claim := Claim{Tip: tip}
	got, err := r.task.Import(t.Context(), bytes.NewReader(r.packed(claim)), claim, Limits{Temp: temp})
	must(t, err)
	if got.Outcome != Moved || got.Old != old || got.Commits != 2 || got.Rewritten || len(got.Notes) != 0 {
		t.Errorf("%+v", got)
	}
	r.gc()
	r.intact()
	host, cage := r.status()
	if want := "M  b.txt\n?? untracked"; host != want || cage != want {
		t.Errorf("host:\n%s\ncage:\n%s", host, cage)
	}
	if r.oid("task") != tip || r.hostAt(r.task.Dir, "rev-parse", "HEAD") != string(tip) {
		t.Error("the branch did not follow")
	}
	if again := r.importTip(tip); again.Outcome != UpToDate || again.Commits != 0 {
		t.Errorf("once more: %+v", again)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("the quarantine is still there: %v", left)
	}
}

// A rewritten branch may replace what the app itself put there, with everything of before still reachable for the
// agent's other branches; it may not replace what a person put there.
func TestRewrittenBranches(t *testing.T) {
	r := newRig(t)
	first := r.commit("a.txt", "1\n")
	r.importTip(first)
	r.cage("branch", "side")
	r.gc()
	r.cage("gc", "-q", "--prune=now") // drops what the project has
	r.write(r.file("a.txt"), "2\n")
	r.cage("commit", "-q", "-a", "--amend", "-m", "rewritten")
	second := r.cageOID("HEAD")
	if got := r.importTip(second); got.Outcome != Moved || !got.Rewritten || got.Old != first {
		t.Errorf("%+v", got)
	}
	r.gc()
	r.intact() // the twin without a pin for each tip: "bad object refs/heads/side"
	if r.oid("task") != second || r.cageOID("side") != first {
		t.Error("a branch is not where it was")
	}

	r.hostAt(r.task.Dir, "commit", "-q", "--allow-empty", "-m", "of the person")
	person := r.oid("task")
	third := r.commit("b.txt", "3\n")
	got := r.importTip(third)
	if got.Outcome != Diverged || r.oid("task") != person {
		t.Errorf("%+v, branch at %s", got, r.oid("task"))
	}
	r.gc()
	r.intact()
	if r.host("cat-file", "-t", string(third)) != "commit" {
		t.Error("a diverged commit is not kept")
	}
	if got := r.importTip(second); got.Outcome != Behind || r.oid("task") != person {
		t.Errorf("%+v", got)
	}
}

func TestBranchWaitsForThePerson(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *rig)
		want Outcome
	}{
		"nothing":               {func(r *rig) {}, Moved},
		"staged something else": {func(r *rig) { r.write(r.file("b.txt"), "p\n"); r.hostAt(r.task.Dir, "add", "b.txt") }, Moved},
		"staged the same file":  {func(r *rig) { r.write(r.file("a.txt"), "person\n"); r.hostAt(r.task.Dir, "add", "a.txt") }, Staged},
		"another branch":        {func(r *rig) { r.hostAt(r.task.Dir, "switch", "-q", "-c", "other") }, Elsewhere},
		"detached":              {func(r *rig) { r.hostAt(r.task.Dir, "checkout", "-q", "--detach") }, Elsewhere},
		"checked out once more": {func(r *rig) { r.host("worktree", "add", "-q", "-f", filepath.Join(r.top, "w2"), "task") }, Elsewhere},
		"in the middle of a merge": {func(r *rig) {
			r.host("switch", "-q", "-c", "m")
			r.host("commit", "-q", "--allow-empty", "-m", "m")
			r.hostAt(r.task.Dir, "merge", "-q", "--no-ff", "--no-commit", "m")
		}, Busy},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tip := r.commit("a.txt", "agent\n")
			c.do(r)
			old := r.oid("task")
			index := r.hostAt(r.task.Dir, "ls-files", "-s")
			if got := r.importTip(tip); got.Outcome != c.want {
				t.Errorf("%+v", got)
			}
			if moved := r.oid("task") != old; moved != (c.want == Moved) {
				t.Errorf("moved: %v", moved)
			}
			if c.want != Moved && r.hostAt(r.task.Dir, "ls-files", "-s") != index {
				t.Error("the person's index changed")
			}
			r.gc()
			if r.host("cat-file", "-t", string(tip)) != "commit" {
				t.Error("the commit is not kept")
			}
		})
	}
}

// A crash between branch and index, and an index that the person's git holds, leave work that is done later.
func TestUnfinishedImportIsFinished(t *testing.T) {
	r := newRig(t)
	old := r.oid("task")
	tip := r.commit("a.txt", "agent\n")
	r.importClaim(Claim{Keep: []git.OID{tip}})
	_, _, _, _, moving := r.task.refs()
	r.host("update-ref", "refs/heads/task", string(tip), string(old)) // all that a crash had time for
	r.host("update-ref", moving, string(old))
	if host, _ := r.status(); host == "" {
		t.Fatal("the crash shows in no status: the test tries nothing")
	}
	must(t, r.task.Finish(t.Context()))
	if host, cage := r.status(); host != "" || cage != "" {
		t.Errorf("host:\n%s\ncage:\n%s", host, cage)
	}
	if out := r.host("for-each-ref", moving); out != "" {
		t.Error(out)
	}
	must(t, r.task.Finish(t.Context()))
}

func TestClaimsAreNotBelieved(t *testing.T) {
	r := newRig(t)
	tip := r.commit("a.txt", "agent\n")
	good := r.packed(Claim{Tip: tip})
	blob, tree := r.cageOID("HEAD:a.txt"), r.cageOID("HEAD^{tree}")
	for name, c := range map[string]struct {
		claim Claim
		pack  []byte
		want  error
		rule  Rule
	}{
		"nothing claimed":             {Claim{}, good, ErrBadClaim, ""},
		"an option":                   {Claim{Tip: "--all"}, good, ErrBadClaim, ""},
		"a name":                      {Claim{Tip: "HEAD"}, good, ErrBadClaim, ""},
		"a line break":                {Claim{Tip: tip + "\n"}, good, ErrBadClaim, ""},
		"upper case":                  {Claim{Tip: git.OID(strings.ToUpper(string(tip)))}, good, ErrBadClaim, ""},
		"zeros":                       {Claim{Tip: git.OID(strings.Repeat("0", 40))}, good, ErrBadClaim, ""},
		"64 digits in a sha1 project": {Claim{Tip: git.OID(strings.Repeat("a", 64))}, good, ErrBadClaim, ""},
		"too many":                    {Claim{Keep: make([]git.OID, maxKeep+1)}, good, ErrBadClaim, ""},
		"a commit that is nowhere":    {Claim{Tip: git.OID(strings.Repeat("a", 40))}, good, ErrRefused, RuleClaim},
		"a blob":                      {Claim{Tip: blob}, good, ErrRefused, RuleClaim},
		"a tree":                      {Claim{Tip: tree}, good, ErrRefused, RuleClaim},
		"a blob to keep":              {Claim{Tip: tip, Keep: []git.OID{blob}}, good, ErrRefused, RuleClaim},
		"no pack":                     {Claim{Tip: tip}, nil, ErrRefused, RulePack},
		"half a pack":                 {Claim{Tip: tip}, good[:len(good)/2], ErrRefused, RulePack},
		"junk behind the pack":        {Claim{Tip: tip}, append(slices.Clone(good), make([]byte, 5000)...), ErrRefused, RulePack},
		"a flipped bit":               {Claim{Tip: tip}, flipped(good), ErrRefused, RulePack},
		"a pack without the commit":   {Claim{Tip: tip}, r.packed(Claim{Tip: r.oid("main")}), ErrRefused, RuleClaim},
	} {
		before := r.host("for-each-ref") + r.host("count-objects", "-v")
		_, err := r.task.Import(t.Context(), bytes.NewReader(c.pack), c.claim, Limits{})
		var refused *RefusedError
		if !errors.Is(err, c.want) || errors.As(err, &refused) && refused.Rule != c.rule {
			t.Errorf("%s: %v", name, err)
		}
		if r.host("for-each-ref")+r.host("count-objects", "-v") != before {
			t.Errorf("%s: the project changed", name)
		}
	}
	if got, err := r.task.Import(t.Context(), bytes.NewReader(good), Claim{Tip: tip}, Limits{}); err != nil || got.Outcome != Moved {
		t.Errorf("the twin with nothing wrong: %+v, %v", got, err)
	}
}

func flipped(pack []byte) []byte {
	pack = slices.Clone(pack)
	pack[len(pack)/2] ^= 0x10
	return pack
}

// The other end of the pipe that sends nothing, and one that never stops.
func TestSourcesThatHangOrNeverEnd(t *testing.T) {
	r := newRig(t)
	tip := r.commit("a.txt", "agent\n")
	reader, writer := io.Pipe()
	defer writer.Close()
	_, err := r.task.Import(t.Context(), reader, Claim{Tip: tip}, Limits{Time: 200e6})
	if !errors.Is(err, ErrNoAnswer) {
		t.Errorf("silence: %v", err)
	}
	if _, err := writer.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the source was left open: %v", err)
	}
	var refused *RefusedError
	_, err = r.task.Import(t.Context(), endless{}, Claim{Tip: tip}, Limits{Pack: 1 << 20})
	if !errors.As(err, &refused) || refused.Rule != RuleSize {
		t.Errorf("endless: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
