package audit

import (
	"syscall"
	"testing"
)

// mountSmall mounts 512 KiB of tmpfs at dir until the test ends, and reports whether it could: that needs root.
func mountSmall(t *testing.T, dir string) bool {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k,mode=0700"); err != nil {
		t.Logf("needs the right to mount, got: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}
