package git

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// systemWords are the texts by which git passes on what the system refused, with LC_ALL=C: those of glibc, of musl and of
// macOS.
var systemWords = map[syscall.Errno][]string{
	syscall.ENOSPC: {"No space left on device"},
	syscall.EDQUOT: {"Disk quota exceeded", "Disc quota exceeded", "Quota exceeded"},
	syscall.EROFS:  {"Read-only file system"},
	syscall.EACCES: {"Permission denied"},
	syscall.EMFILE: {"Too many open files", "No file descriptors available"},
	syscall.ENFILE: {"Too many open files in system"},
}

// unwritableObject is how git says EACCES of its object store.
const unwritableObject = "error: insufficient permission for adding an object to repository database"

// Is makes errors.Is(err, syscall.ENOSPC) and the like true of a git that failed for that reason. Only git's own lines
// count, and only their ends: what a remote said, and names of files, may hold the same words.
func (e *ExitError) Is(target error) bool {
	errno, ok := target.(syscall.Errno)
	if !ok {
		return false
	}
	for line := range strings.Lines(e.Stderr) {
		if saysErrno(strings.TrimSpace(line), errno) {
			return true
		}
	}
	return false
}

func saysErrno(line string, errno syscall.Errno) bool {
	if !strings.HasPrefix(line, "fatal: ") && !strings.HasPrefix(line, "error: ") {
		return false
	}
	if errno == syscall.EACCES && strings.HasPrefix(line, unwritableObject) {
		return true
	}
	for _, start := range []string{"cannot run ", "cannot exec ", "cannot spawn ", "unable to access 'http"} { // about programs and remotes, not files
		if strings.Contains(line, " "+start) {
			return false
		}
	}
	for _, words := range systemWords[errno] {
		if strings.HasSuffix(strings.TrimSuffix(line, "."), ": "+words) {
			return true
		}
	}
	return false
}

// unwritten is what git says when it could not write a checkout's file or index. It does not say why.
var unwritten = []string{"unable to write file ", "nable to write new index file", "ould not write new index file"}

// probeSize is how much is written to find out why: more than what is left in the last block of a full disk.
const probeSize = 1 << 20

// whyUnwritten adds to a checkout's failure the reason that git left out: it writes where git did, and what the system
// says of that is why.
func whyUnwritten(err error, w linked) error {
	if err == nil || !stderrHas(err, unwritten...) {
		return err
	}
	return errors.Join(err, probe(w.dir), probe(w.record))
}

// probe writes a file in dir and removes it.
func probe(dir string) error {
	file, err := os.CreateTemp(dir, ".termic-probe-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, probeSize))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}
