package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAnUnfinishedOperationOfEitherCheckoutIsNamed(t *testing.T) {
	for _, how := range []LandHow{LandChanges, LandMerge} {
		for _, end := range []string{"task", "project"} {
			t.Run(string(how)+" while the "+end+" merges", func(t *testing.T) {
				r := newLandRig(t)
				r.work()
				if _, err := r.repo.PlanLanding(t.Context(), r.options(how)); err != nil {
					t.Fatalf("before: %v", err)
				}
				dir, want := r.task, "cherry-pick"
				if end == "project" {
					dir, want = r.repo.Root, "merge"
				}
				name := map[string]string{"cherry-pick": "CHERRY_PICK_HEAD", "merge": "MERGE_HEAD"}[want]
				r.write(filepath.Join(r.sh(dir, "rev-parse", "--absolute-git-dir"), name), string(r.base)+"\n")
				_, err := r.repo.PlanLanding(t.Context(), r.options(how))
				var unfinished *UnfinishedError
				if !errors.As(err, &unfinished) || !errors.Is(err, ErrUnfinished) {
					t.Fatalf("got %v", err)
				}
				if unfinished.Operation != want || unfinished.Dir != realPath(dir) {
					t.Errorf("got %s in %s, want %s in %s", unfinished.Operation, unfinished.Dir, want, dir)
				}
			})
		}
	}
}

func TestTheSameUncommittedWorkIsMergedOnce(t *testing.T) {
	r := newLandRig(t)
	r.work()
	l, keep := r.land(LandMerge)
	for _, how := range []LandHow{LandMerge, LandChanges} {
		if _, err := r.repo.PlanLanding(t.Context(), r.options(how)); !errors.Is(err, ErrNothing) {
			t.Errorf("%s again: %v", how, err)
		}
	}
	if now := r.oid(r.repo.Root, "HEAD"); now != l.NewHead {
		t.Errorf("HEAD is %s, want %s", now, l.NewHead)
	}
	must(t, r.repo.UndoLanding(t.Context(), l, keep))
	r.in("a.txt", "more\n")
	if _, err := r.repo.PlanLanding(t.Context(), r.options(LandMerge)); err != nil {
		t.Errorf("after undoing: %v", err)
	}
}

func TestACommitOfASubmoduleIsShownAndLandsOrIsLeftOut(t *testing.T) {
	r := newLandRig(t)
	r.submodule(r.task, "deps/lib")
	r.sh(r.task, "add", "deps/lib")
	r.sh(r.task, "rm", "-q", "--cached", ".gitmodules")
	must(t, os.Remove(filepath.Join(r.task, ".gitmodules")))
	r.sh(r.task, "commit", "-q", "-m", "a submodule")

	d, err := r.repo.Diff(t.Context(), r.task, r.base, DiffOptions{})
	must(t, err)
	if !slices.ContainsFunc(d.Files, func(f FileChange) bool { return f.Path == "deps/lib" && f.Kind == Added }) {
		t.Errorf("the diff does not list it: %+v", d.Files)
	}

	var left *LeftOutError
	_, err = r.repo.PlanLanding(t.Context(), r.options(LandChanges))
	if !errors.As(err, &left) || !errors.Is(err, ErrNothing) || !slices.Equal(left.Paths, []Path{"deps/lib"}) {
		t.Errorf("nothing else to land: %v", err)
	}
	r.in("a.txt", "changed\n")
	p, err := r.repo.PlanLanding(t.Context(), r.options(LandChanges))
	must(t, err)
	if !slices.Equal(p.Landed.LeftOut, []Path{"deps/lib"}) || len(p.Changes) != 1 {
		t.Errorf("as changes: %d changes, left out %q", len(p.Changes), p.Landed.LeftOut)
	}
	p, err = r.repo.PlanLanding(t.Context(), r.options(LandMerge))
	must(t, err)
	if len(p.Landed.LeftOut) > 0 || len(p.Changes) != 2 {
		t.Errorf("as a merge: %d changes, left out %q", len(p.Changes), p.Landed.LeftOut)
	}
}
