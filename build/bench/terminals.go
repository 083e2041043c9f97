package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"termic/build/rig"
)

// What is measured of terminals. Throughputs are kept as the time for one pass of a text of 1 MiB.
const (
	screenParse = "screen, 1 MiB of "
	xtermParse  = "@xterm/headless, 1 MiB of "

	echoIdle   = "keystroke to echo through termic attach, idle"
	echoFlood  = "keystroke to echo, while another tab floods"
	stopFlood  = "Ctrl-C to the end of a flood that is watched"
	cpuIdle    = "processor time a second, 20 idle tabs"
	cpuSpin    = "processor time a second, 20 tabs with spinners"
	memoryTabs = "resident memory of the app, 20 tabs of 10,000 lines"
	memoryPeer = "resident memory of Node, 20 @xterm/headless of 10,000 lines"
)

// texts are what is parsed: a log, coloured output with wide characters, and a screen that is drawn again and again.
var texts = map[string]func(i int) string{
	"log": func(i int) string {
		return fmt.Sprintf("2026-11-29T12:00:%02d.%03dZ info request %d served path=/api/v1/items/%d status=200 bytes=%d\r\n", i%60, i%1000, i, i%97, i*31%9000)
	},
	"colours": func(i int) string {
		return fmt.Sprintf("\x1b[32m%6d\x1b[0m \x1b[1;34mpkg/file_%d.go\x1b[0m: \x1b[38;2;%d;120;200mwarning\x1b[m 漢字 ✳ done — ok │ é\r\n", i, i%31, i%256)
	},
	"a drawn screen": func(i int) string {
		return fmt.Sprintf("\x1b[%d;1H\x1b[2m│\x1b[0m\x1b[1m line of frame %d\x1b[22m\x1b[K\x1b[%d;100H│", i%30+1, i/30, i%30+1)
	},
}

// textNames is their order in the table.
var textNames = []string{"log", "colours", "a drawn screen"}

var terminalsPlace = place{"<!-- terminals: written by make bench -->", "<!-- end of terminals -->"}

// passes is how often a text is parsed for one sample.
const passes = 10

// terminals measures the parsing, what a person feels, and what many tabs cost.
func terminals(s *samples, rounds int) error {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := parsing(s, r, max(rounds/6, 1)); err != nil {
		return err
	}
	return errors.Join(feel(s, r, rounds), many(s, r))
}

// parsing lets both terminals parse the same texts, in turn.
func parsing(s *samples, r *rig.Rig, rounds int) error {
	if _, err := os.Stat("frontend/node_modules/@xterm/headless"); err != nil {
		return fmt.Errorf("%w: run npm ci in frontend first", err)
	}
	ours := filepath.Join(r.Base, "screen.test")
	if out, err := exec.Command("go", "test", "-c", "-o", ours, "./app/screen").CombinedOutput(); err != nil {
		return fmt.Errorf("build the screen's benchmark: %w\n%s", err, out)
	}
	for name, line := range texts {
		var text bytes.Buffer
		for i := 0; text.Len() < 1<<20; i++ {
			text.WriteString(line(i))
		}
		file := filepath.Join(r.Base, "text")
		if err := os.WriteFile(file, text.Bytes()[:1<<20], 0o600); err != nil {
			return err
		}
		for range rounds {
			if err := errors.Join(parseOurs(s, name, ours, file), parseXterm(s, name, file)); err != nil {
				return err
			}
		}
	}
	return nil
}

var nanos = regexp.MustCompile(`BenchmarkGiven\S*\s+\d+\s+(\d+) ns/op`)

func parseOurs(s *samples, name, program, file string) error {
	cmd := exec.Command(program, "-test.run", "^$", "-test.bench", "^BenchmarkGiven$", "-test.benchtime", strconv.Itoa(passes)+"x")
	cmd.Dir = "app/screen"
	cmd.Env = append(os.Environ(), "TERMIC_BENCH_TEXT="+file)
	out, err := cmd.CombinedOutput()
	found := nanos.FindSubmatch(out)
	if err != nil || found == nil {
		return fmt.Errorf("measure the screen: %w\n%s", err, out)
	}
	ns, err := strconv.ParseInt(string(found[1]), 10, 64)
	s.Micros[screenParse+name] = append(s.Micros[screenParse+name], ns/1000)
	return err
}

func parseXterm(s *samples, name, file string) error {
	out, err := exec.Command("node", "app/screen/testdata/xterm.mjs", "speed", file, strconv.Itoa(passes)).Output()
	if err != nil {
		return fmt.Errorf("measure xterm.js: %w", err)
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64) // bytes a microsecond
	if err != nil {
		return fmt.Errorf("measure xterm.js: %w", err)
	}
	s.Micros[xtermParse+name] = append(s.Micros[xtermParse+name], int64((1<<20)/rate))
	return nil
}

// terminalTable renders the figures as the lines of docs/benchmarks.md.
func (s *samples) terminalTable() []string {
	lines := []string{"| text | screen, MB/s | @xterm/headless, MB/s | ratio, median of pairs |", "|---|---|---|---|"}
	rate := func(what string) float64 { return (1 << 20) / s.quantile(what, 0.5) / 1000 }
	for _, name := range textNames {
		lines = append(lines, fmt.Sprintf("| %s | %.0f | %.0f | %.1f |", name, rate(screenParse+name), rate(xtermParse+name), s.ratio(xtermParse+name, screenParse+name)))
	}
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
	return append(lines, fmt.Sprintf("| ratio of the two | %.2f |", s.ratio(memoryTabs, memoryPeer)))
}
