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

// The terminals whose parsing and memory are compared, ours first. Throughputs are kept as the time for one pass of a text of 1 MiB,
// memory as KiB.
const (
	screenName = "screen"
	xtermName  = "@xterm/headless"
	vtName     = "x/vt"
	vt10xName  = "vt10x"

	parseOf = ", 1 MiB of "
	keepOf  = ", memory of 10,000 lines of 120 columns"
)

// peers are the terminals of others.
var peers = []string{xtermName, vtName, vt10xName}

// passes is how often ours and xterm.js parse a text for one sample, fewPasses how often the others do: x/vt takes a hundred times as long.
const passes, fewPasses = 10, 1

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

// parser measures one terminal: how long a pass takes and what it keeps.
type parser struct {
	name  string
	speed func(file string) (micros int64, err error)
	keep  func(file string) (kib int64, err error)
}

// parsing lets all terminals parse the same texts, in turn.
func parsing(s *samples, r *rig.Rig, rounds int) error {
	all, err := parsers(r)
	if err != nil {
		return err
	}
	file := filepath.Join(r.Base, "text")
	for name, line := range texts {
		var text bytes.Buffer
		for i := 0; text.Len() < 1<<20; i++ {
			text.WriteString(line(i))
		}
		if err := os.WriteFile(file, text.Bytes()[:1<<20], 0o600); err != nil {
			return err
		}
		for range rounds {
			if err := measureAll(s, all, parseOf+name, file, func(p parser) func(string) (int64, error) { return p.speed }); err != nil {
				return err
			}
		}
	}
	var lines bytes.Buffer
	for i := range 10_000 + 40 { // the screen is full, too
		fmt.Fprintf(&lines, "%0120d\r\n", i)
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		return err
	}
	return measureAll(s, all, keepOf, file, func(p parser) func(string) (int64, error) { return p.keep })
}

// measureAll measures one thing of every terminal.
func measureAll(s *samples, all []parser, what, file string, measure func(parser) func(string) (int64, error)) error {
	for _, p := range all {
		sample, err := measure(p)(file)
		if err != nil {
			return fmt.Errorf("measure %s%s: %w", p.name, what, err)
		}
		s.Micros[p.name+what] = append(s.Micros[p.name+what], sample)
	}
	return nil
}

// parsers builds what measures the terminals. The peers in Go are a module of their own.
func parsers(r *rig.Rig) ([]parser, error) {
	if _, err := os.Stat("frontend/node_modules/@xterm/headless"); err != nil {
		return nil, fmt.Errorf("%w: run npm ci in frontend first", err)
	}
	ours, others := filepath.Join(r.Base, "screen.test"), filepath.Join(r.Base, "peers")
	for _, build := range [][]string{{"test", "-c", "-o", ours, "./app/screen"}, {"build", "-C", "build/bench/peers", "-o", others, "."}} {
		if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(build, " "), err, out)
		}
	}
	all := []parser{screenParser(ours), xtermParser()}
	for _, name := range []string{vtName, vt10xName} {
		all = append(all, parser{
			name: name,
			speed: func(file string) (int64, error) {
				ns, err := number(others, "speed", name, file, strconv.Itoa(fewPasses))
				return int64(ns / 1000), err
			},
			keep: func(file string) (int64, error) {
				size, err := number(others, "memory", name, file)
				return int64(size / 1024), err
			},
		})
	}
	return all, nil
}

var (
	nanos     = regexp.MustCompile(`BenchmarkGiven\S*\s+\d+\s+(\d+) ns/op`)
	keptBytes = regexp.MustCompile(`([\d.e+]+) kept-B`)
)

func screenParser(program string) parser {
	run := func(file, bench, times string, figure *regexp.Regexp) (float64, error) {
		cmd := exec.Command(program, "-test.run", "^$", "-test.bench", "^"+bench+"$", "-test.benchtime", times+"x")
		cmd.Dir = "app/screen"
		cmd.Env = append(os.Environ(), "TERMIC_BENCH_TEXT="+file)
		out, err := cmd.CombinedOutput()
		found := figure.FindSubmatch(out)
		if err != nil || found == nil {
			return 0, errors.Join(fmt.Errorf("it printed %s", out), err)
		}
		return strconv.ParseFloat(string(found[1]), 64)
	}
	return parser{
		name: screenName,
		speed: func(file string) (int64, error) {
			ns, err := run(file, "BenchmarkGiven", strconv.Itoa(passes), nanos)
			return int64(ns / 1000), err
		},
		keep: func(file string) (int64, error) {
			size, err := run(file, "BenchmarkKept", "1", keptBytes)
			return int64(size / 1024), err
		},
	}
}

func xtermParser() parser {
	const program = "app/screen/testdata/xterm.mjs"
	return parser{
		name: xtermName,
		speed: func(file string) (int64, error) {
			rate, err := number("node", program, "speed", file, strconv.Itoa(passes)) // bytes a microsecond
			return int64((1 << 20) / rate), err
		},
		keep: func(file string) (int64, error) {
			size, err := number("node", "--expose-gc", program, "kept", file)
			return int64(size / 1024), err
		},
	}
}

// number runs a program that prints one.
func number(argv ...string) (float64, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// parsingTable holds ours against each of the others.
func (s *samples) parsingTable() []string {
	lines := []string{"| text | screen, MB/s |", "|---|---|"}
	for _, peer := range peers {
		lines[0] += " " + peer + ", MB/s |"
		lines[1] += "---|"
	}
	for _, peer := range peers {
		lines[0] += " screen / " + peer + " |"
		lines[1] += "---|"
	}
	for _, name := range textNames {
		row := "| " + name + " |"
		for _, terminal := range append([]string{screenName}, peers...) {
			row += fmt.Sprintf(" %.1f |", (1<<20)/s.quantile(terminal+parseOf+name, 0.5)/1000)
		}
		for _, peer := range peers {
			row += fmt.Sprintf(" %.1f |", s.ratio(peer+parseOf+name, screenName+parseOf+name))
		}
		lines = append(lines, row)
	}
	lines = append(lines, "", "| one terminal"+keepOf+" | |", "|---|---|")
	for _, terminal := range []string{screenName, xtermName, vtName} {
		lines = append(lines, fmt.Sprintf("| %s | %.1f MB |", terminal, s.quantile(terminal+keepOf, 0.5)*1000*1024/1e6))
	}
	return lines
}
