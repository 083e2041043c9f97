package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestACheckoutOnAFullDiskSaysSo: git says of it only that a file was not written. Nothing is left, and with room the same
// checkout is made.
func TestACheckoutOnAFullDiskSaysSo(t *testing.T) {
	h := newHome(t)
	r := h.repo("shop", "a", "b")
	if err := os.WriteFile(filepath.Join(r.Root, "large"), []byte(strings.Repeat("0123456789", 200_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.sh(r.Root, "add", "large")
	h.sh(r.Root, "commit", "-qm", "large")
	base := h.oid(r.Root, "HEAD")
	for name, plain := range map[string]bool{"filtered": false, "plain": true} {
		small := t.TempDir()
		if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
			t.Skipf("Requires the right to mount, got: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		before := snapshot(t, r.CommonDir)
		err := r.AddWorktree(context.Background(), AddOptions{Dir: filepath.Join(small, name), Branch: name, Base: base, Plain: plain})
		if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(small); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		same(t, "the git directory", before, snapshot(t, r.CommonDir))
		if err := syscall.Mount("", small, "", syscall.MS_REMOUNT, "size=8m"); err != nil {
			t.Fatal(err)
		}
		if err := r.AddWorktree(context.Background(), AddOptions{Dir: filepath.Join(small, name), Branch: name, Base: base, Plain: plain}); err != nil {
			t.Errorf("%s, with room: %v", name, err)
		}
	}
}
