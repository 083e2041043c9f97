//go:build !linux

package pty

import (
	"errors"
	"fmt"
	"os"
)

// Adopt refuses: only Linux has cages whose terminals are their own.
func Adopt(master *os.File, _ Guest) (*Session, error) {
	return nil, errors.Join(fmt.Errorf("adopt terminal: %w", errors.ErrUnsupported), master.Close())
}
