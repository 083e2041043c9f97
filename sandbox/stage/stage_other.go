//go:build !linux

package stage

import (
	"fmt"
	"os"
)

// Main refuses: the stage makes cages on Linux.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "stage: works on Linux only")
	return ExitRefused
}
