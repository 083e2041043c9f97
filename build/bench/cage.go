package main

import (
	"errors"
	"fmt"
	"slices"
)

var errNoCages = errors.New("cages are on Linux only")

// What is measured of cages, by whom: the name of the user is added.
const (
	plainTrue     = "exec of true"
	cageTrue      = "true in a new cage"
	wrapTrue      = "true in bubblewrap with a second stage"
	sealed        = "a new cage is sealed"
	together      = "twenty cages started at once are sealed"
	plainGo       = "go build, processor time"
	cageGo        = "go build in a cage, processor time"
	plainOpens    = "a shell opens 20,000 files"
	watchedOpens  = "the same, watched as in mode monitor"
	filteredOpens = "the same, under strace with a filter"
	stracedOpens  = "the same, under strace"

	ownMemory = "memory of process 1 that is its own, kB"
)

// manyCages is how many are started at once.
const manyCages = 20

// pairs is how often go is run inside and outside.
const pairs = 10

// cageTable renders the figures of cages as lines of docs/benchmarks.md.
func (s *samples) cageTable() []string {
	var lines []string
	for _, user := range []string{"user", "root"} {
		if len(s.Micros[cageTrue+", "+user]) == 0 {
			continue
		}
		lines = append(lines, "| as "+user+" | median ms | quickest ms | p95 ms | samples |", "|---|---|---|---|---|")
		for _, what := range []string{plainTrue, cageTrue, wrapTrue, sealed, together, plainOpens, watchedOpens, filteredOpens, stracedOpens} {
			if key := what + ", " + user; len(s.Micros[key]) > 0 {
				lines = append(lines, fmt.Sprintf("| %s | %.2f | %.2f | %.2f | %d |", what, s.quantile(key, 0.5), s.quantile(key, 0), s.quantile(key, 0.95), len(s.Micros[key])))
			}
		}
		lines = append(lines, "", "| as "+user+" | |", "|---|---|")
		add := func(what, figure string) { lines = append(lines, "| "+what+" | "+figure+" |") }
		plain, cage := plainTrue+", "+user, cageTrue+", "+user
		add("a cage over plain exec, median of pairs", fmt.Sprintf("%.2f ms", s.over(cage, plain)))
		if wrap := wrapTrue + ", " + user; len(s.Micros[wrap]) > 0 {
			add("bubblewrap with a second stage over plain exec, median of pairs", fmt.Sprintf("%.2f ms", s.over(wrap, plain)))
			add("cage / bubblewrap, median of pairs", fmt.Sprintf("%.2f", s.ratio(cage, wrap)))
		}
		if watched := watchedOpens + ", " + user; len(s.Micros[watched]) > 0 {
			add("watched / not, median of pairs", fmt.Sprintf("%.2f", s.ratio(watched, plainOpens+", "+user)))
		}
		if all := slices.Sorted(slices.Values(s.Kilobytes[ownMemory+", "+user])); len(all) > 0 {
			add(fmt.Sprintf("own memory of a caged task, median and most of %d that live at once", len(all)),
				fmt.Sprintf("%.2f MB, %.2f MB", float64(all[len(all)/2])/1024, float64(all[len(all)-1])/1024))
		}
		if ratios := s.ratios(cageGo+", "+user, plainGo+", "+user); len(ratios) > 0 {
			add(fmt.Sprintf("go build in a cage / outside, processor time, median of %d pairs (least to most)", len(ratios)),
				fmt.Sprintf("%.3f (%.3f to %.3f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]))
		}
		lines = append(lines, "")
	}
	for _, note := range s.Notes {
		lines = append(lines, "Not measured: "+note+".", "")
	}
	return lines[:max(0, len(lines)-1)]
}

// over returns the median in milliseconds of what a takes longer than b, pair by pair.
func (s *samples) over(a, b string) float64 {
	var differences []int64
	for i := range min(len(s.Micros[a]), len(s.Micros[b])) {
		differences = append(differences, s.Micros[a][i]-s.Micros[b][i])
	}
	if len(differences) == 0 {
		return 0
	}
	slices.Sort(differences)
	return float64(differences[len(differences)/2]) / 1000
}
