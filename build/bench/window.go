package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// What frontend/e2e/measure.mjs measures of the real window, under the same names.
const (
	windowStart = "from the start of the window to its first picture"
	windowIdle  = "keystroke to the screen of the window, idle"
	windowFlood = "keystroke to the screen of the window, while another task floods"
	windowTab   = "memory of the page's process for one more tab that was looked at"
	windowPage  = "page, 500 tasks: " // begins the names of its requests, and of its frames
)

var windowPlace = place{"<!-- window: written by make bench -->", "<!-- end of window -->"}

// errNoWindow says why there is no window to measure.
var errNoWindow = errors.New("it needs build/bin/termic-app-e2e and a display of its own: run make test-window first")

// window measures the real window under Xvfb, each start with a data directory of its own.
func window(s *samples, rounds int) error {
	for _, program := range []string{"Xvfb", "openbox", "WebKitWebDriver", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			return errNoWindow
		}
	}
	if _, err := os.Stat("build/bin/termic-app-e2e"); err != nil {
		return errNoWindow
	}
	measure := exec.Command("node", "frontend/e2e/measure.mjs", strconv.Itoa(max(rounds/6, 1)))
	measure.Stderr = os.Stderr
	out, err := measure.Output()
	if err != nil {
		return fmt.Errorf("measure the window: %w", err)
	}
	return json.Unmarshal(out, s)
}

// windowTable renders the figures as the lines of docs/benchmarks.md.
func (s *samples) windowTable() []string {
	lines := []string{"| what | median ms | p95 ms | samples |", "|---|---|---|---|"}
	for _, what := range []string{windowStart, windowIdle, windowFlood} {
		lines = append(lines, fmt.Sprintf("| %s | %.1f | %.1f | %d |", what, s.quantile(what, 0.5), s.quantile(what, 0.95), len(s.Micros[what])))
	}
	tab := 0.0
	if kept := s.Kilobytes[windowTab]; len(kept) > 0 {
		tab = float64(kept[0]) * 1024 / 1e6
	}
	lines = append(lines, "", fmt.Sprintf("%s: %.1f MB", windowTab, tab))
	return append(lines, s.pageTable()...)
}

// pageTable renders what the page asked for in a session among 500 tasks, the slowest first.
func (s *samples) pageTable() []string {
	var names []string
	for what := range s.Micros {
		if strings.HasPrefix(what, windowPage) {
			names = append(names, what)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.quantile(b, 0.5), s.quantile(a, 0.5)), strings.Compare(a, b))
	})
	lines := []string{"", "| the page among 500 tasks | median ms | p95 ms | most ms | samples |", "|---|---|---|---|---|"}
	for _, what := range names {
		lines = append(lines, fmt.Sprintf("| %s | %.1f | %.1f | %.1f | %d |",
			strings.TrimPrefix(what, windowPage), s.quantile(what, 0.5), s.quantile(what, 0.95), s.quantile(what, 1), len(s.Micros[what])))
	}
	return lines
}
