//go:build !linux

package watched

import (
	"errors"

	"termic/sandbox/watch"
)

// Become refuses: only Linux can be watched.
func Become([]string) error { return errors.ErrUnsupported }

// Accept refuses.
func Accept(string, func(label string) func(watch.Notice)) (stop func(), err error) {
	return nil, errors.ErrUnsupported
}
