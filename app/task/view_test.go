package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/git"
	"termic/app/gitview"
	"termic/app/store"
	"termic/registry/ident"
)

// What a person and an agent read of an import is ours: not a word of it is the cage's.
func TestTroubleHoldsNoWordOfTheCage(t *testing.T) {
	const said = "SAID-BY-THE-CAGE"
	for _, err := range []error{
		&gitview.RefusedError{Rule: gitview.RuleTree, Detail: said, Err: errors.New(said)},
		&gitview.RefusedError{Rule: gitview.RuleGitlink, Detail: said},
		fmt.Errorf("%s: %w", said, gitview.ErrBadClaim), fmt.Errorf("%s: %w", said, gitview.ErrNoBranch),
		fmt.Errorf("%s: %w", said, gitview.ErrNotTaken), fmt.Errorf("%s: %w", said, gitview.ErrNoAnswer), errors.New(said),
	} {
		if got := gitTrouble(err); got == "" || strings.Contains(got, said) {
			t.Errorf("%v: %q", err, got)
		}
		if got := unproved(err); strings.Contains(got, said) || !strings.Contains(got, "kept as it is") {
			t.Errorf("%v: %q", err, got)
		}
	}
	tip := git.OID(strings.Repeat("a", 40))
	for outcome, waits := range map[gitview.Outcome]bool{
		gitview.UpToDate: false, gitview.Moved: false, gitview.Behind: false,
		gitview.Diverged: true, gitview.Elsewhere: true, gitview.Busy: true, gitview.Staged: true,
	} {
		got := &gitview.Synced{Imported: gitview.Imported{Outcome: outcome, Notes: []gitview.Note{{Rule: gitview.NoteName, Path: said}}}, Tip: tip}
		if text := apart(got, "termic/x"); (text != "") != waits || strings.Contains(text, said) {
			t.Errorf("%s: %q", outcome, text)
		}
	}
	large := &gitview.Synced{Imported: gitview.Imported{Outcome: gitview.Moved, Notes: []gitview.Note{{Rule: gitview.NoteLarge, Path: said}}}}
	if text := apart(large, "termic/x"); text == "" || strings.Contains(text, said) {
		t.Errorf("a large file that is missing: %q", text)
	}
}

// The start of the app removes what a crash left half done, and nothing that may be the only copy of somebody's work.
func TestSweepLeavesEveryWholeDirectory(t *testing.T) {
	data, err := store.Open(filepath.Join(t.TempDir(), "data [1]*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() }) //nolint:errcheck // it was only read
	s := &Tasks{Tools: Tools{Store: data}, tasks: map[ident.Task]*task{}}
	top, err := data.Subdir(viewsDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{
		"t-1/git/refs/heads": true, "t-1/base/pack": true, "t-of-nobody/git/objects": true, "t-1/git.aside-X/refs": true,
		"t-1/git/x.half-y":    true, // the agent's
		"t-1/git.half-X/refs": false, "t-1/base.half-X": false, "t-1/termic-git-1/objects": false, ".gone-X/git": false, "incoming/termic-git-2": false,
	} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(top, name), 0o500); err != nil { // as an agent may leave it
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Lstat(filepath.Join(top, name)); (err == nil) != stays {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	if err := s.sweepViews(); err != nil {
		t.Error(err)
	}
}

// A private directory is removed in one step: a crash leaves all of it or nothing that looks like it.
func TestRemoveViewOfWhatIsNotThere(t *testing.T) {
	data, err := store.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() }) //nolint:errcheck // it was only read
	s := &Tasks{Tools: Tools{Store: data}, tasks: map[ident.Task]*task{}}
	id := ident.NewTask()
	if err := s.removeView(id); err != nil {
		t.Errorf("nothing: %v", err)
	}
	dir, err := data.Subdir(viewsDir, string(id), viewGit)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.removeView(id); err != nil || exists(dir) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(filepath.Dir(dir))); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestWhoeverWaitsForATurnCanGiveUp(t *testing.T) {
	turn := make(turn, 1)
	if !turn.take(t.Context()) {
		t.Fatal("a free turn was not to be had")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if turn.take(ctx) {
		t.Error("it was had twice")
	}
	turn.pass()
	if !turn.take(t.Context()) {
		t.Error("it was not given back")
	}
}
