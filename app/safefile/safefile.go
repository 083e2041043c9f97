//go:build unix

// Package safefile reads files where somebody else can write. A Dir is a directory that is held open; what is
// opened beneath it never leaves it, follows no link at any component, is a regular file, has a bounded size, and
// never makes the reader wait (a FIFO, a device). The directory may be renamed or replaced meanwhile.
//
// Not claimed: a hard link that the other side could make is the file itself, and a file may change while it is
// read: what is returned are bytes that it had, not a state that it had.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// What callers tell apart; each is wrapped with the name.
var (
	ErrBadName    = errors.New("not a plain relative path")
	ErrLink       = errors.New("a link, or leads through one")
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than its limit")
)

// Dir is a directory held open. It is safe for use by many goroutines until Close.
type Dir struct{ f *os.File }

// Hold opens the directory at path, whose parents must be trusted; path itself must not be a link.
func Hold(path string) (*Dir, error) {
	fd, err := openRetry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, wrap(path, err)
	}
	return &Dir{f: os.NewFile(uintptr(fd), path)}, nil
}

// Close lets the directory go.
func (d *Dir) Close() error { return d.f.Close() }

// Dir holds the directory name beneath d; "." is d itself once more.
func (d *Dir) Dir(name string) (*Dir, error) {
	f, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &Dir{f: f}, nil
}

// Open opens the regular file name beneath d for reading, and returns what it was when it was opened.
func (d *Dir) Open(name string) (*os.File, fs.FileInfo, error) {
	// NONBLOCK: a FIFO without a writer. NOCTTY: a terminal. Neither survives the check below.
	f, err := d.open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Read returns the bytes of the regular file name, at most limit; ErrTooLarge when there are more, without reading
// what a sparse file only claims to hold.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	f, info, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes: %w", name, info.Size(), ErrTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > limit { // it grew
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, nil
}

// Copy writes the bytes of the regular file name to w; as Read otherwise.
func (d *Dir) Copy(w io.Writer, name string, limit int64) (int64, error) {
	f, info, err := d.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if info.Size() > limit {
		return 0, fmt.Errorf("%s: %d bytes: %w", name, info.Size(), ErrTooLarge)
	}
	n, err := io.Copy(w, io.LimitReader(f, limit))
	if err != nil {
		return n, fmt.Errorf("copy %s: %w", name, err)
	}
	if more, _ := f.Read(make([]byte, 1)); more > 0 {
		return n, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return n, nil
}

// Lstat describes name beneath d without opening it; a link at its end is described, not followed.
func (d *Dir) Lstat(name string) (fs.FileMode, int64, error) {
	in, base, err := d.parent(name)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	var st unix.Stat_t
	if err := unix.Fstatat(int(in.Fd()), base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, 0, wrap(name, err)
	}
	return mode(uint32(st.Mode)), st.Size, nil
}

// Readlink returns the text of the link name, at most 4096 bytes.
func (d *Dir) Readlink(name string) (string, error) {
	in, base, err := d.parent(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	buf := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(int(in.Fd()), base, buf)
	if err != nil {
		return "", wrap(name, err)
	}
	return string(buf[:n]), nil
}

// Rename moves name beneath d to newName beneath to, on the same file system. Nothing is followed: a link at the end of
// name is moved itself, a link in its parents is ErrLink. What is at newName is replaced if rename(2) would.
func (d *Dir) Rename(name string, to *Dir, newName string) error {
	from, base, err := d.parent(name)
	if err != nil {
		return err
	}
	defer from.Close()
	into, newBase, err := to.parent(newName)
	if err != nil {
		return err
	}
	defer into.Close()
	if err := unix.Renameat(int(from.Fd()), base, int(into.Fd()), newBase); err != nil {
		return &fs.PathError{Op: "rename", Path: clip(name), Err: err}
	}
	return nil
}

// parent opens the directory that name lies in, and returns its last component.
func (d *Dir) parent(name string) (*os.File, string, error) {
	if !plain(name) || name == "." {
		return nil, "", fmt.Errorf("%q: %w", clip(name), ErrBadName)
	}
	dir, base := ".", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	f, err := d.open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	return f, base, err
}

// Entry is one name of a directory.
type Entry struct {
	Name string
	Type fs.FileMode // the type bits only; a hint that may be old by now
}

// List returns the names in d, at most limit, in no order; more reports that there are others.
func (d *Dir) List(limit int) (list []Entry, more bool, err error) {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY) // a reading position of its own
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for len(list) <= limit {
		entries, err := f.ReadDir(min(1024, limit-len(list)+1))
		for _, e := range entries {
			list = append(list, Entry{Name: e.Name(), Type: e.Type()})
		}
		if errors.Is(err, io.EOF) {
			return list, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return list[:limit], true, nil
}

// open opens name beneath d and follows nothing.
func (d *Dir) open(name string, flags int) (*os.File, error) {
	if !plain(name) {
		return nil, fmt.Errorf("%q: %w", clip(name), ErrBadName)
	}
	fd, err := openRetry(func() (int, error) { return beneath(int(d.f.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC) })
	if err != nil {
		return nil, wrap(name, err)
	}
	return os.NewFile(uintptr(fd), d.f.Name()+"/"+name), nil
}

// walk opens name one component at a time: what openat2 does in one call, for systems without it.
func walk(dir int, name string, flags int) (int, error) {
	held := -1
	defer func() {
		if held >= 0 {
			unix.Close(held)
		}
	}()
	parts := strings.Split(name, "/")
	for i, part := range parts {
		want := flags
		if i < len(parts)-1 {
			want = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		}
		fd, err := unix.Openat(dir, part, want, 0)
		if err != nil {
			if errors.Is(err, unix.ENOTDIR) && isLink(dir, part) { // O_DIRECTORY hides ELOOP
				err = unix.ELOOP
			}
			return -1, err
		}
		if held >= 0 {
			unix.Close(held)
		}
		dir, held = fd, fd
	}
	fd := held
	held = -1
	return fd, nil
}

func isLink(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFLNK
}

// plain reports whether name is "." or components that are names, so that nothing in it can climb.
func plain(name string) bool {
	if name == "." {
		return true
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// openRetry calls open again when a signal or a rename somewhere in the tree interrupted it (openat2(2): EAGAIN).
func openRetry(open func() (int, error)) (fd int, err error) {
	for range 1000 {
		fd, err = open()
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	return fd, err
}

func wrap(name string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV):
		return fmt.Errorf("%s: %w", clip(name), ErrLink)
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV): // a socket; a device without a driver
		return fmt.Errorf("%s: %w", clip(name), ErrNotRegular)
	}
	return &fs.PathError{Op: "open", Path: clip(name), Err: err}
}

func mode(m uint32) fs.FileMode {
	out := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		out |= fs.ModeDir
	case unix.S_IFLNK:
		out |= fs.ModeSymlink
	case unix.S_IFIFO:
		out |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		out |= fs.ModeSocket
	case unix.S_IFCHR:
		out |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		out |= fs.ModeDevice
	default:
		out |= fs.ModeIrregular
	}
	return out
}

func clip(s string) string { return s[:min(len(s), 200)] }
