package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// What callers must tell apart. Each is found with errors.Is; where a type is named, errors.As gives more.
var (
	// ErrNoHome: no variable names a place for the data directory.
	ErrNoHome = errors.New("no home directory")
	// ErrRelative: a data directory was given that is not an absolute path.
	ErrRelative = errors.New("data directory is not an absolute path")
	// ErrUnsafe: somebody else owns or can write the data directory or a file in it; see UnsafeError.
	ErrUnsafe = errors.New("unsafe permissions")
	// ErrLocked: another instance holds the data directory; see LockedError.
	ErrLocked = errors.New("data directory is in use")
	// ErrNewer: a file was written by a newer termic than this one; see NewerError.
	ErrNewer = errors.New("written by a newer termic")
	// ErrCorrupt: a file's content cannot be understood. Only Problems report it: a corrupt file is set aside.
	ErrCorrupt = errors.New("corrupt data file")
	// ErrNotKept: a corrupt file could be neither read nor set aside, so it is not overwritten.
	ErrNotKept = errors.New("cannot be set aside, so it is not overwritten")
	// ErrMigration: an old file could not be brought to today's version. It is left as it was.
	ErrMigration = errors.New("cannot migrate")
	// ErrNoSpace: the disk, a quota or a file size limit is full. The old content is whole.
	ErrNoSpace = errors.New("no space left")
	// ErrReadOnly: the data directory cannot be written. The old content is whole.
	ErrReadOnly = errors.New("data directory cannot be written")
	// ErrTooLarge: a value that is larger than Load would take back was refused before anything was written.
	ErrTooLarge = errors.New("too large")
	// ErrName: a name that may not stand in the data directory.
	ErrName = errors.New("invalid name")
	// ErrClosed: the store is closed, and its lock with it.
	ErrClosed = errors.New("store is closed")
)

// UnsafeError says what is wrong with who may touch a path, and which command puts it right.
type UnsafeError struct {
	Path, Reason, Remedy string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Path, e.Reason, e.Remedy)
}

func (e *UnsafeError) Unwrap() error { return ErrUnsafe }

// LockedError says which process holds the data directory.
type LockedError struct {
	Dir string
	Pid int // 0 when the holder has not written it (yet)
}

func (e *LockedError) Error() string {
	holder := "another termic"
	if e.Pid != 0 {
		holder = fmt.Sprintf("another termic (pid %d)", e.Pid)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop it first, or set TERMIC_DATA_DIR to another directory", e.Dir, holder)
}

func (e *LockedError) Unwrap() error { return ErrLocked }

// NewerError says which version a file has, and the newest that this termic knows.
type NewerError struct {
	File           string
	Version, Known int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has version %d and was written by a newer termic (this one knows up to %d): update termic", e.File, e.Version, e.Known)
}

func (e *NewerError) Unwrap() error { return ErrNewer }

// writeError adds the class of a failed write to the error of the system, whose text it keeps.
type writeError struct {
	class, err error
}

func (e *writeError) Error() string   { return e.err.Error() }
func (e *writeError) Unwrap() []error { return []error{e.class, e.err} }

// classify returns err with the class by which callers tell a full disk from a read-only one, or err itself.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	// EFBIG is RLIMIT_FSIZE (setrlimit(2)) or the file system's own limit: for the caller, no room for this file.
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return &writeError{ErrNoSpace, err}
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return &writeError{ErrReadOnly, err}
	}
	return err
}

// ours reports whether err comes from a shortage in this process or machine and says nothing about the file.
// Setting a good file aside because we ran out of descriptors would make a small fault a big one.
func ours(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EINTR, fs.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
