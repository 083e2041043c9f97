package main

import (
	"slices"
)

// series is what calls over a number of connections took, added up over several slices of time.
type series struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	// Micros counts calls by how long they took: microseconds with three digits that count, which is finer than any
	// figure on the page and far less than a number for each call.
	Micros map[int64]int `json:"micros"`
	// Objects is how many objects the server allocated meanwhile, Processor how many microseconds of processor time it
	// used, which says more than calls a second on a machine that others use.
	Objects   int `json:"objects"`
	Processor int `json:"processor"`
}

// add adds the calls of one slice.
func (s *series) add(seconds float64, took []int64) {
	if s.Micros == nil {
		s.Micros = map[int64]int{}
	}
	s.Calls += len(took)
	s.Seconds += seconds
	for _, t := range took {
		s.Micros[threeDigits(t)]++
	}
}

func threeDigits(n int64) int64 {
	unit := int64(1)
	for n/unit >= 1000 {
		unit *= 10
	}
	return n / unit * unit
}

// each returns a total's share of one call.
func (s *series) each(total int) float64 {
	if s.Calls == 0 {
		return 0
	}
	return float64(total) / float64(s.Calls)
}

// perSecond returns the calls a second.
func (s *series) perSecond() float64 {
	if s == nil || s.Seconds == 0 {
		return 0
	}
	return float64(s.Calls) / s.Seconds
}

// quantile returns the time in milliseconds below which the share q of the calls lie.
func (s *series) quantile(q float64) float64 {
	if s == nil {
		return 0
	}
	var times []int64
	for t := range s.Micros {
		times = append(times, t)
	}
	slices.Sort(times)
	left := int(q * float64(s.Calls))
	for _, t := range times {
		if left -= s.Micros[t]; left < 0 {
			return float64(t) / 1000
		}
	}
	return 0
}
