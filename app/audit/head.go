package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// nameHead is a small file that says which entry was last known to be on disk. A chain alone cannot tell that its end was
// cut off. It is written after each fsync of the log, over itself and of constant length, so that it needs no free disk, and
// without an fsync of its own: after a power cut it may be behind the log, never ahead of it.
const nameHead = "head"

const headDigits = 20

func formatHead(s state) []byte { return fmt.Appendf(nil, "%0*d %s\n", headDigits, s.seq, s.hash) }

// errHead: the head file is not what formatHead writes.
var errHead = errors.New("head is unreadable")

// readHead returns where the log must reach at least; found is false when there is no head file.
func readHead(root *os.Root) (s state, found bool, err error) {
	b, err := root.ReadFile(nameHead)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, false, nil
	}
	if err != nil {
		return state{}, false, err
	}
	number, hash, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	seq, err := strconv.ParseUint(number, 10, 64)
	if s = (state{seq, hash}); !ok || err != nil || string(formatHead(s)) != string(b) || len(hash) != len(genesis) {
		return state{}, true, errHead
	}
	return s, true, nil
}

// openHead opens the head file for writing and sets it to s.
func openHead(root *os.Root, s state) (*os.File, error) {
	f, err := root.OpenFile(nameHead, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b := formatHead(s)
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Truncate(int64(len(b)))); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
