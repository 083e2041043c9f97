package main

import (
	"fmt"
	"os"
	"strings"
)

// The lines between which the table of docs/benchmarks.md stands.
const (
	tableBegin = "<!-- table: written by make bench -->"
	tableEnd   = "<!-- end of table -->"
)

// writePage puts the figures of s, kept in file, into the page.
func writePage(page, file string, s *samples) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return fmt.Errorf("%s: no place for the table", page)
	}
	table := fmt.Sprintf("%s\n%s, %d processors, load %s; raw samples in [%s](%s).\n\n%s\n",
		tableBegin, s.System, s.CPUs, strings.TrimSpace(s.Load), file, file, strings.Join(s.table(), "\n"))
	return os.WriteFile(page, []byte(before+table+tableEnd+after), 0o644)
}
