//go:build !linux

package git

// apply does nothing: only Linux sets limits of another process (prlimit(2)).
func (b Bounds) apply(int) error { return nil }
