package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// What frontend/e2e/measure.mjs measures of the real window, under the same names.
const (
	windowStart = "from the start of the window to its first picture"
	windowIdle  = "keystroke to the screen of the window, idle"
	windowFlood = "keystroke to the screen of the window, while another task floods"
	windowTab   = "memory of the page's process for one more tab that was looked at"
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
	return append(lines, "", fmt.Sprintf("%s: %.1f MB", windowTab, tab))
}
