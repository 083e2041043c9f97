package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// historian does to a checkout, step by step, what people and agents do to one.
type historian struct {
	*home
	*rand.Rand
	repo *Repo
	dir  string
	n    int
	told []string // the steps, for who has to look for a mistake
}

// oddNames are names that trip programs which split lines, take names for options or patterns, or fold case.
var oddNames = []string{"a.txt", "A.TXT", "b", "with space", "tab\there", "line\nbreak", "-n", ":(top)x", "*", "\"q\"", "back\\slash", "\xff\xfe", "ä", "a\u0308", ".hidden", "x.ignored", "Makefile"}

// path returns a name in a directory up to two levels deep.
func (g *historian) path() string {
	dirs := []string{"", "dir", "dir/deep", "-d", "sp ace", "ig.ignored"}
	return filepath.Join(dirs[g.IntN(len(dirs))], oddNames[g.IntN(len(oddNames))])
}

// free makes room for a file at path: what is in the way of it goes.
func (g *historian) free(path string) string {
	full := filepath.Join(g.dir, path)
	for dir := filepath.Dir(full); dir != g.dir; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			os.Remove(dir)
		}
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.RemoveAll(full); err != nil {
		g.t.Fatal(err)
	}
	return full
}

// existing returns a file of the checkout, or nothing.
func (g *historian) existing() string {
	var files []string
	for name, what := range snapshot(g.t, g.dir) {
		if name != ".git" && !strings.HasPrefix(what, "d") && name != "." {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return ""
	}
	slices.Sort(files)
	return files[g.IntN(len(files))]
}

// may runs git, and does not mind when it refuses: the history is random.
func (g *historian) may(args ...string) { _, _ = g.try(g.dir, args...) }

// step does one thing.
func (g *historian) step() {
	g.n++
	text := strings.Repeat(fmt.Sprintf("line %d\n", g.n), 1+g.IntN(5))
	steps := []struct {
		name string
		do   func()
	}{
		{"write", func() { g.write(g.free(g.path()), text) }},
		{"write bytes", func() { g.write(g.free(g.path()), "\x00\xff"+text+"\r\n\r") }},
		{"write nothing", func() { g.write(g.free(g.path()), "") }},
		{"change", func() {
			if f := g.existing(); f != "" {
				g.write(g.free(f), text)
			}
		}},
		{"remove", func() { os.Remove(filepath.Join(g.dir, g.existing())) }},
		{"empty directory", func() { os.MkdirAll(g.free(g.path()), 0o750) }},
		{"permissions", func() {
			if f := g.existing(); f != "" {
				modes := []os.FileMode{0o600, 0o640, 0o644, 0o444, 0o755, 0o711, 0o777}
				if info, err := os.Lstat(filepath.Join(g.dir, f)); err == nil && info.Mode().IsRegular() {
					os.Chmod(filepath.Join(g.dir, f), modes[g.IntN(len(modes))])
				}
			}
		}},
		{"link", func() {
			to := []string{"a.txt", "/etc/passwd", "no/such", "..", "dir", strings.Repeat("x", 300)}
			os.Symlink(to[g.IntN(len(to))], g.free(g.path()))
		}},
		{"FIFO", func() { syscall.Mkfifo(g.free(g.path()), 0o600) }},
		{"stage one", func() {
			if f := g.existing(); f != "" {
				g.may("--literal-pathspecs", "add", "--", f)
			}
		}},
		{"stage all", func() { g.may("add", "-A") }},
		{"stage an ignored file", func() {
			g.write(g.free("forced.ignored"), text)
			g.may("add", "-f", "forced.ignored")
		}},
		{"unstage", func() {
			if f := g.existing(); f != "" {
				g.may("--literal-pathspecs", "rm", "-q", "--cached", "--", f)
			}
		}},
		{"intend to add", func() {
			if f := g.existing(); f != "" {
				g.may("--literal-pathspecs", "add", "-N", "--", f)
			}
		}},
		{"commit", func() { g.may("commit", "-q", "--allow-empty", "-m", text) }},
		{"commit all", func() { g.may("add", "-A"); g.may("commit", "-qm", text) }},
		{"amend", func() { g.may("commit", "-q", "--amend", "--allow-empty", "-m", text) }},
		{"stash", func() { g.may("stash", "push", "-q", "-u") }},
		{"tag", func() { g.may("tag", fmt.Sprintf("t%d", g.n)) }},
		{"another branch", func() { g.may("checkout", "-q", "-B", fmt.Sprintf("b%d", g.IntN(3))) }},
		{"back to the task's", func() { g.may("checkout", "-q", "task") }},
		{"detach", func() { g.may("checkout", "-q", "--detach") }},
		{"merge", func() { g.may("merge", "-q", fmt.Sprintf("b%d", g.IntN(3)), "-m", text) }},
		{"merge without a commit", func() { g.may("merge", "-q", "--no-commit", "--no-ff", fmt.Sprintf("b%d", g.IntN(3))) }},
		{"cherry-pick", func() { g.may("cherry-pick", fmt.Sprintf("b%d", g.IntN(3))) }},
		{"rebase", func() { g.may("rebase", "-q", fmt.Sprintf("b%d", g.IntN(3))) }},
		{"revert", func() { g.may("revert", "--no-edit", "HEAD") }},
		{"give up", func() { g.may("merge", "--abort"); g.may("rebase", "--abort"); g.may("cherry-pick", "--abort") }},
		{"assume unchanged", func() {
			if f := g.existing(); f != "" {
				g.may("update-index", "--assume-unchanged", "--", f)
			}
		}},
		{"sparse", func() { g.may("sparse-checkout", "set", "dir") }},
	}
	s := steps[g.IntN(len(steps))]
	g.told = append(g.told, s.name)
	s.do()
}

// FuzzHistoriesComeBack: whatever was done to a checkout, its archive brings it back as it was: files with kind, permissions and
// contents, index, HEAD, what is under way, and each commit, stash and tag, after the project's garbage was collected. What
// cannot be kept is refused, and then nothing has changed.
func FuzzHistoriesComeBack(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, uint8(12+2*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		t.Parallel()
		h := newHome(t)
		r := h.repo("p", "a.txt", "b", "dir/c.txt", "dir/deep/d.txt", "Makefile")
		h.write(r.Root+"/.gitignore", "*.ignored\n")
		h.sh(r.Root, "add", "-A")
		h.sh(r.Root, "commit", "-qm", "ignore")
		g := &historian{home: h, Rand: rand.New(rand.NewPCG(seed, 1)), repo: r, dir: h.worktree(r, "task")}
		for range steps % 64 {
			g.step()
		}
		g.compare()
	})
}

// compare archives the checkout, brings it back, and looks.
func (g *historian) compare() {
	g.t.Helper()
	want, stashes := g.worth(g.dir), g.sh(g.repo.Root, "stash", "list")
	heads := g.sh(g.dir, "log", "--all", "--reflog", "--format=%H")
	o := ArchiveOptions{Dir: g.dir, ID: "t1", Store: g.path2("store"), Branches: []string{"task"}}
	a, err := g.repo.Archive(g.t.Context(), o)
	if err != nil {
		same(g.t, fmt.Sprintf("refused (%v) after %s", err, g.told), want, g.worth(g.dir))
		return
	}
	if err := g.repo.RemoveArchived(g.t.Context(), a); err != nil {
		g.t.Fatalf("after %s: %v", g.told, err)
	}
	if now := g.sh(g.repo.Root, "stash", "list"); now != stashes {
		g.t.Errorf("stashes after %s:\n%s\nwant\n%s", g.told, now, stashes)
	}
	g.sh(g.repo.Root, "reflog", "expire", "--expire=now", "--all") // which forgets the stashes, too
	g.sh(g.repo.Root, "prune", "--expire=now")
	to := g.path2("restored")
	if err := g.repo.Restore(g.t.Context(), RestoreOptions{Archived: a, Dir: to}); err != nil {
		g.t.Fatalf("after %s: %v", g.told, err)
	}
	got := g.worth(to)
	same(g.t, fmt.Sprint("after ", g.told), want, got)
	for k, v := range want {
		if g.t.Failed() && got[k] != v {
			g.t.Logf("%q: %q, want %q", k, got[k], v)
		}
	}
	for _, commit := range strings.Fields(heads) {
		if _, err := g.try(g.repo.Root, "cat-file", "-e", commit+"^{tree}"); err != nil {
			g.t.Errorf("commit %s is lost after %s", commit, g.told)
		}
	}
}

// path2 is a place in the home: historian's own path is a random one.
func (g *historian) path2(name string) string { return g.home.path(name) }

// worth is what an archive promises to bring back. What git ignores and does not have is not among it, nor are directories in
// which there is nothing else.
func (g *historian) worth(dir string) map[string]string {
	g.t.Helper()
	m := g.facts(dir)
	has := map[string]bool{}
	for _, p := range splitNUL([]byte(g.sh(dir, "ls-files", "-z"))) {
		for ; p != "."; p = filepath.Dir(p) {
			has[p] = true
		}
	}
	for name := range m {
		ignored := slices.ContainsFunc(strings.Split(name, "/"), func(n string) bool { return strings.HasSuffix(n, ".ignored") })
		if ignored && !has[name] {
			delete(m, name)
		}
	}
	return m
}
