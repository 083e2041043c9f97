package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ignoring makes a repository that ignores .env, *.log, node_modules/ and gone/, with some of them.
func (h *home) ignoring(name string) *Repo {
	h.t.Helper()
	r := h.repo(name, "a.txt", "src/b.txt")
	h.write(r.Root+"/.gitignore", ".env\n*.log\nnode_modules/\ngone/\n")
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-qm", "ignore")
	for file, text := range map[string]string{
		".env": "KEY=1\n", "untracked": "u\n", "x.log": "x\n", "src/y.log": "y\n", "src/deep/.env": "KEY=2\n", ":odd.log": "odd\n", "st*r.log": "star\n",
		"node_modules/a/index.js": "a\n", "node_modules/b/bin": "#!/bin/sh\n", "src/node_modules/c/index.js": "c\n",
	} {
		h.write(filepath.Join(r.Root, file), text)
	}
	for _, err := range []error{
		os.Chmod(filepath.Join(r.Root, ".env"), 0o600), os.Chmod(filepath.Join(r.Root, "node_modules/b/bin"), 0o755),
		os.Symlink("../b/bin", filepath.Join(r.Root, "node_modules/a/link")), os.Symlink("/etc", filepath.Join(r.Root, "node_modules/out")),
		os.Mkdir(filepath.Join(r.Root, "node_modules/closed"), 0o755), os.WriteFile(filepath.Join(r.Root, "node_modules/closed/f"), []byte("f"), 0o444),
		os.Chmod(filepath.Join(r.Root, "node_modules/closed"), 0o555), syscall.Mkfifo(filepath.Join(r.Root, "node_modules/fifo"), 0o600),
	} {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	h.t.Cleanup(func() { os.Chmod(filepath.Join(r.Root, "node_modules/closed"), 0o755) })
	return r
}

func TestIgnoredFilesAreCopied(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.ignoring("demo")
	dir := h.worktree(r, "fix")
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "node_modules/closed"), 0o755) })
	carried, left, err := r.Carry(t.Context(), CarryOptions{Names: []string{".env", "node_modules", "**/.env"}, Dir: dir})
	if err != nil || len(left) > 0 || len(carried) != 3 {
		t.Fatalf("%+v %+v %v", carried, left, err)
	}
	want, got := snapshot(t, filepath.Join(r.Root, "node_modules")), snapshot(t, filepath.Join(dir, "node_modules"))
	for name := range want {
		if strings.HasPrefix(name, "fifo") { // holds nothing
			delete(want, name)
			delete(got, name)
		}
	}
	same(t, "node_modules", want, got)
	for _, name := range []string{".env", "node_modules/a/index.js", "src/deep/.env"} {
		a, errA := os.Stat(filepath.Join(r.Root, name))
		b, errB := os.Stat(filepath.Join(dir, name))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if os.SameFile(a, b) || a.Mode() != b.Mode() || !a.ModTime().Equal(b.ModTime()) || b.Sys().(*syscall.Stat_t).Nlink != 1 {
			t.Errorf("%s: %v %v, %v %v", name, a.Mode(), b.Mode(), a.ModTime(), b.ModTime())
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.Root, ".env")); string(text) != "KEY=1\n" {
		t.Errorf("the project's own is %q %v", text, err)
	}
	if status := h.sh(dir, "status", "--porcelain"); status != "" {
		t.Errorf("a copy counts as work: %s", status)
	}
	if _, err := os.Lstat(filepath.Join(dir, "src/node_modules")); err == nil {
		t.Error("what was not named was copied")
	}
}

func TestWhatIsNotCopiedIsSaid(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.ignoring("demo")
	if err := os.Symlink("src", filepath.Join(r.Root, "gone")); err != nil { // ignored, and a link
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.Root, "src", "l.log")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		names []string
		want  string // what is copied, then what is not
		in    func(dir string)
	}{
		"a file that git has":                {[]string{"a.txt"}, "; a.txt: git does not ignore it", nil},
		"a file that would be work":          {[]string{"untracked"}, "; untracked: git does not ignore it", nil},
		"a directory with tracked files":     {[]string{"src"}, "; src: git does not ignore it", nil},
		"a file that is not there":           {[]string{"no.log", ".env"}, ".env; no.log: it is not there", nil},
		"below a file":                       {[]string{".env/x"}, "; .env/x: it is not there", nil},
		"a way out":                          {[]string{"../x", "/etc/passwd", "."}, "; ../x: it is no path within the checkout; /etc/passwd: it is no path within the checkout; .: it is no path within the checkout", nil},
		"git's own":                          {[]string{".git/config"}, "; .git/config: it is no path within the checkout", nil},
		"a link":                             {[]string{"src/l.log"}, "; src/l.log: it is a link, or leads through one", nil},
		"through a link":                     {[]string{"gone/deep/.env"}, "; gone/deep/.env: it is a link, or leads through one", nil},
		"a FIFO":                             {[]string{"node_modules/fifo"}, "; node_modules/fifo: it is neither a file nor a directory", nil},
		"a pattern that matches nothing":     {[]string{"*.none"}, "", nil},
		"a pattern over what git has":        {[]string{"*.txt"}, "", nil},
		"a pattern at the top":               {[]string{"*.log"}, ":odd.log st*r.log x.log", nil},
		"a pattern in every directory":       {[]string{"**/*.log"}, ":odd.log src/y.log st*r.log x.log; src/l.log: it is a link, or leads through one", nil},
		"a directory and what is in it":      {[]string{"node_modules/a", "**/node_modules", "node_modules/"}, "node_modules src/node_modules", nil},
		"something else is there":            {[]string{".env"}, "; .env: something else is there already", func(dir string) { h.write(filepath.Join(dir, ".env"), "theirs\n") }},
		"a link is there instead of its way": {[]string{"src/deep/.env"}, "; src/deep/.env: git does not ignore it in the task, where it would be taken for work", func(dir string) { os.Symlink(h.dir, filepath.Join(dir, "src/deep")) }},
		"a task that does not ignore it": {[]string{".env", "x.log"}, "x.log; .env: git does not ignore it in the task, where it would be taken for work", func(dir string) {
			h.write(filepath.Join(dir, ".gitignore"), "*.log\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := h.worktree(r, strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", ""))
			t.Cleanup(func() { os.Chmod(filepath.Join(dir, "node_modules/closed"), 0o755) })
			if c.in != nil {
				c.in(dir)
			}
			carried, left, err := r.Carry(t.Context(), CarryOptions{Names: c.names, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			var paths, all []string
			for _, k := range carried {
				paths = append(paths, k.Path)
				if _, err := os.Lstat(filepath.Join(dir, k.Path)); err != nil {
					t.Error(err)
				}
			}
			slices.Sort(paths)
			all = append(all, strings.Join(paths, " "))
			for _, l := range left {
				all = append(all, l.Name+": "+l.Why)
			}
			if got := strings.Join(all, "; "); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	if _, err := os.Lstat(h.path(".env")); err == nil {
		t.Error("something was written outside")
	}
}

func TestACopyThatFailsLeavesNothingAndWhatWasThere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.ignoring("demo")
	dir := h.worktree(r, "fix")
	h.write(filepath.Join(dir, "node_modules/a/index.js"), "theirs\n")
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "node_modules/closed"), 0o755) })
	if _, left, err := r.Carry(t.Context(), CarryOptions{Names: []string{"node_modules"}, Dir: dir}); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "node_modules/a/index.js")); string(text) != "theirs\n" {
		t.Errorf("a file that was there is %q", text)
	}
	if _, err := os.Lstat(filepath.Join(dir, "node_modules/closed/f")); err != nil {
		t.Error(err)
	}
	// The caller goes away in the middle: what was begun is taken back.
	ctx, cancel := context.WithCancel(t.Context())
	for i := range carryEach + 10 {
		h.write(filepath.Join(r.Root, "gone", "f"+string(rune('a'+i%26)), strings.Repeat("x", 1+i/26)), "x")
	}
	_, _, err := r.Carry(ctx, CarryOptions{Names: []string{"gone"}, Dir: dir, Progress: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "gone")); err == nil {
		t.Error("half a copy is left")
	}
	if _, _, err := r.Carry(t.Context(), CarryOptions{Names: []string{"gone"}, Dir: dir}); err != nil { // the twin
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "gone", "fa", "x")); err != nil {
		t.Error(err)
	}
}

func TestAPrintChangesWithWhatIsCopied(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.ignoring("demo")
	print := func() string {
		t.Helper()
		found, _, err := r.Carry(t.Context(), CarryOptions{Names: []string{"node_modules"}})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0].Print
	}
	first := print()
	if print() != first {
		t.Error("the same has another print")
	}
	for what, change := range map[string]func() error{
		"a byte": func() error {
			return os.WriteFile(filepath.Join(r.Root, "node_modules/a/index.js"), []byte("b\n"), 0o644)
		},
		"a permission": func() error { return os.Chmod(filepath.Join(r.Root, "node_modules/b/bin"), 0o700) },
		"a file more":  func() error { return os.WriteFile(filepath.Join(r.Root, "node_modules/new"), nil, 0o644) },
		"a link":       func() error { return os.Symlink("a", filepath.Join(r.Root, "node_modules/l")) },
	} {
		before := print()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if print() == before {
			t.Errorf("%s changed, and the print did not", what)
		}
	}
	if found, _, err := r.Carry(t.Context(), CarryOptions{Names: []string{".env", "x.log"}, May: func(c Carried) bool { return c.Path == "x.log" }}); err != nil || len(found) != 1 || found[0].Path != "x.log" {
		t.Errorf("%+v %v", found, err)
	}
}
