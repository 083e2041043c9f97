//go:build !linux

package watch

import "errors"

// Missing reports nothing: nothing is watched here.
func Missing(int, string) bool { return false }

// Supported says that this system cannot watch.
func Supported() error { return errors.ErrUnsupported }
