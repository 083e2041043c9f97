package pty

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A descriptor that some library opened without close-on-exec is not in the child; the twin below shows that it would be.
func TestChildInheritsNoDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open-without-cloexec")
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	const list = `ls -l /proc/self/fd; echo listed`
	for name, row := range map[string]struct {
		mark func() error
		want bool
	}{
		"marked as Start does":            {closeOnExec, false},
		"marked one by one from the list": {func() error { return markAll("/proc/self/fd") }, false},
		"not marked: the child sees it":   {func() error { return nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
				t.Fatal(err)
			}
			if err := row.mark(); err != nil {
				t.Fatal(err)
			}
			cmd := sh(list)
			out, err := cmd.Output() // os/exec itself keeps nothing else open
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(out), path); got != row.want {
				t.Errorf("in the child: %v, want %v\n%s", got, row.want, out)
			}
		})
	}
	t.Run("Start", func(t *testing.T) {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			t.Fatal(err)
		}
		c := start(t, sh(list), Size{Cols: 250, Rows: 24})
		out := c.expect(t, "listed")
		for line := range strings.SplitSeq(out, "\r\n") {
			_, target, ok := strings.Cut(line, " -> ")
			if ok && target != c.Name() && !strings.HasPrefix(target, "/proc/") { // the last is ls reading the list
				t.Errorf("child has %q", line)
			}
		}
		if !strings.Contains(out, " 0 -> "+c.Name()) {
			t.Errorf("no list of descriptors in %q", out)
		}
	})
}

// ExtraFiles are the way to hand a descriptor on; marking must not take it away.
func TestExtraFilesGetThrough(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := sh(`echo through >&3`)
	cmd.ExtraFiles = []*os.File{w}
	c := start(t, cmd, size80)
	c.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	if n, err := r.Read(buf); err != nil || string(buf[:n]) != "through\n" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}

func TestParseStat(t *testing.T) {
	for name, row := range map[string]struct {
		stat     string
		sid      int
		living   bool
		terminal bool
	}{
		"a shell":                         {"12 (sh) S 1 12 12 34816 12 4194304", 12, true, true},
		"a name with blanks and brackets": {"7 (a) Z 9 (b) R 1 7 5 0 -1 0", 5, true, false},
		"an uncollected process":          {"12 (sh) Z 1 12 12 34816 12", 12, false, true},
		"a dead process":                  {"12 (sh) X 1 12 12 34816 12", 12, false, true},
		"nothing":                         {"", 0, false, false},
		"cut off after the name":          {"12 (sh)", 0, false, false},
		"cut off before the session":      {"12 (sh) S 1 12", 0, false, false},
		"a session that is not a number":  {"12 (sh) S 1 12 x 0", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseStat([]byte(row.stat)); got.session != row.sid || got.living != row.living || got.terminal != row.terminal {
				t.Errorf("%+v, want %+v", got, row)
			}
		})
	}
}
