package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// samples are the raw results of one run: every measured time, in microseconds, in the order in which it was
// taken. Figures in docs/benchmarks.md are computed from them and from nothing else.
type samples struct {
	When    time.Time `json:"when"`
	System  string    `json:"system"`
	CPUs    int       `json:"cpus"`
	Load    string    `json:"load"`
	Command string    `json:"command"`
	// Micros maps what was measured to its times.
	Micros map[string][]int64 `json:"micros"`
	// MCP maps server and number of connections ("termic 8") to its calls.
	MCP map[string]*series `json:"mcp,omitempty"`
	// Kilobytes are sizes, and Notes say what could not be measured and why.
	Kilobytes map[string][]int64 `json:"kilobytes,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
	// Signals maps a recorded session of an agent, as Sessions orders them, to how often each signal was right in it.
	Signals  map[string]rightness `json:"signals,omitempty"`
	Sessions []string             `json:"sessions,omitempty"`
}

// of returns the series of a server over n connections.
func (s *samples) of(name string, n int) *series {
	key := fmt.Sprintf("%s %d", name, n)
	if s.MCP[key] == nil {
		s.MCP[key] = &series{}
	}
	return s.MCP[key]
}

func newSamples() *samples {
	load, _ := os.ReadFile("/proc/loadavg") // says nothing where there is none
	return &samples{
		When: time.Now().UTC().Truncate(time.Second), System: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version(),
		CPUs: runtime.NumCPU(), Load: string(load), Command: "make bench", Micros: map[string][]int64{}, Kilobytes: map[string][]int64{},
		MCP: map[string]*series{},
	}
}

// time runs f and keeps how long it took.
func (s *samples) time(what string, f func() error) error {
	begin := time.Now()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s.Micros[what] = append(s.Micros[what], time.Since(begin).Microseconds())
	return nil
}

// quantile returns the time in milliseconds below which the share q of the samples lie.
func (s *samples) quantile(what string, q float64) float64 {
	times := slices.Clone(s.Micros[what])
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[min(len(times)-1, int(q*float64(len(times))))]) / 1000
}

// ratio returns the median of the pairwise ratios a/b: the two were measured in turn, so a machine that slows down
// slows both.
func (s *samples) ratio(a, b string) float64 {
	ratios := s.ratios(a, b)
	if len(ratios) == 0 {
		return 0
	}
	return ratios[len(ratios)/2]
}

// ratios returns the pairwise ratios a/b, the least first.
func (s *samples) ratios(a, b string) []float64 {
	var ratios []float64
	for i := range min(len(s.Micros[a]), len(s.Micros[b])) {
		ratios = append(ratios, float64(s.Micros[a][i])/float64(s.Micros[b][i]))
	}
	slices.Sort(ratios)
	return ratios
}

// The programs that are measured.
const (
	floor   = "start of a program that does nothing"
	help    = "termic version"
	cliCall = "termic status over the socket"
	headers = "termic mcp-headers, of a registered client"
)

// table renders the figures as the lines of docs/benchmarks.md.
func (s *samples) table() []string {
	lines := []string{"| what | median ms | p95 ms | samples |", "|---|---|---|---|"}
	for _, what := range []string{floor, help, cliCall, headers} {
		lines = append(lines, fmt.Sprintf("| %s | %.2f | %.2f | %d |", what, s.quantile(what, 0.5), s.quantile(what, 0.95), len(s.Micros[what])))
	}
	lines = append(lines, "", fmt.Sprintf("%s / %s, median of pairs: %.2f", cliCall, floor, s.ratio(cliCall, floor)), "",
		"| task_status over MCP | connections | calls a second | p50 ms | p99 ms | processor µs a call | allocations a call |", "|---|---|---|---|---|---|---|")
	for _, n := range connections {
		for _, name := range []string{ours, peer, plain} {
			lines = append(lines, s.row(name, n))
		}
	}
	lines = append(lines, s.row(crowd, 8))
	return append(append(lines, ""), s.goals()...)
}

func (s *samples) row(name string, n int) string {
	calls := s.of(name, n)
	return fmt.Sprintf("| %s | %d | %.0f | %.2f | %.2f | %.0f | %.0f |",
		name, n, calls.perSecond(), calls.quantile(0.5), calls.quantile(0.99), calls.each(calls.Processor), calls.each(calls.Objects))
}

// goals holds termic against what it is to reach.
func (s *samples) goals() []string {
	lines := []string{"| goal | at 1 | at 8 | at 64 |", "|---|---|---|---|"}
	for _, goal := range []struct {
		says string
		of   func(n int) float64
	}{
		{"calls a second, at least 5 times the Go SDK's", func(n int) float64 { return s.of(ours, n).perSecond() / s.of(peer, n).perSecond() }},
		{"p50, at most 0.2 of the Go SDK's at 8 and 64", func(n int) float64 { return s.of(ours, n).quantile(0.5) / s.of(peer, n).quantile(0.5) }},
		{"p99, at most 1 of the Go SDK's", func(n int) float64 { return s.of(ours, n).quantile(0.99) / s.of(peer, n).quantile(0.99) }},
		{"processor time of the Go SDK's call, at least 5 times ours", func(n int) float64 { return s.processor(peer, n) / s.processor(ours, n) }},
		{"processor time of net/http's call, at least 0.35 of ours", func(n int) float64 { return s.processor(plain, n) / s.processor(ours, n) }},
		{"calls a second, at least 0.35 of net/http's", func(n int) float64 { return s.of(ours, n).perSecond() / s.of(plain, n).perSecond() }},
	} {
		lines = append(lines, fmt.Sprintf("| %s | %.2f | %.2f | %.2f |", goal.says, goal.of(1), goal.of(8), goal.of(64)))
	}
	return append(lines, fmt.Sprintf("| calls a second with 10,000 grants, as with one | | %.2f | |", s.of(crowd, 8).perSecond()/s.of(ours, 8).perSecond()))
}

// processor is what one call costs a server, in microseconds of processor time.
func (s *samples) processor(name string, n int) float64 {
	calls := s.of(name, n)
	return calls.each(calls.Processor)
}

func (s *samples) write(name string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

func readSamples(name string) (*samples, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &samples{}
	return s, json.Unmarshal(text, s)
}
