package main

import (
	"fmt"
	"os"
	"strings"
)

// place is where in docs/benchmarks.md a table stands: between two lines.
type place struct{ begin, end string }

var (
	callsPlace = place{"<!-- table: written by make bench -->", "<!-- end of table -->"}
	cagesPlace = place{"<!-- cages: written by make bench -->", "<!-- end of cages -->"}
)

// writePage puts a table of the figures of s, kept in file, into the page.
func writePage(page string, at place, file string, s *samples, lines []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), at.begin)
	_, after, ended := strings.Cut(rest, at.end)
	if !begun || !ended {
		return fmt.Errorf("%s: no place for the table", page)
	}
	table := fmt.Sprintf("%s\n%s, %d processors, load %s; raw samples in [%s](%s).\n\n%s\n",
		at.begin, s.System, s.CPUs, strings.TrimSpace(s.Load), file, file, strings.Join(lines, "\n"))
	return os.WriteFile(page, []byte(before+table+at.end+after), 0o644)
}
