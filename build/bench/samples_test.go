package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every figure of the page must follow from the raw samples that it names.
func TestTheFiguresOfThePageComeFromTheSamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, table := range map[string]func(*samples) []string{"2": (*samples).table, "cages-": (*samples).cageTable, "terminals-": (*samples).terminalTable, "window-": (*samples).windowTable} {
		files, err := filepath.Glob("../../docs/bench/" + prefix + "*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no samples: %v", err)
		}
		latest := files[len(files)-1]
		if !strings.Contains(string(page), "bench/"+filepath.Base(latest)) {
			t.Errorf("the page does not name %s", filepath.Base(latest))
		}
		s, err := readSamples(latest)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(table(s), "\n"); !strings.Contains(string(page), want) {
			t.Errorf("the page does not hold the table of %s, which is:\n%s", filepath.Base(latest), want)
		}
	}
}

func TestQuantilesAndRatios(t *testing.T) {
	s := &samples{Micros: map[string][]int64{"a": {4000, 1000, 2000, 3000}, "b": {2000, 1000, 1000, 1000}}}
	if got := s.quantile("a", 0.5); got != 3 {
		t.Errorf("median %v", got)
	}
	if got := s.quantile("a", 0.95); got != 4 {
		t.Errorf("p95 %v", got)
	}
	if got := s.ratio("a", "b"); got != 2 {
		t.Errorf("ratio %v", got)
	}
	if got := s.quantile("none", 0.5) + s.ratio("none", "a"); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSeries(t *testing.T) {
	var s series
	if s.perSecond() != 0 || s.quantile(0.5) != 0 {
		t.Error("nothing was called, and it took time")
	}
	s.add(2, []int64{1000, 2000, 3000, 123456})
	s.add(2, []int64{1000, 2000})
	if got := s.perSecond(); got != 1.5 {
		t.Errorf("%v calls a second", got)
	}
	if p50, p99 := s.quantile(0.5), s.quantile(0.99); p50 != 2 || p99 != 123 {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
}

// All signals together are right at as great a share of the checkpoints as the best that was measured before there was termic.
func TestStatesAreAtLeastAsRightAsMeasuredBefore(t *testing.T) {
	files, err := filepath.Glob("../../docs/bench/terminals-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	s, err := readSamples(files[len(files)-1])
	if err != nil || len(s.Sessions) == 0 {
		t.Fatalf("%v, %d sessions", err, len(s.Sessions))
	}
	share := func(right string) float64 {
		var n, of float64
		if _, err := fmt.Sscanf(right, "%f/%f", &n, &of); err != nil || of == 0 {
			t.Fatalf("%q is no share", right)
		}
		return n / of
	}
	for _, before := range firstMeasured {
		agent, _, _ := strings.Cut(before.name, ",")
		best := 0.0
		for _, right := range before.right {
			best = max(best, share(right))
		}
		seen := 0
		for _, name := range s.Sessions {
			if strings.HasPrefix(name, agent+"-") {
				seen++
				if got := share(s.Signals[name]["all"]); got < best {
					t.Errorf("%s: right at %.3f, before at %.3f", name, got, best)
				}
			}
		}
		if seen == 0 {
			t.Errorf("no session of %s", agent)
		}
	}
}
