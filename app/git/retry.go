package git

import (
	"context"
	"time"
)

const (
	// retryFor bounds how long we try again while another git holds a lock of
	// the repository: longer than any ref transaction, shorter than patience.
	retryFor   = 10 * time.Second
	retryFirst = 20 * time.Millisecond
	retryMost  = 500 * time.Millisecond
)

// retryLocked calls f again while it fails because another git holds a lock.
func (r *Repo) retryLocked(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(retryFor)
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := f()
		if err == nil || !lockContention(err) || time.Now().After(deadline) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// lockContention reports whether err is git finding a lock file of another
// process: "Unable to create '….lock': File exists", "could not lock config file".
func lockContention(err error) bool {
	return stderrHas(err, ".lock': File exists", "could not lock config file")
}
