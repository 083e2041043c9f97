package main

import (
	"errors"
	"fmt"

	"termic/build/rig"
)

// What is measured of terminals as a person has them; parsing.go and signals.go have the rest.
const (
	echoIdle   = "keystroke to echo through termic attach, idle"
	echoFlood  = "keystroke to echo, while another tab floods"
	stopFlood  = "Ctrl-C to the end of a flood that is watched"
	cpuIdle    = "processor time a second, 20 idle tabs"
	cpuSpin    = "processor time a second, 20 tabs with spinners"
	memoryTabs = "resident memory of the app, 20 tabs of 10,000 lines"
	memoryPeer = "resident memory of Node, 20 @xterm/headless of 10,000 lines"
)

var terminalsPlace = place{"<!-- terminals: written by make bench -->", "<!-- end of terminals -->"}

// terminals measures the parsing, what a person feels, and what many tabs cost.
func terminals(s *samples, rounds int) error {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := errors.Join(parsing(s, r, max(rounds/6, 1)), signals(s)); err != nil {
		return err
	}
	return errors.Join(feel(s, r, rounds), many(s, r))
}

// terminalTable renders the figures as the lines of docs/benchmarks.md.
func (s *samples) terminalTable() []string {
	lines := s.parsingTable()
	lines = append(lines, "", "| what | median ms | p95 ms | samples |", "|---|---|---|---|")
	for _, what := range []string{echoIdle, echoFlood, stopFlood} {
		lines = append(lines, fmt.Sprintf("| %s | %.1f | %.1f | %d |", what, s.quantile(what, 0.5), s.quantile(what, 0.95), len(s.Micros[what])))
	}
	lines = append(lines, "", "| what | |", "|---|---|")
	for _, what := range []string{cpuIdle, cpuSpin} {
		lines = append(lines, fmt.Sprintf("| %s | %.1f ms |", what, s.quantile(what, 0.5)))
	}
	for _, what := range []string{memoryTabs, memoryPeer} { // kept as KiB
		lines = append(lines, fmt.Sprintf("| %s | %.0f MB |", what, s.quantile(what, 0.5)*1000*1024/1e6))
	}
	lines = append(lines, fmt.Sprintf("| ratio of the two | %.2f |", s.ratio(memoryTabs, memoryPeer)), "")
	return append(lines, s.signalTable()...)
}
