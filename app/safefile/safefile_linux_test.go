package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hostile is a directory of ours beside a secret, with everything in it that an agent could put there.
func hostile(t *testing.T) (dir *Dir, path string) {
	t.Helper()
	top := t.TempDir()
	path = filepath.Join(top, "in")
	for _, d := range []string{"out", "in/d/e"} {
		must(t, os.MkdirAll(filepath.Join(top, d), 0o700))
	}
	for name, text := range map[string]string{"out/secret": "SECRET", "in/file": "plain", "in/d/e/file": "deep"} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o600))
	}
	for name, to := range map[string]string{
		"link": "../out/secret", "abs": filepath.Join(top, "out/secret"), "inner": "file", "dirlink": "../out", "d/up": "..", "proc": "/proc/self/fd",
	} {
		must(t, os.Symlink(to, filepath.Join(path, name)))
	}
	must(t, unix.Mkfifo(filepath.Join(path, "fifo"), 0o600))
	sparse, err := os.Create(filepath.Join(path, "sparse"))
	must(t, err)
	must(t, sparse.Truncate(20<<30))
	must(t, sparse.Close())
	d, err := Hold(path)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d, path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadRefusesWhatLeavesOrBlocks(t *testing.T) {
	d, path := hostile(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(fd)
	t.Chdir(path) // a socket's path is short
	must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: "sock"}))
	for name, c := range map[string]struct {
		file string
		want error // nil: succeeds
	}{
		"a file":                          {"file", nil},
		"a file in a directory":           {"d/e/file", nil},
		"a link out":                      {"link", ErrLink},
		"an absolute link out":            {"abs", ErrLink},
		"a link that stays in":            {"inner", ErrLink},
		"a file behind a linked dir":      {"dirlink/secret", ErrLink},
		"a link to the parent":            {"d/up/file", ErrLink},
		"a link into /proc":               {"proc/0", ErrLink},
		"a FIFO":                          {"fifo", ErrNotRegular},
		"a socket":                        {"sock", ErrNotRegular},
		"a directory":                     {"d", ErrNotRegular},
		"20 GB that are not there":        {"sparse", ErrTooLarge},
		"the parent":                      {"../out/secret", ErrBadName},
		"the parent from within":          {"d/../../out/secret", ErrBadName},
		"an absolute path":                {"/etc/passwd", ErrBadName},
		"nothing":                         {"", ErrBadName},
		"a name with NUL":                 {"file\x00", ErrBadName},
		"a trailing slash":                {"file/", ErrBadName},
		"a file that is not there":        {"absent", fs.ErrNotExist},
		"a name that is longer than PATH": {strings.Repeat("a/", 4000) + "a", unix.ENAMETOOLONG},
	} {
		data, err := d.Read(c.file, 1<<20)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if bytes.Contains(data, []byte("SECRET")) {
			t.Errorf("%s: the secret came out", name)
		}
		// The walk, for systems without openat2, says the same wherever it is asked. It resolves component by
		// component, so that it does not know a longest path.
		if plain(c.file) && !errors.Is(c.want, unix.ENAMETOOLONG) {
			fd, err := walk(int(d.f.Fd()), c.file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC)
			if links := errors.Is(c.want, ErrLink); links != errors.Is(err, unix.ELOOP) {
				t.Errorf("%s: the walk says %v", name, err)
			}
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	}
}

func TestReadRefusesDevices(t *testing.T) {
	d, err := Hold("/dev") // devices that every system has; making one needs rights
	must(t, err)
	defer d.Close()
	for _, name := range []string{"null", "zero", "tty"} {
		if _, err := d.Read(name, 1<<20); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimitsAreExact(t *testing.T) {
	d, _ := hostile(t)
	for limit, want := range map[int64]error{5: nil, 4: ErrTooLarge} {
		if _, err := d.Read("file", limit); !errors.Is(err, want) {
			t.Errorf("read of 5 bytes with a limit of %d: %v", limit, err)
		}
		var out bytes.Buffer
		if _, err := d.Copy(&out, "file", limit); !errors.Is(err, want) || int64(out.Len()) > limit {
			t.Errorf("copy of 5 bytes with a limit of %d: %v, %d bytes", limit, err, out.Len())
		}
	}
	for limit, want := range map[int]bool{100: false, 2: true} {
		list, more, err := d.List(limit)
		if err != nil || more != want || len(list) > limit {
			t.Errorf("list of at most %d: %d names, more %v, %v", limit, len(list), more, err)
		}
	}
}

// A directory that is held stays that directory, whatever its path means by now.
func TestHeldDirectoryIsNotItsPath(t *testing.T) {
	d, path := hostile(t)
	must(t, os.Rename(path, path+".old"))
	must(t, os.Symlink("out", path))
	if data, err := d.Read("file", 10); err != nil || string(data) != "plain" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Hold(path); err == nil {
		t.Error("a link was held as a directory")
	}
}

// Names are swapped between a file, a link out and a linked directory as fast as the machine can, while they are
// read: each answer is the file or a refusal, never the secret.
func TestReadUnderRaces(t *testing.T) {
	d, path := hostile(t)
	for name, to := range map[string]string{"l1": "../out", "l2": "../out/secret"} {
		must(t, os.Symlink(to, filepath.Join(path, name)))
	}
	must(t, os.WriteFile(filepath.Join(path, "d", "secret"), []byte("plain"), 0o600))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	for a, b := range map[string]string{"d": "l1", "file": "l2"} {
		swapping.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					unix.Renameat2(unix.AT_FDCWD, filepath.Join(path, a), unix.AT_FDCWD, filepath.Join(path, b), unix.RENAME_EXCHANGE) //nolint:errcheck
				}
			}
		})
	}
	good, refused := 0, 0
	for end := time.Now().Add(10 * time.Second); (good < 500 || refused < 500) && time.Now().Before(end); {
		for _, name := range []string{"d/secret", "file"} {
			data, err := d.Read(name, 100)
			switch {
			case err == nil && string(data) == "plain":
				good++
			case errors.Is(err, ErrLink), errors.Is(err, unix.EAGAIN):
				refused++
			default:
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
	}
	close(stop)
	swapping.Wait()
	if good == 0 || refused == 0 {
		t.Errorf("%d reads and %d refusals: both sides of the race should be seen", good, refused)
	}
}

func TestLstatAndReadlinkDoNotFollow(t *testing.T) {
	d, _ := hostile(t)
	if m, _, err := d.Lstat("link"); err != nil || m&fs.ModeSymlink == 0 {
		t.Errorf("link: %v, %v", m, err)
	}
	if m, size, err := d.Lstat("d/e/file"); err != nil || !m.IsRegular() || size != 4 {
		t.Errorf("file: %v %d, %v", m, size, err)
	}
	if _, _, err := d.Lstat("dirlink/secret"); !errors.Is(err, ErrLink) {
		t.Errorf("behind a linked directory: %v", err)
	}
	if to, err := d.Readlink("link"); err != nil || to != "../out/secret" {
		t.Errorf("%q, %v", to, err)
	}
	if _, err := d.Readlink("dirlink/secret"); !errors.Is(err, ErrLink) {
		t.Errorf("behind a linked directory: %v", err)
	}
}
