// Package cost lets a benched server say what it has cost: for each line on standard input it prints how many objects
// it has allocated and how many microseconds of processor time it has used since it started. It ends the program with
// its standard input.
package cost

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// Answer answers until standard input ends.
func Answer() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(stats.Mallocs, (usage.Utime.Nano()+usage.Stime.Nano())/1000)
	}
	os.Exit(0)
}
