package clients

import (
	"fmt"
	"strings"
)

// diffContext is how many unchanged lines are shown around a change; more would show more of what is not ours.
const diffContext = 3

// maxDiffCells bounds the work of one comparison: lines before times lines after, beyond which the changed middle
// is shown as taken out and put in whole. 4 million cells are some 30 MB for as long as it takes.
const maxDiffCells = 4 << 20

// line is one line of a comparison: ' ' in both, '-' only before, '+' only after.
type line struct {
	mark byte
	text string
}

// Diff returns how two texts differ, as a unified diff without times; empty when they do not.
func Diff(name, before, after string) string {
	if before == after {
		return ""
	}
	lines := compareLines(splitLines(before), splitLines(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for start := 0; start < len(lines); {
		first := nextChange(lines, start)
		if first == len(lines) {
			break
		}
		end := hunkEnd(lines, first)
		writeHunk(&b, lines, max(start, first-diffContext), end)
		start = end
	}
	return b.String()
}

func splitLines(text string) []string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, l)
	}
	return lines
}

func nextChange(lines []line, from int) int {
	for from < len(lines) && lines[from].mark == ' ' {
		from++
	}
	return from
}

// hunkEnd returns where the hunk ends whose first change is at first: with its context, and with every further
// change that is too near for a hunk of its own.
func hunkEnd(lines []line, first int) int {
	last := first
	for i := first; i < len(lines) && i-last <= 2*diffContext; i++ {
		if lines[i].mark != ' ' {
			last = i
		}
	}
	return min(last+diffContext+1, len(lines))
}

func writeHunk(b *strings.Builder, lines []line, start, end int) {
	countOf := func(part []line, mark byte) (n int) {
		for _, l := range part {
			if l.mark == ' ' || l.mark == mark {
				n++
			}
		}
		return n
	}
	position := func(mark byte) (at, n int) {
		at, n = countOf(lines[:start], mark), countOf(lines[start:end], mark)
		if n > 0 {
			at++
		}
		return at, n
	}
	oldAt, oldLines := position('-')
	newAt, newLines := position('+')
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldAt, oldLines, newAt, newLines)
	for _, l := range lines[start:end] {
		b.WriteByte(l.mark)
		b.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// compareLines returns all lines of both, equal ones once.
func compareLines(before, after []string) []line {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var lines []line
	for _, text := range before[:head] {
		lines = append(lines, line{' ', text})
	}
	lines = append(lines, compareMiddle(before[head:len(before)-tail], after[head:len(after)-tail])...)
	for _, text := range before[len(before)-tail:] {
		lines = append(lines, line{' ', text})
	}
	return lines
}

// compareMiddle finds a longest common subsequence.
func compareMiddle(before, after []string) []line {
	n, m := len(before), len(after)
	var longest [][]int32
	if n*m <= maxDiffCells {
		longest = make([][]int32, n+1)
		for i := range longest {
			longest[i] = make([]int32, m+1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if before[i] == after[j] {
					longest[i][j] = longest[i+1][j+1] + 1
				} else {
					longest[i][j] = max(longest[i+1][j], longest[i][j+1])
				}
			}
		}
	}
	var lines []line
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case longest != nil && i < n && j < m && before[i] == after[j]:
			lines = append(lines, line{' ', before[i]})
			i, j = i+1, j+1
		case i < n && (j == m || longest == nil || longest[i+1][j] >= longest[i][j+1]):
			lines = append(lines, line{'-', before[i]})
			i++
		default:
			lines = append(lines, line{'+', after[j]})
			j++
		}
	}
	return lines
}
