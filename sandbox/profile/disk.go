package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Disk is what Compile asks about the machine.
type Disk interface {
	// Lstat describes a path without following it when it is a symbolic link. The error is fs.ErrNotExist when
	// nothing is there.
	Lstat(path string) (Entry, error)
	// ReadDir returns the names in a directory.
	ReadDir(path string) ([]string, error)
}

// Entry describes one path.
type Entry struct {
	Mode     fs.FileMode
	Target   string // of a symbolic link
	Links    uint64 // names that the file has
	Dev, Ino uint64 // tell whether two names are of one file
}

// Machine is the Disk of the system that the program runs on.
type Machine struct{}

// Lstat asks the system.
func (Machine) Lstat(name string) (Entry, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{Mode: info.Mode()}
	entry.identify(info.Sys())
	if info.Mode()&fs.ModeSymlink != 0 {
		entry.Target, err = os.Readlink(name)
	}
	return entry, err
}

// ReadDir asks the system.
func (Machine) ReadDir(name string) ([]string, error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// maxLinks is how many symbolic links a path may lead through; Linux's own limit (MAXSYMLINKS).
const maxLinks = 40

// resolve returns where a path leads: absolute, clean, without symbolic links. What does not exist (the end of a
// path, or all after its first missing element) is kept as it is written, and exists is false.
func resolve(disk Disk, name string) (real string, exists bool, err error) {
	if !path.IsAbs(name) {
		return "", false, fmt.Errorf("path %q: not absolute", name)
	}
	if strings.ContainsAny(name, "\x00\n") {
		return "", false, fmt.Errorf("path %q: has a newline or a NUL byte", name)
	}
	todo := strings.Split(path.Clean(name), "/")[1:]
	real, exists = "/", true
	for links := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if next == "" || next == "." {
			continue
		}
		if next == ".." {
			real = path.Dir(real)
			continue
		}
		at := path.Join(real, next)
		entry, err := disk.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return path.Join(append([]string{at}, todo...)...), false, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("path %q: %w", name, err)
		}
		if entry.Mode&fs.ModeSymlink == 0 {
			real = at
			continue
		}
		if links++; links > maxLinks {
			return "", false, fmt.Errorf("path %q: more than %d symbolic links", name, maxLinks)
		}
		if path.IsAbs(entry.Target) {
			real = "/"
		}
		todo = append(strings.Split(entry.Target, "/"), todo...)
	}
	return real, exists, nil
}
