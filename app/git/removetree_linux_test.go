package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemovingATreeTouchesNothingElse(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	outside, dir := filepath.Join(base, "outside"), filepath.Join(base, "tree")
	for _, d := range []string{outside + "/kept", dir + "/a/b", dir + "/closed/in"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.WriteFile(outside+"/kept/file", []byte("kept\n"), 0o600), os.WriteFile(dir+"/closed/in/file", nil, 0o600),
		os.Chmod(outside, 0o555), os.Symlink(outside, dir+"/a/link"), os.Symlink(outside+"/kept/file", dir+"/file"),
		os.Symlink("../../outside", dir+"/a/b/up"), unix.Mkfifo(dir+"/pipe", 0o600),
		os.Chmod(dir+"/closed/in", 0), os.Chmod(dir+"/closed", 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := snapshot(t, outside)
	other, err := os.Lstat(outside)
	if err != nil {
		t.Fatal(err)
	}
	if err := removeTree(dir, other); !errors.Is(err, ErrOther) || !exists(dir+"/a/b/up") {
		t.Errorf("a tree that is not the one that was seen: %v", err)
	}
	if err := RemoveTree(dir); err != nil || exists(dir) {
		t.Errorf("not removed: %v", err)
	}
	if err := RemoveTree(dir); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(link); err != nil || exists(link) {
		t.Errorf("a link: %v", err)
	}
	same(t, "outside", want, snapshot(t, outside))
	os.Chmod(outside, 0o755) //nolint:errcheck // so that the test's directory can go
}

func TestWhatIsMountedInACheckoutIsNotRemoved(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	dir, outside := h.worktree(r, "task"), h.path("outside")
	h.write(outside+"/precious", "mine\n")
	if err := os.Mkdir(dir+"/in here", 0o755); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount(outside, dir+"/in here", "", unix.MS_BIND, "")
	if err != nil { // an ordinary user may not: then the table alone is tried
		if got := unescapeMount(`/a\040b\134c`); got != `/a b\c` {
			t.Errorf("mount point %q", got)
		}
		if err := noMountBelow("/proc"); !errors.Is(err, ErrMounted) {
			t.Errorf("/proc is not seen as mounted: %v", err)
		}
		return
	}
	t.Cleanup(func() { unix.Unmount(dir+"/in here", unix.MNT_DETACH) }) //nolint:errcheck // it is unmounted when all went well
	if err := r.RemoveWorktree(t.Context(), dir); !errors.Is(err, ErrMounted) || !exists(outside+"/precious") {
		t.Fatalf("removed with what was mounted in it: %v", err)
	}
	if err := unix.Unmount(dir+"/in here", 0); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveWorktree(t.Context(), dir); err != nil || exists(dir) {
		t.Errorf("its twin: %v", err)
	}
	if !exists(outside + "/precious") {
		t.Error("what had been mounted is gone")
	}
}
