package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// landAgain lands as options do, with what landed before as a task has it.
func (r *landRig) landAgain(how LandHow, before Landed) Landed {
	r.t.Helper()
	o := r.options(how)
	o.Earlier = EarlierLanding{Work: before.Tree, Result: before.Result}
	p, err := r.repo.PlanLanding(r.t.Context(), o)
	must(r.t, err)
	must(r.t, p.Apply(r.t.Context()))
	must(r.t, r.repo.KeepLanded(r.t.Context(), "t-1", p.Landed))
	return p.Landed
}

// Work goes on in lines that landed and were committed: the second landing brings what is new, and no conflict with itself.
func TestASecondLandingBeginsAtWhatLandedBefore(t *testing.T) {
	for _, how := range []LandHow{LandChanges, LandMerge} {
		for _, twin := range []bool{false, true} {
			name := string(how)
			if twin {
				name += ", twin that does not know of the first"
			}
			t.Run(name, func(t *testing.T) {
				r := newLandRig(t)
				r.in("a.txt", "one\nTWO\nthree\n")
				r.in("new.txt", "new\n")
				must(t, os.Remove(filepath.Join(r.task, "gone.txt")))
				first := r.landAgain(how, Landed{})
				r.sh(r.repo.Root, "add", "-A")
				r.try(r.repo.Root, "commit", "-qm", "landed") // a merge is committed already
				r.project("b.txt", "of the project\n")
				r.sh(r.repo.Root, "commit", "-qam", "goes on")
				r.sh(r.repo.Root, "gc", "-q", "--prune=now")
				r.in("a.txt", "one\nTWO, better\nthree\n")
				r.in("new.txt", "newer\n")
				if twin {
					first = Landed{}
				}
				second := r.landAgain(how, first)
				if conflicts := len(second.Conflicts) > 0; conflicts != twin {
					t.Fatalf("conflicts: %q", second.Conflicts)
				}
				if twin {
					return
				}
				for f, want := range map[string]string{"a.txt": "one\nTWO, better\nthree\n", "new.txt": "newer\n", "b.txt": "of the project\n"} {
					if got, err := os.ReadFile(filepath.Join(r.repo.Root, f)); err != nil || string(got) != want {
						t.Errorf("%s: %q %v", f, got, err)
					}
				}
				if _, err := os.Stat(filepath.Join(r.repo.Root, "gone.txt")); err == nil {
					t.Error("what the task removed is back")
				}
				if n := strings.Count(r.sh(r.repo.Root, "for-each-ref", landedPrefix("t-1")), "\n"); n > 1 {
					t.Errorf("%d trees are kept", n+1)
				}
			})
		}
	}
}

// What the person dropped after it landed lands again: it is not taken for a wish of theirs that it go.
func TestWhatWasDroppedAfterItLandedLandsAgain(t *testing.T) {
	for name, drop := range map[string]func(r *landRig){
		"before it was committed": func(r *landRig) {
			r.sh(r.repo.Root, "checkout", "-q", "--", ".")
			r.sh(r.repo.Root, "clean", "-qfd")
		},
		"by a revert": func(r *landRig) {
			r.sh(r.repo.Root, "add", "-A")
			r.sh(r.repo.Root, "commit", "-qm", "landed")
			r.sh(r.repo.Root, "revert", "--no-edit", "HEAD")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newLandRig(t)
			r.in("a.txt", "one\nTWO\nthree\n")
			r.in("new.txt", "new\n")
			first := r.landAgain(LandChanges, Landed{})
			drop(r)
			r.in("b.txt", "more\n")
			r.landAgain(LandChanges, first)
			for f, want := range map[string]string{"a.txt": "one\nTWO\nthree\n", "new.txt": "new\n", "b.txt": "more\n"} {
				if got, err := os.ReadFile(filepath.Join(r.repo.Root, f)); err != nil || string(got) != want {
					t.Errorf("%s: %q %v", f, got, err)
				}
			}
		})
	}
}

// After a merge with conflicts the person may well take git's own way out.
func TestGitMergeAbortWorksAfterAMergeWithConflicts(t *testing.T) {
	r := newLandRig(t)
	r.in("a.txt", "theirs\n")
	r.in("b.txt", "theirs, without a conflict\n")
	r.in("new/file.txt", "new\n")
	r.project("a.txt", "mine\n")
	r.sh(r.repo.Root, "commit", "-qam", "mine")
	before := r.state()
	l, _ := r.land(LandMerge)
	if len(l.Conflicts) != 1 {
		t.Fatalf("conflicts: %q", l.Conflicts)
	}
	if got := r.sh(r.repo.Root, "diff-files", "--name-only"); got != "a.txt\na.txt" { // once for its conflict
		t.Errorf("the index does not know the files that it wrote: %q", got)
	}
	r.sh(r.repo.Root, "merge", "--abort")
	after := r.state()
	for _, m := range []map[string]string{before, after} {
		for path := range m {
			if strings.HasPrefix(path, ".git") && path != ".git/HEAD" && !strings.HasPrefix(path, ".git/refs/heads") { // git's own notes of it
				delete(m, path)
			}
		}
	}
	same(t, "after git merge --abort", before, after)
	if got := r.sh(r.repo.Root, "status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
}
