package git

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *home, dir string)
		options DiffOptions
		files   []FileChange
		patch   []string // must be in it
		lacks   []string // must not
		cut     bool
		escaped bool
	}{
		"nothing": {prepare: func(h *home, dir string) {}},
		"committed, staged, changed and untracked": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "one\ncommitted\nthree\n")
				h.sh(dir, "commit", "-qam", "x")
				h.write(dir+"/b.txt", "one\nstaged\nthree\n")
				h.sh(dir, "add", "b.txt")
				h.write(dir+"/c.txt", "one\nchanged\nthree\n")
				h.write(dir+"/new ä.txt", "untracked\n")
			},
			files: []FileChange{{Path: "a.txt", Kind: Modified, Added: 1, Removed: 1}, {Path: "b.txt", Kind: Modified, Added: 1, Removed: 1},
				{Path: "c.txt", Kind: Modified, Added: 1, Removed: 1}, {Path: "new ä.txt", Kind: Added, Added: 1}},
			patch: []string{"+committed\n", "+staged\n", "+changed\n", "+untracked\n", "+++ b/new ä.txt"},
		},
		"committed and taken back by hand": {prepare: func(h *home, dir string) {
			h.write(dir+"/a.txt", "x\n")
			h.sh(dir, "commit", "-qam", "x")
			h.write(dir+"/a.txt", "one\ntwo\nthree\n")
		}},
		"renamed, deleted, made executable, made a link": {
			prepare: func(h *home, dir string) {
				os.Rename(dir+"/long.txt", dir+"/renamed.txt")
				os.Remove(dir + "/a.txt")
				os.Chmod(dir+"/b.txt", 0o755)
				os.Remove(dir + "/c.txt")
				os.Symlink("/etc/passwd", dir+"/c.txt")
			},
			files: []FileChange{{Path: "a.txt", Kind: Deleted, Removed: 3}, {Path: "b.txt", Kind: Modified}, {Path: "c.txt", Kind: TypeChanged, Added: 1, Removed: 3},
				{Path: "renamed.txt", OldPath: "long.txt", Kind: Renamed}},
			patch: []string{"rename from long.txt", "old mode 100644", "+/etc/passwd"},
			lacks: []string{"root:"},
		},
		"a file became a directory": {
			prepare: func(h *home, dir string) { os.Remove(dir + "/a.txt"); h.write(dir+"/a.txt/x", "x\n") },
			files:   []FileChange{{Path: "a.txt", Kind: Deleted, Removed: 3}, {Path: "a.txt/x", Kind: Added, Added: 1}},
		},
		"a directory became a link": {
			prepare: func(h *home, dir string) { os.RemoveAll(dir + "/dir"); os.Symlink("/etc", dir+"/dir") },
			files:   []FileChange{{Path: "dir", Kind: Added, Added: 1}, {Path: "dir/x.txt", Kind: Deleted, Removed: 3}},
		},
		"a directory became a link to one with the same files": {
			prepare: func(h *home, dir string) { os.Rename(dir+"/dir", dir+"/moved"); os.Symlink("moved", dir+"/dir") },
			files:   []FileChange{{Path: "dir", Kind: Added, Added: 1}, {Path: "moved/x.txt", OldPath: "dir/x.txt", Kind: Renamed}},
		},
		"FIFOs and sockets": {
			prepare: func(h *home, dir string) {
				os.Remove(dir + "/a.txt")
				syscall.Mkfifo(dir+"/a.txt", 0o600)
				syscall.Mkfifo(dir+"/fifo", 0o600)
			},
			files: []FileChange{{Path: "a.txt", Kind: Deleted, Removed: 3, Unreadable: true}},
		},
		"binary": {
			prepare: func(h *home, dir string) { h.write(dir+"/x.bin", "\x00\x01\x02") },
			files:   []FileChange{{Path: "x.bin", Kind: Added, Binary: true}},
			patch:   []string{"Binary files /dev/null and b/x.bin differ"},
		},
		"bytes that are not UTF-8": {
			prepare: func(h *home, dir string) { h.write(dir+"/latin.txt", "caf\xe9 é\n"); h.write(dir+"/\xff", "x\n") },
			files:   []FileChange{{Path: "latin.txt", Kind: Added, Added: 1}, {Path: "\xff", Kind: Added, Added: 1}},
			patch:   []string{`+caf\xE9 é`, `b/\xFF`}, escaped: true,
		},
		"large ones are named and not read": {
			prepare: func(h *home, dir string) {
				for _, f := range []string{"a.txt", "big.bin"} {
					fd, _ := os.OpenFile(dir+"/"+f, os.O_CREATE|os.O_WRONLY, 0o644)
					fd.Truncate(20 << 30) // sparse: reading it would take minutes
					fd.Close()
				}
				for f, size := range map[string]int64{"just.bin": bigFile, "over.bin": bigFile + 1} {
					fd, _ := os.Create(dir + "/" + f)
					fd.Truncate(size)
					fd.Close()
				}
			},
			files: []FileChange{{Path: "a.txt", Kind: Modified, Large: true}, {Path: "big.bin", Kind: Added, Large: true}, {Path: "just.bin", Kind: Added, Binary: true}, {Path: "over.bin", Kind: Added, Large: true}},
		},
		"a repository inside": {
			prepare: func(h *home, dir string) { h.sh(dir, "init", "-q", "sub"); h.write(dir+"/sub/x", "x\n") },
			files:   []FileChange{{Path: "sub/", Kind: Added, Nested: true}},
		},
		"a name that git refuses": {
			prepare: func(h *home, dir string) { h.write(dir+"/x/.GIT/y", "y\n"); h.write(dir+"/z.txt", "z\n") },
			files:   []FileChange{{Path: "x/.GIT/y", Kind: Added, Unreadable: true}, {Path: "z.txt", Kind: Added, Added: 1}},
		},
		"one file only": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "x\n")
				h.write(dir+"/b.txt", "x\n")
				h.write(dir+"/*.txt", "star\n")
			},
			options: DiffOptions{Path: "*.txt"},
			files:   []FileChange{{Path: "*.txt", Kind: Added, Added: 1}},
			lacks:   []string{"a.txt"},
		},
		"one directory only": {
			prepare: func(h *home, dir string) {
				h.write(dir+"/a.txt", "x\n")
				h.write(dir+"/dir/x.txt", "one\ntwo\nthree\nfour\n")
			},
			options: DiffOptions{Path: "dir/"},
			files:   []FileChange{{Path: "dir/x.txt", Kind: Modified, Added: 1}},
		},
		"no context": {
			prepare: func(h *home, dir string) { h.write(dir+"/a.txt", "one\nTWO\nthree\n") },
			options: DiffOptions{ContextLines: -1},
			files:   []FileChange{{Path: "a.txt", Kind: Modified, Added: 1, Removed: 1}},
			lacks:   []string{"\n one\n", "\n three\n"},
		},
		"more than may be shown": {
			prepare: func(h *home, dir string) { h.write(dir+"/long.txt", strings.Repeat("0123456789 é\n", 1000)) },
			options: DiffOptions{MaxBytes: 500},
			files:   []FileChange{{Path: "long.txt", Kind: Modified, Added: 1000, Removed: 20}},
			cut:     true,
		},
		"a conflict shows its markers": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "checkout", "-q", "-b", "other")
				h.write(dir+"/a.txt", "theirs\n")
				h.sh(dir, "commit", "-qam", "theirs")
				h.sh(dir, "checkout", "-q", "task")
				h.write(dir+"/a.txt", "ours\n")
				h.sh(dir, "commit", "-qam", "ours")
				h.try(dir, "merge", "other")
			},
			files: []FileChange{{Path: "a.txt", Kind: Modified, Added: 5, Removed: 3}},
			patch: []string{"+<<<<<<< HEAD\n"},
		},
		"an entry that hides": {
			prepare: func(h *home, dir string) {
				h.sh(dir, "update-index", "--assume-unchanged", "a.txt")
				h.sh(dir, "update-index", "--skip-worktree", "b.txt")
				h.write(dir+"/a.txt", "hidden\n")
				h.write(dir+"/b.txt", "hidden\n")
			},
			files: []FileChange{{Path: "a.txt", Kind: Modified, Added: 1, Removed: 3}, {Path: "b.txt", Kind: Modified, Added: 1, Removed: 3}},
		},
		"line endings only, converted": {prepare: func(h *home, dir string) {
			h.sh(dir, "config", "core.autocrlf", "true")
			h.write(dir+"/a.txt", "one\r\ntwo\r\nthree\r\n")
		}},
		"line endings only, not converted": {
			prepare: func(h *home, dir string) { h.write(dir+"/a.txt", "one\r\ntwo\r\nthree\r\n") },
			files:   []FileChange{{Path: "a.txt", Kind: Modified, Added: 3, Removed: 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := h.repo("p", "a.txt", "b.txt", "c.txt", "dir/x.txt")
			h.write(r.Root+"/long.txt", strings.Repeat("a line of text\n", 20))
			h.sh(r.Root, "add", "-A")
			h.sh(r.Root, "commit", "-q", "--amend", "--no-edit")
			base := h.oid(r.Root, "HEAD")
			dir := h.worktree(r, "task")
			c.prepare(h, dir)
			before := map[string]map[string]string{"project": snapshot(t, r.Root)}
			d, err := r.Diff(t.Context(), dir, base, c.options)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "project", before["project"], snapshot(t, r.Root))
			for i := range d.Files { // modes and where it differs: TestADiffSaysWhereAFileDiffers
				f := &d.Files[i]
				f.OldMode, f.NewMode, f.Staged, f.Unstaged, f.Untracked, f.Conflicted = "", "", false, false, false, false
			}
			if !slices.Equal(d.Files, c.files) {
				t.Errorf("files:\n%+v\nwant\n%+v", d.Files, c.files)
			}
			for _, p := range c.patch {
				if !strings.Contains(d.Patch, p) {
					t.Errorf("patch lacks %q:\n%.2000s", p, d.Patch)
				}
			}
			for _, p := range c.lacks {
				if strings.Contains(d.Patch, p) {
					t.Errorf("patch has %q:\n%.2000s", p, d.Patch)
				}
			}
			if d.Truncated != c.cut || d.Escaped != c.escaped || !utf8.ValidString(d.Patch) {
				t.Errorf("cut %v, escaped %v, valid %v", d.Truncated, d.Escaped, utf8.ValidString(d.Patch))
			}
			if c.cut && (len(d.Patch) > c.options.MaxBytes || !strings.HasSuffix(d.Patch, "\n")) {
				t.Errorf("%d bytes, ends in %q", len(d.Patch), d.Patch[max(0, len(d.Patch)-10):])
			}
		})
	}
}

func TestDiffRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	base := h.oid(r.Root, "HEAD")
	other := h.repo("q")
	for name, c := range map[string]struct {
		dir  string
		base OID
		path string
		want error
	}{
		"nothing when all is well":    {r.Root, base, "", nil},
		"a base that is a name":       {r.Root, "HEAD", "", ErrBadRef},
		"a base that is missing":      {r.Root, OID(strings.Repeat("1", 40)), "", ErrRefNotFound},
		"another repository":          {other.Root, base, "", ErrNotWorktree},
		"a directory in the checkout": {r.CommonDir, base, "", ErrNotWorktree},
		"a path with NUL":             {r.Root, base, "a\x00b", ErrBadPath},
		"an absolute path":            {r.Root, base, "/etc", ErrBadPath},
	} {
		_, err := r.Diff(t.Context(), c.dir, c.base, DiffOptions{Path: c.path})
		if t.Run(name, func(t *testing.T) { wantErr(t, err, c.want) }); err != nil {
			continue
		}
	}
	_, err := r.Diff(t.Context(), r.Root, base, DiffOptions{Path: "../q/a.txt"})
	if err == nil {
		t.Error("a path outside the checkout is no error")
	}
}

func TestAhead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	base := h.oid(r.Root, "HEAD")
	dir := h.worktree(r, "task")
	if list, err := r.Ahead(t.Context(), dir, base); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	h.sh(dir, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "caf\xe9")
	h.sh(dir, "-c", "user.name=Ä \"x\" <y", "commit", "-q", "--allow-empty", "-m", "subject\n\nbody\nmore")
	list, err := r.Ahead(t.Context(), dir, base)
	if err != nil || len(list) != 2 || list[0].Subject != "subject" || list[1].Subject != "café" || !strings.HasPrefix(list[0].Author, "Ä") || list[0].When.IsZero() || list[0].OID != h.oid(dir, "HEAD") {
		t.Errorf("%+v %v", list, err)
	}
	var in strings.Builder
	for i := range MaxAhead + 5 {
		fmt.Fprintf(&in, "commit refs/heads/task\ncommitter x <x@x> %d +0000\ndata 1\nx\n", 2_000_000_000+i)
		if i == 0 {
			fmt.Fprintf(&in, "from refs/heads/task^0\n")
		}
	}
	h.write("import", in.String())
	h.sh(dir, "checkout", "-q", "--detach")
	h.sh(dir, "-c", "alias.imp=!git fast-import --quiet < '"+h.path("import")+"'", "imp")
	h.sh(dir, "checkout", "-q", "task")
	if list, err := r.Ahead(t.Context(), dir, base); err != nil || len(list) != MaxAhead {
		t.Errorf("%d commits, %v", len(list), err)
	}
}

func FuzzParseChanges(f *testing.F) {
	oid := strings.Repeat("a", 40)
	f.Add(":100644 100644 " + oid + " " + oid + " M\x00a b\x001\t2\ta b\x00")
	f.Add(":100644 100644 " + oid + " " + oid + " R090\x00old\x00new\x000\t0\t\x00old\x00new\x00")
	f.Add(":000000 100644 " + oid + " " + oid + " A\x00x.bin\x00-\t-\tx.bin\x00")
	f.Add("1\t1\tunknown\x00")
	f.Fuzz(func(t *testing.T, in string) {
		files, err := parseChanges(in)
		if err != nil {
			return
		}
		for _, c := range files {
			if c.Path == "" || c.Kind == "" || strings.Contains(c.Path, "\x00") || (c.OldPath != "") && c.Kind != Renamed || c.Added < 0 || c.Removed < 0 {
				t.Errorf("%+v from %q", c, in)
			}
		}
	})
}

func FuzzEscapeInvalid(f *testing.F) {
	f.Add("plain")
	f.Add("caf\xe9 \xff\xfe é")
	f.Fuzz(func(t *testing.T, in string) {
		out, escaped := escapeInvalid(in)
		if !utf8.ValidString(out) || escaped == utf8.ValidString(in) {
			t.Errorf("%q becomes %q, %v", in, out, escaped)
		}
		if again, more := escapeInvalid(out); again != out || more {
			t.Errorf("%q becomes %q", out, again)
		}
	})
}
