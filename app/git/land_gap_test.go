package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newGapRig is a project in which a landing changes a.txt and b.txt, removes gone.txt and brings new/n.txt.
func newGapRig(t *testing.T) *landRig {
	r := newLandRig(t)
	r.in("a.txt", "one\nTWO\nthree\n")
	r.in("b.txt", "one\nzwei\nthree\n")
	r.in("new/n.txt", "new\n")
	must(t, os.Remove(filepath.Join(r.task, "gone.txt")))
	return r
}

// at does something once, just before a step is taken.
func at(t *testing.T, do map[string]func()) {
	t.Helper()
	landStep = func(name string) {
		if f := do[name]; f != nil {
			delete(do, name)
			f()
		}
	}
	t.Cleanup(func() { landStep = nil })
}

// withoutNames takes from the file system what it can do with names.
func withoutNames(t *testing.T, links bool) {
	t.Helper()
	was, wasNew, wasLink := exchangeNames, renameToNew, linkToNew
	t.Cleanup(func() { exchangeNames, renameToNew, linkToNew = was, wasNew, wasLink })
	exchangeNames = func(*os.File, string, string) error { return unix.EINVAL }
	renameToNew = func(*os.File, string, string) error { return unix.EINVAL }
	if !links {
		linkToNew = func(*os.File, string, string) error { return unix.EPERM }
	}
}

// strangers are what somebody may do to a file of the project.
var strangers = map[string]func(r *landRig, path string){
	"writes into it": func(r *landRig, path string) { r.project(path, "a stranger's\n") },
	"saves it anew": func(r *landRig, path string) {
		r.project(path+"~", "a stranger's\n")
		must(r.t, os.Rename(filepath.Join(r.repo.Root, path+"~"), filepath.Join(r.repo.Root, path)))
	},
	"writes as many bytes and sets the time back": func(r *landRig, path string) {
		full := filepath.Join(r.repo.Root, path)
		info, err := os.Lstat(full)
		if err != nil {
			r.project(path, "a stranger's\n")
			return
		}
		r.project(path, strings.Repeat("x", int(info.Size())))
		must(r.t, os.Chtimes(full, time.Time{}, info.ModTime()))
	},
	"makes a link of it": func(r *landRig, path string) {
		full := filepath.Join(r.repo.Root, path)
		os.Remove(full)
		must(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(r.t, os.Symlink("somewhere", full))
	},
	"makes a directory of it": func(r *landRig, path string) {
		os.Remove(filepath.Join(r.repo.Root, path))
		r.project(path+"/in", "a stranger's\n")
	},
	"makes a FIFO of it": func(r *landRig, path string) {
		full := filepath.Join(r.repo.Root, path)
		os.Remove(full)
		must(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(r.t, unix.Mkfifo(full, 0o600))
	},
	"changes its permissions": func(r *landRig, path string) {
		full := filepath.Join(r.repo.Root, path)
		if !exists(full) {
			r.project(path, "a stranger's\n")
		}
		must(r.t, os.Chmod(full, 0o604))
	},
}

// gaps are the steps before which somebody may come, after which a file is replaced, by what is done with it.
var gaps = map[string]struct {
	path       string
	land, undo []string
}{
	"a replaced file": {path: "a.txt", land: []string{"write a.txt", "exchange a.txt"}, undo: []string{"undo a.txt", "exchange a.txt"}},
	"a new file":      {path: "new/n.txt", land: []string{"write new/n.txt", "place new/n.txt"}, undo: []string{"undo new/n.txt"}},
	"a removed file":  {path: "gone.txt", land: []string{"remove gone.txt"}, undo: []string{"undo gone.txt", "place gone.txt"}},
}

// theirs keeps of two states what is at a path and below it, rest everything else.
func theirs(state map[string]string, path string) (own, rest map[string]string) {
	own, rest = map[string]string{}, map[string]string{}
	for p, v := range state {
		if p == path || strings.HasPrefix(p, path+"/") {
			own[p] = v
		} else if p != filepath.Dir(path) || p == "." {
			rest[p] = v
		}
	}
	return own, rest
}

// TestWhoWritesWhileALandingReplacesLosesNothing changes a file between the last look at it and its replacement, in
// landings and in undoings, where names can be exchanged and where they cannot.
func TestWhoWritesWhileALandingReplacesLosesNothing(t *testing.T) {
	for _, exchanged := range []bool{true, false} {
		for kind, g := range gaps {
			for name, do := range strangers {
				few := name != "writes into it" && name != "makes a directory of it" && name != "changes its permissions"
				if few && (!exchanged || g.path != "a.txt") {
					continue // what is compared is the same
				}
				t.Run(fmt.Sprintf("%s, %s, exchange %v", kind, name, exchanged), func(t *testing.T) {
					if !exchanged {
						withoutNames(t, true)
					}
					r := newGapRig(t)
					for _, gap := range g.land {
						r.gapInALanding(gap, g.path, do)
					}
					r.gapInAnUndoing(g.undo, g.path, do)
				})
			}
		}
	}
}

// gapInALanding lands while a stranger does something before a step, and puts the file right again.
func (r *landRig) gapInALanding(gap, path string, do func(*landRig, string)) {
	r.t.Helper()
	before := r.state()
	p, err := r.repo.PlanLanding(r.t.Context(), r.options(LandChanges))
	must(r.t, err)
	var own map[string]string
	at(r.t, map[string]func(){gap: func() { do(r, path); own, _ = theirs(r.state(), path) }})
	err = p.Apply(r.t.Context())
	landStep = nil
	r.refused("landing, "+gap, path, err, before, own)
	r.putBack(path)
	must(r.t, os.RemoveAll(filepath.Join(r.repo.Root, "new"))) // a stranger's may have needed the directory
	same(r.t, "put right after "+gap, before, r.state())
}

// gapInAnUndoing lands, undoes it while a stranger does something before each of the steps in turn, and at last without.
func (r *landRig) gapInAnUndoing(gaps []string, path string, do func(*landRig, string)) {
	r.t.Helper()
	before := r.state()
	l, keep := r.land(LandChanges)
	for _, gap := range gaps {
		landed := r.state()
		aside := r.path("aside")
		os.Rename(filepath.Join(r.repo.Root, path), aside) //nolint:errcheck // there may be none
		copyBack(r.t, aside, filepath.Join(r.repo.Root, path))
		var own map[string]string
		at(r.t, map[string]func(){gap: func() { do(r, path); own, _ = theirs(r.state(), path) }})
		err := r.repo.UndoLanding(r.t.Context(), l, keep)
		landStep = nil
		r.refused("undoing, "+gap, path, err, landed, own)
		must(r.t, os.RemoveAll(filepath.Join(r.repo.Root, path)))
		copyBack(r.t, aside, filepath.Join(r.repo.Root, path))
		same(r.t, "put right after "+gap, landed, r.state())
		must(r.t, os.RemoveAll(aside))
	}
	must(r.t, r.repo.UndoLanding(r.t.Context(), l, keep))
	same(r.t, "undone after all", before, r.state())
}

// copyBack copies a file with its permissions, if there is one.
func copyBack(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	must(t, err)
	data, err := os.ReadFile(from)
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	must(t, os.WriteFile(to, data, info.Mode().Perm()))
	must(t, os.Chmod(to, info.Mode().Perm()))
}

// refused checks that nothing but a stranger's file differs from before.
func (r *landRig) refused(what, path string, err error, before, own map[string]string) {
	r.t.Helper()
	var written *WrittenError
	var half *HalfError
	if !errors.Is(err, ErrBusy) || errors.As(err, &half) || errors.As(err, &written) && !slices.Contains(written.Paths, path) {
		r.t.Errorf("%s: error %v", what, err)
	}
	now, rest := theirs(r.state(), path)
	_, want := theirs(before, path)
	if own == nil {
		r.t.Fatalf("%s: there is no such step", what)
	}
	same(r.t, what+": the stranger's", own, now)
	same(r.t, what+": everything else", want, rest)
}

// putBack makes a file of the project what is committed.
func (r *landRig) putBack(path string) {
	r.t.Helper()
	must(r.t, os.RemoveAll(filepath.Join(r.repo.Root, path)))
	if path != "new/n.txt" {
		r.project(path, "one\ntwo\nthree\n")
	}
}

// Two come within one moment: what both wrote is there, and named.
func TestTwoWhoWriteWhileALandingReplacesLoseNothing(t *testing.T) {
	r := newGapRig(t)
	p, err := r.repo.PlanLanding(t.Context(), r.options(LandChanges))
	must(t, err)
	at(t, map[string]func(){
		"exchange a.txt":  func() { r.project("a.txt", "the first one's\n") },
		"exchanged a.txt": func() { strangers["saves it anew"](r, "a.txt") },
	})
	err = p.Apply(t.Context())
	var written *WrittenError
	if !errors.As(err, &written) || len(written.Paths) != 2 {
		t.Fatalf("error %v", err)
	}
	for i, want := range []string{"a stranger's\n", "the first one's\n"} {
		if got, err := os.ReadFile(filepath.Join(r.repo.Root, written.Paths[i])); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q (%v)", written.Paths[i], got, want, err)
		}
	}
}

// crash stops what do does before a step, as the end of the process would: nothing after it is done. That a kill
// does not unlock either is another test's.
func crash(t *testing.T, before string, do func()) {
	t.Helper()
	was := landStep
	defer func() {
		landStep = nil
		if r := recover(); r != before {
			t.Fatalf("no crash before %q: %v", before, r)
		}
	}()
	landStep = func(name string) {
		if name == before {
			panic(before)
		}
		if was != nil {
			was(name)
		}
	}
	do()
}

// A crash between the moment in which somebody's file came out and the look at it: the next undoing brings it back to its place.
func TestACrashLosesNothingOfWhoWroteMeanwhile(t *testing.T) {
	for _, exchanged := range []bool{true, false} {
		for path, steps := range map[string][2]string{"a.txt": {"exchange a.txt", "exchanged a.txt"}, "gone.txt": {"remove gone.txt", "aside gone.txt"}} {
			for _, undoing := range []bool{false, true} {
				if undoing && path == "gone.txt" { // what an undoing removes is new/n.txt
					path, steps = "new/n.txt", [2]string{"undo new/n.txt", "aside new/n.txt"}
				}
				if !exchanged {
					steps[1] = "aside " + path
				}
				for _, who := range []string{"saves it anew", "makes a directory of it", "makes a FIFO of it"} {
					t.Run(fmt.Sprintf("%s, undoing %v, exchange %v, %s", path, undoing, exchanged, who), func(t *testing.T) {
						if !exchanged {
							withoutNames(t, true)
						}
						newGapRig(t).crashInAGap(path, steps, undoing, strangers[who])
					})
				}
			}
		}
	}
}

func (r *landRig) crashInAGap(path string, steps [2]string, undoing bool, do func(*landRig, string)) {
	r.t.Helper()
	before := r.state()
	o := r.options(LandChanges)
	p, err := r.repo.PlanLanding(r.t.Context(), o)
	must(r.t, err)
	if undoing {
		must(r.t, p.Apply(r.t.Context()))
	}
	var own map[string]string
	at(r.t, map[string]func(){steps[0]: func() { do(r, path); own, _ = theirs(r.state(), path) }})
	crash(r.t, steps[1], func() {
		if undoing {
			r.repo.UndoLanding(r.t.Context(), p.Landed, o.Keep) //nolint:errcheck // it does not return
		} else {
			p.Apply(r.t.Context()) //nolint:errcheck // it does not return
		}
	})
	if now, _ := theirs(r.state(), path); fmt.Sprint(now) == fmt.Sprint(own) {
		r.t.Fatal("the crash left the stranger's in its place: it came too early or too late")
	}
	err = r.repo.UndoLanding(r.t.Context(), p.Landed, o.Keep)
	var edited *EditedError
	info, _ := os.Lstat(filepath.Join(r.repo.Root, path))
	free := path == "new/n.txt" && info != nil && info.IsDir() // undoing wants no file there, and there is none
	if !errors.As(err, &edited) && !errors.Is(err, ErrUnkeepable) && !(free && err == nil) {
		r.t.Errorf("undoing after the crash: %v", err)
	}
	now, _ := theirs(r.state(), path)
	same(r.t, "the stranger's", own, now)
	for p := range r.state() {
		if strings.Contains(p, ".termic-") {
			r.t.Errorf("%s is left", p)
		}
	}
	must(r.t, os.RemoveAll(filepath.Join(r.repo.Root, path)))
	if path != "new/n.txt" {
		r.project(path, "one\ntwo\nthree\n")
	} else {
		r.project(path, "new\n")
	}
	must(r.t, r.repo.UndoLanding(r.t.Context(), p.Landed, o.Keep))
	same(r.t, "when that was put aside", before, r.state())
}

// Somebody who has a file open goes on writing to what was replaced: undoing brings that back, in the very file.
func TestWhatIsWrittenToAReplacedFileComesBack(t *testing.T) {
	r := newGapRig(t)
	full := filepath.Join(r.repo.Root, "a.txt")
	must(t, os.Link(full, r.path("second name")))
	open, err := os.OpenFile(full, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer open.Close()
	was, err := open.Stat()
	must(t, err)
	l, keep := r.land(LandChanges)
	_, err = open.WriteString("and four\n")
	must(t, err)
	if data, _ := os.ReadFile(full); string(data) != "one\nTWO\nthree\n" {
		t.Errorf("landed: %q", data)
	}
	must(t, r.repo.UndoLanding(t.Context(), l, keep))
	must(t, r.repo.UndoLanding(t.Context(), l, keep)) // as after a crash at its end
	if data, _ := os.ReadFile(full); string(data) != "one\ntwo\nthree\nand four\n" {
		t.Errorf("undone: %q", data)
	}
	if now, err := os.Stat(full); err != nil || !os.SameFile(was, now) {
		t.Errorf("it is another file (%v)", err)
	}
}

// A file system that can neither exchange names nor link: nothing is replaced there, and it is said.
func TestWhereFilesCannotBeReplacedSafelyNothingLands(t *testing.T) {
	for _, f := range []string{"a.txt", "gone.txt", "new/n.txt"} {
		t.Run(f, func(t *testing.T) {
			r := newGapRig(t)
			for _, other := range []string{"a.txt", "b.txt", "gone.txt", "new/n.txt"} {
				if other != f {
					os.Remove(filepath.Join(r.task, other))
					r.sh(r.task, "checkout", "-q", "HEAD", "--", ".")
				}
			}
			switch f {
			case "a.txt":
				r.in(f, "changed\n")
			case "gone.txt":
				must(t, os.Remove(filepath.Join(r.task, f)))
			case "new/n.txt":
				r.in(f, "new\n")
			}
			before := r.state()
			p, err := r.repo.PlanLanding(t.Context(), r.options(LandChanges))
			must(t, err)
			if len(p.Changes) != 1 {
				t.Fatalf("changes %v", p.Changes)
			}
			t.Run("refused", func(t *testing.T) {
				withoutNames(t, false)
				wantErr(t, p.Apply(t.Context()), ErrNoExchange)
				same(t, "after the refusal", before, r.state())
			})
			must(t, p.Apply(t.Context())) // the twin
		})
	}
}
