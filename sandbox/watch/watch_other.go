//go:build !linux

package watch

import "errors"

// Missing reports nothing: nothing is watched here.
func Missing(int, string) bool { return false }

// Supported says that this system cannot watch.
func Supported() error { return errors.ErrUnsupported }

// Become refuses: only Linux can be watched.
func Become([]string) error { return errors.ErrUnsupported }

// Accept refuses.
func Accept(string, func(label string) func(Notice)) (stop func(), err error) {
	return nil, errors.ErrUnsupported
}
