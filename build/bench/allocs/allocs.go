// Package allocs lets a benched server say how much it allocates: for each line on standard input it prints how many
// objects it has allocated since it started. It ends the program with its standard input.
package allocs

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

// Answer answers until standard input ends.
func Answer() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		fmt.Println(stats.Mallocs)
	}
	os.Exit(0)
}
