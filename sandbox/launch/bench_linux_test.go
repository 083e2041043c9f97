package launch_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
)

// BenchmarkStart measures a cage against plain exec, in turns: from the start to the exit of `true`. It reports medians
// in ms, what the cage adds (also of the quickest of both, which other work on the machine disturbs least), how long it
// takes to seal, and the memory of process 1 in MB that is its own: the rest are pages of the program, which cages share.
func BenchmarkStart(b *testing.B) {
	m := cagetest.New(b)
	plan := m.Plan(b, capability.Enforce, withPorts)
	const rounds = 30
	for b.Loop() {
		var plain, caged, sealed []time.Duration
		memory := 0.0
		for range rounds {
			from := time.Now()
			if err := exec.Command("/usr/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
			plain = append(plain, time.Since(from))
			from = time.Now()
			cage, err := launch.Start(b.Context(), m.Support, plan)
			if err != nil {
				b.Fatal(err)
			}
			sealed = append(sealed, time.Since(from))
			p, err := cage.Spawn(b.Context(), launch.Command{Argv: []string{"/usr/bin/true"}, Dir: "/"})
			if err != nil {
				b.Fatal(err)
			}
			if exit := p.Wait(); exit.Code != 0 {
				b.Fatalf("%+v", exit)
			}
			caged = append(caged, time.Since(from))
			memory = max(memory, private(b))
			if err := cage.Kill(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(median(plain), "plain-ms")
		b.ReportMetric(median(caged), "cage-ms")
		b.ReportMetric(median(caged)-median(plain), "added-ms")
		b.ReportMetric(float64((slices.Min(caged)-slices.Min(plain)).Microseconds())/1000, "added-best-ms")
		b.ReportMetric(median(sealed), "sealed-ms")
		b.ReportMetric(memory, "private-MB")
	}
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// private returns the own memory of this process's only child, process 1 of a cage. It is the app's own child.
func private(b *testing.B) float64 {
	b.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		b.Fatal(err)
	}
	kilobytes := 0
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || parentOf(pid) != os.Getpid() {
			continue
		}
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return 0 // for a user the kernel says nothing about a process that is not dumpable
		}
		for line := range bytes.Lines(rollup) {
			var n int
			if _, err := fmt.Sscanf(string(line), "Anonymous: %d kB", &n); err == nil {
				kilobytes += n
			}
		}
	}
	return float64(kilobytes) / 1024
}
