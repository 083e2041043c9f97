package pty

import (
	"errors"
	"fmt"
)

// Running is not to be had here: XNU shows the environment of another process to nobody but its parent.
func Running(variable string) ([]Process, error) {
	return nil, fmt.Errorf("look for processes with %s: %w", variable, errors.ErrUnsupported)
}

// Marked is not to be had here, as Running.
func Marked(variable string) ([]Process, error) { return Running(variable) }
