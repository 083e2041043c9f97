package git

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWhatTreesCannotHoldComesBackByteForByte(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, dir string)
		ignored func(string) bool
	}{
		"permissions of files and directories": {prepare: func(h *home, dir string) {
			h.write(dir+"/secret", "only mine\n")
			h.write(dir+"/closed/in/it", "x\n")
			for p, m := range map[string]os.FileMode{"secret": 0o600, "a.txt": 0o640, "closed/in/it": 0o444, "closed/in": 0o500, "closed": 0o750} {
				if err := os.Chmod(dir+"/"+p, m); err != nil {
					h.t.Fatal(err)
				}
			}
			h.t.Cleanup(func() { os.Chmod(h.path("restored/task/closed/in"), 0o700) })
		}},
		"a repository in an untracked directory": {prepare: func(h *home, dir string) {
			h.sh(dir, "init", "-q", "--template=", "sub/inner")
			h.write(dir+"/sub/inner/work.txt", "work\n")
			h.sh(dir+"/sub/inner", "add", ".")
			h.sh(dir+"/sub/inner", "commit", "-qm", "inner")
			h.write(dir+"/sub/inner/more.txt", "not committed\n")
			os.Symlink("work.txt", dir+"/sub/inner/link")
		}},
		"a repository around tracked files": {prepare: func(h *home, dir string) {
			h.sh(dir+"/dir", "init", "-q", "--template=")
			h.write(dir+"/dir/b.txt", "changed\n")
			h.write(dir+"/dir/.GIT-not/x", "x\n")
		}},
		"a large untracked file, with holes": {prepare: func(h *home, dir string) { sparseFile(h.t, dir+"/huge", 20<<30) }},
		"a tracked file that grew large": {prepare: func(h *home, dir string) {
			h.write(dir+"/a.txt", strings.Repeat("0123456789abcdef", bigFile/16+1)+"end")
		}},
		"a large file in place of a directory": {prepare: func(h *home, dir string) {
			os.RemoveAll(dir + "/dir")
			sparseFile(h.t, dir+"/dir", bigFile+5)
		}},
		"FIFOs, in place of a tracked file too": {prepare: func(h *home, dir string) {
			os.Remove(dir + "/a.txt")
			for _, p := range []string{"a.txt", "pipe"} {
				if err := syscall.Mkfifo(dir+"/"+p, 0o600); err != nil {
					h.t.Fatal(err)
				}
				os.Chmod(dir+"/"+p, 0o622)
			}
		}},
		"ignored files that a rule names": {
			ignored: func(p string) bool { return p == ".env" || p == "deps" },
			prepare: func(h *home, dir string) {
				h.write(dir+"/.gitignore", ".env\ndeps\n")
				h.write(dir+"/.env", "SECRET=1\n")
				h.write(dir+"/deps/x/y", "y\n")
				os.Chmod(dir+"/.env", 0o600)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", "a.txt", "dir/b.txt")
			dir := h.worktree(r, "task")
			c.prepare(h, dir)
			want := h.shape(dir)
			to, a := h.roundTrip(r, dir, ArchiveOptions{Branches: []string{"task"}, Ignored: c.ignored})
			same(t, name, want, h.shape(to))
			if a.Bytes <= 0 || a.Bytes > bigFile*2 {
				t.Errorf("it takes %d bytes", a.Bytes)
			}
			if exists(dir) {
				t.Error("the old checkout is still there")
			}
		})
	}
}

// shape is facts without reading holes: of a large file its size and sum.
func (h *home) shape(dir string) map[string]string {
	h.t.Helper()
	var large []string
	root, err := os.OpenRoot(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer root.Close()
	var all []Beside
	if err := besideOf(root, ".", &all); err != nil {
		h.t.Fatal(err)
	}
	m := map[string]string{"<index>": h.sh(dir, "ls-files", "--stage"), "<head>": h.sh(dir, "rev-parse", "HEAD"), "<branch>": h.sh(dir, "symbolic-ref", "HEAD")}
	for _, b := range all {
		if b.Path == "." || b.Path == ".git" {
			continue
		}
		v := b.Mode.String() + " " + b.Link
		if b.Mode.IsRegular() {
			f, err := root.Open(b.Path)
			if err != nil {
				h.t.Fatal(err)
			}
			sum, err := contents(h.t.Context(), f, b.Size, func(int64, []byte) error { return nil })
			f.Close()
			if err != nil {
				h.t.Fatal(err)
			}
			v += sum
			if b.Size > bigFile {
				large = append(large, b.Path)
			}
		}
		m[b.Path] = v
	}
	slices.Sort(large)
	m["<large>"] = strings.Join(large, " ")
	return m
}

// sparseFile makes a file of that size with three words in it.
func sparseFile(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, at := range []int64{0, size / 2, size - 4} {
		if _, err := f.WriteAt([]byte("word"), at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSocketsAreNamedAndNotKept(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	short, err := os.MkdirTemp("", "s") // a socket's path has 104 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: short + "/s"}), os.Rename(short+"/s", dir+"/sock")); err != nil {
		t.Fatal(err)
	}
	_, a := h.roundTrip(r, dir, ArchiveOptions{})
	if !slices.Equal(a.Special, []string{"sock"}) {
		t.Errorf("special %q", a.Special)
	}
}

func TestAFileThatGrowsWhileItIsCopiedIsNotKeptHalf(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "task")
	sparseFile(t, dir+"/big", bigFile+1)
	a, err := r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(dir+"/big", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("late"), 100); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Chtimes(dir+"/big", time.Now(), info.ModTime()); err != nil { // hides it from who looks at that only
		t.Fatal(err)
	}
	if err := r.RemoveArchived(t.Context(), a); !errors.Is(err, ErrChanged) {
		t.Errorf("removed a checkout whose large file had changed: %v", err)
	}
	b, err := os.ReadFile(dir + "/big")
	if err != nil || string(b[100:104]) != "late" {
		t.Errorf("what was written late is gone: %v", err)
	}
	if a, err = r.Archive(t.Context(), ArchiveOptions{Dir: dir, ID: "t1", Store: h.path("store")}); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveArchived(t.Context(), a); err != nil {
		t.Errorf("its twin: %v", err)
	}
	left, err := os.ReadDir(h.path("store", "beside", "t1"))
	if err != nil || len(left) != 2 {
		t.Errorf("%d files beside the trees, want the copy and its sum: %v", len(left), err)
	}
}
