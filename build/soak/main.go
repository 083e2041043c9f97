// Command soak runs the built termic for a long time, half of it through its main job and half in a storm of MCP clients,
// and watches what grows: memory, open files and threads. It fails when the last quarter of a half holds more than the
// second one did, beyond what noise explains, and when the storm lost an effect or doubled one. Then it kills the app a
// thousand times and holds what there is against a model. Run it from the top of the tree, after `make build`; -for 8h for a
// night.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/build/rig"
)

func main() {
	length := flag.Duration("for", 2*time.Minute, "how long; 0 for the kills alone")
	count := flag.Int("kills", 1000, "how many times the app is killed besides")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the kills")
	flag.Parse()
	var err error
	if *length > 0 {
		err = run(*length)
	}
	if err == nil {
		err = killing(*count, *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak failed:", err)
		os.Exit(1)
	}
}

// killing runs the kills on a rig of their own.
func killing(count int, seed uint64) (err error) {
	if count == 0 {
		return nil
	}
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return runKills(r, count, seed)
}

// reading is what the app held after one cycle.
type reading struct{ kilobytes, files, threads int }

func run(length time.Duration) (err error) {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	for _, args := range [][]string{
		{"settings", "set", "mcp.enabled", "true"},
		{"project", "add", r.Repo},
		{"agent", "add", "scripted", "--command", r.Agent},
	} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	var readings []reading
	for deadline := time.Now().Add(length / 2); time.Now().Before(deadline) || len(readings) < 8; {
		if err := cycle(r, len(readings)); err != nil {
			return err
		}
		now, err := look(r.Pid)
		if err != nil {
			return err
		}
		readings = append(readings, now)
		fmt.Printf("cycle %d: %d KB, %d open files\n", len(readings), now.kilobytes, now.files)
	}
	if err := compare(readings); err != nil {
		return err
	}
	readings, err = (&storm{rig: r}).run(length / 2)
	if err != nil {
		return fmt.Errorf("storm: %w", err)
	}
	return compare(readings)
}

// cycle does the main job once, and floods a terminal.
func cycle(r *rig.Rig, n int) error {
	name := fmt.Sprintf("t%d", n)
	for _, args := range [][]string{
		{"new", name, "--project", "shop", "--agent", "scripted", "-p", "flood 1000000\nwrite f.txt x\nsay done", "--wait"},
		{"tab", name},
		{"log", name, "-n", "1000"},
		{"diff", name},
		{"archive", name},
	} {
		if _, err := r.Do(args...); err != nil {
			return err
		}
	}
	return nil
}

// look reads what a process holds.
func look(pid int) (reading, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return reading{}, fmt.Errorf("soak needs /proc: %w", err)
	}
	var now reading
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &now.kilobytes)
		}
		if rest, ok := strings.CutPrefix(line, "Threads:"); ok {
			_, _ = fmt.Sscan(rest, &now.threads)
		}
	}
	files, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(pid), "fd"))
	now.files = len(files)
	return now, err
}

// A finished task leaves a record of a kilobyte or two; anything that grows faster is a leak.
const (
	memoryGrowth = 1.3
	fileGrowth   = 2
	// Go keeps threads that a burst of blocking calls made it start.
	threadGrowth = 8
)

// compare holds the last quarter against the second: the first one is warming up.
func compare(readings []reading) error {
	quarter := len(readings) / 4
	early, late := median(readings[quarter:2*quarter]), median(readings[3*quarter:])
	fmt.Printf("second quarter: %d KB, %d open files, %d threads; last quarter: %d KB, %d open files, %d threads\n",
		early.kilobytes, early.files, early.threads, late.kilobytes, late.files, late.threads)
	if float64(late.kilobytes) > memoryGrowth*float64(early.kilobytes) {
		return fmt.Errorf("memory grew from %d KB to %d KB", early.kilobytes, late.kilobytes)
	}
	if late.files > early.files+fileGrowth {
		return fmt.Errorf("open files grew from %d to %d", early.files, late.files)
	}
	if late.threads > early.threads+threadGrowth {
		return fmt.Errorf("threads grew from %d to %d", early.threads, late.threads)
	}
	return nil
}

func median(readings []reading) reading {
	of := func(part func(reading) int) int {
		var values []int
		for _, r := range readings {
			values = append(values, part(r))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return reading{
		of(func(r reading) int { return r.kilobytes }),
		of(func(r reading) int { return r.files }),
		of(func(r reading) int { return r.threads }),
	}
}
