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
	// Kilobytes are sizes, and Notes say what could not be measured and why.
	Kilobytes map[string][]int64 `json:"kilobytes,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
}

func newSamples() *samples {
	load, _ := os.ReadFile("/proc/loadavg") // says nothing where there is none
	return &samples{
		When: time.Now().UTC().Truncate(time.Second), System: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version(),
		CPUs: runtime.NumCPU(), Load: string(load), Command: "make bench", Micros: map[string][]int64{}, Kilobytes: map[string][]int64{},
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

// What is measured.
const (
	floor    = "start of a program that does nothing"
	help     = "termic version"
	cliCall  = "termic status over the socket"
	mcpOurs  = "task_status over MCP, termic"
	mcpPeer  = "the same tool, Go SDK"
	mcpOurs8 = "task_status over MCP, termic, 8 at once"
	mcpPeer8 = "the same tool, Go SDK, 8 at once"
)

// table renders the figures as the lines of docs/benchmarks.md.
func (s *samples) table() []string {
	lines := []string{"| what | median ms | p95 ms | samples |", "|---|---|---|---|"}
	for _, what := range []string{floor, help, cliCall, mcpOurs, mcpPeer, mcpOurs8, mcpPeer8} {
		lines = append(lines, fmt.Sprintf("| %s | %.2f | %.2f | %d |", what, s.quantile(what, 0.5), s.quantile(what, 0.95), len(s.Micros[what])))
	}
	return append(lines, "",
		"| ratio, median of pairs | |", "|---|---|",
		fmt.Sprintf("| %s / %s | %.2f |", cliCall, floor, s.ratio(cliCall, floor)),
		fmt.Sprintf("| %s / %s | %.2f |", mcpOurs, mcpPeer, s.ratio(mcpOurs, mcpPeer)),
		fmt.Sprintf("| %s / %s | %.2f |", mcpOurs8, mcpPeer8, s.ratio(mcpOurs8, mcpPeer8)),
	)
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
