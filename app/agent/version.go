package agent

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// numberPattern is a version in what a program says of it ("codex-cli 0.171.0", "2.1.332 (Claude Code)").
var numberPattern = regexp.MustCompile(`\b[0-9]{1,6}(\.[0-9]{1,6}){1,3}\b`)

// numberIn returns the first version in a text, or nothing.
func numberIn(text string) string { return numberPattern.FindString(text) }

// Unsupported returns why the version that a program says of itself is not one that the definition is for, in words for the person;
// empty when it is, or when nobody can tell. Agents are renewed every week, so a newer one of the same major version counts as
// supported: flags, hooks and signals that were tried are seldom taken back in one. Nothing is refused for its version: what is
// read wrong is the state, and the guards of delivery look at the screen themselves.
func (d Definition) Unsupported(version string) string {
	tried, have := parts(d.Tried), parts(numberIn(version))
	switch {
	case tried == nil || have == nil:
		return ""
	case have[0] > tried[0]:
		return fmt.Sprintf("another major version than %s, with which %s was tried: its state may be read wrong", d.Tried, d.Title)
	case older(have, tried):
		return fmt.Sprintf("older than %s, with which %s was tried: what it lacks may keep it from starting, or its state may be read wrong", d.Tried, d.Title)
	}
	return ""
}

// parts returns the numbers of a version, or nil.
func parts(version string) []int {
	if version == "" {
		return nil
	}
	var list []int
	for text := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// older tells whether a comes before b; a part that is missing is 0.
func older(a, b []int) bool {
	for i := range max(len(a), len(b)) {
		var x, y int
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return x < y
		}
	}
	return false
}
