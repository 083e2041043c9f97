package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// signalNames are the columns of the table of signals: all in the order of the agent's definition, then each alone.
var signalNames = []string{"all", "7501", "hooks", "title", "screen", "quiet"}

// rightness is at how many checkpoints of a session a signal was right, by its name: "right/all".
type rightness map[string]string

// firstMeasured is what each signal alone reached when the agents were tried before there was anything of termic to read them:
// Claude Code 2.1.332, 24 turns; Codex 0.171.0, 20 turns and 4 approvals. Silence was 2 s there; the screen was not tried.
var firstMeasured = []struct {
	name  string
	right rightness
}{
	{"claude, before termic", rightness{"7501": "48/48", "hooks": "44/48", "title": "19/48", "quiet": "43/48"}},
	{"codex, before termic", rightness{"7501": "39/41", "hooks": "38/41", "title": "39/41", "quiet": "35/41"}},
}

var (
	signalLine  = regexp.MustCompile(`recorded_test\.go:\d+: (\S+) +(\S.*?)((?: {2}\S+ \d+/\d+)+)\n`)
	signalRight = regexp.MustCompile(`(\S+) (\d+/\d+)`)
)

// signals replays the recorded sessions of agents with all signals and with each alone.
func signals(s *samples) error {
	out, err := exec.Command("go", "test", "./app/tab", "-count=1", "-v", "-run", "^TestSignalsAlone$").CombinedOutput()
	if err != nil {
		return fmt.Errorf("replay the recorded sessions: %w\n%s", err, out)
	}
	s.Signals = map[string]rightness{}
	for _, row := range signalLine.FindAllStringSubmatch(string(out), -1) {
		right := rightness{}
		for _, way := range signalRight.FindAllStringSubmatch(row[3], -1) {
			right[way[1]] = way[2]
		}
		name := row[1] + ", " + strings.TrimSpace(row[2])
		s.Signals[name] = right
		s.Sessions = append(s.Sessions, name)
	}
	if len(s.Sessions) == 0 {
		return errors.New("no session was replayed")
	}
	return nil
}

// signalTable holds the recorded sessions against what was measured first.
func (s *samples) signalTable() []string {
	lines := []string{"| session, right at checkpoints | " + strings.Join(signalNames, " | ") + " |", "|---|" + strings.Repeat("---|", len(signalNames))}
	row := func(name string, right rightness) {
		line := "| " + name + " |"
		for _, signal := range signalNames {
			if right[signal] == "" {
				line += " – |"
			} else {
				line += " " + right[signal] + " |"
			}
		}
		lines = append(lines, line)
	}
	for _, name := range s.Sessions {
		row(name, s.Signals[name])
	}
	for _, before := range firstMeasured {
		row(before.name, before.right)
	}
	return lines
}
