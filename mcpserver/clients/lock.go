package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// lockStale is the age at which the client itself takes a lock over: npm's proper-lockfile, default 10 s. Its
	// holder touches it every 5 s.
	lockStale = 10 * time.Second
	// lockRetry is how often a lock that is held is looked at again. It is held for some milliseconds.
	lockRetry = 20 * time.Millisecond
)

// Lock takes the client's own lock on a configuration: a directory FILE.lock, as proper-lockfile makes it (seen in
// Claude Code 2.1.332). It waits until ctx ends, and the error is then ErrLocked. A lock whose holder died is
// taken over as the client would.
func Lock(ctx context.Context, file string) (unlock func() error, err error) {
	target, err := resolve(file)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	name := target + ".lock"
	for {
		err := os.Mkdir(name, 0o700)
		if err == nil {
			return func() error { return os.Remove(name) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
		if info, err := os.Lstat(name); err == nil && info.IsDir() && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(name) // whoever makes it next has it
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", file, ErrLocked)
		case <-time.After(lockRetry):
		}
	}
}
