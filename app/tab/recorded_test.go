package tab

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termic/app/hook"
	"termic/app/osc"
	"termic/app/pty"
	"termic/app/settle"
)

// again is a directory of recordings that were made just now: their sequences of states must be those of the ones that are kept.
var again = flag.String("recordings", "", "compare the states of the recordings in this directory with those of the ones that are kept")

// recording is a real session of an agent (build/agents).
type recording struct {
	Agent   string `json:"agent"`
	Version string `json:"agent_version"`
	Digest  string `json:"agent_sha256"`
	Nonce   string `json:"nonce"`
	Width   uint16 `json:"width"`
	Height  uint16 `json:"height"`
	events  []event
}

type event struct {
	at         time.Duration
	kind, text string
}

func readRecording(t *testing.T, file string) recording {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 16<<20)
	var r recording
	for first := true; lines.Scan(); first = false {
		if first {
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var raw [3]any
		if err := json.Unmarshal(lines.Bytes(), &raw); err != nil {
			t.Fatal(err)
		}
		r.events = append(r.events, event{time.Duration(raw[0].(float64) * float64(time.Second)), raw[1].(string), raw[2].(string)})
	}
	if lines.Err() != nil || len(r.events) == 0 || len(r.Digest) != 64 || r.Version == "" {
		t.Fatalf("%s: %v, %d events, version %q, digest %q", file, lines.Err(), len(r.events), r.Version, r.Digest)
	}
	return r
}

// checkpoint is what was true at a mark, and what the tab said.
type checkpoint struct {
	at        time.Duration
	want, got string
	by        settle.Signal
}

func (c checkpoint) right() bool {
	return c.got == c.want || c.want == "waiting" && strings.HasPrefix(c.got, "waiting") || c.want == "waiting permission" && c.got == "waiting" ||
		c.want == "waiting question" && c.got == "waiting" || c.want == "done" && c.got == "idle"
}

// play feeds a recording to a tab in which nothing runs, at the times at which it was recorded, and returns the checkpoints and every
// state that the tab went through. rules changes what is believed.
func play(t *testing.T, r recording, rules func(*settle.Rules)) (points []checkpoint, states []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tab := playing(t, r, rules)
		start := time.Now()
		for _, e := range r.events {
			time.Sleep(time.Until(start.Add(e.at)))
			synctest.Wait()
			switch e.kind {
			case "o":
				tab.take([]byte(e.text))
			case "m":
				if point, ok := tab.mark(e); ok {
					points = append(points, point)
				}
			}
			if state := tab.said(); len(states) == 0 || states[len(states)-1] != state {
				states = append(states, state)
			}
		}
		tab.tick.Stop()
	})
	return points, states
}

func playing(t *testing.T, r recording, rules func(*settle.Rules)) *Tab {
	definition := builtin(t, r.Agent)
	if rules != nil {
		rules(&definition.Settle)
	}
	tab := Restore(Saved{Cols: r.Width, Rows: r.Height}, "t-recorded", definition, 100)
	fresh := Spec{Agent: definition, Size: pty.Size{Cols: r.Width, Rows: r.Height}}
	tab.spec, tab.machine, tab.nonce = fresh, settle.New(definition.Settle), r.Nonce
	tab.claims = osc.NewTaker(hook.Number, hook.MaxCommand, tab.heard)
	tab.screen = tab.newScreen()
	tab.tick = time.AfterFunc(time.Hour, tab.onTick)
	tab.tick.Stop()
	return tab
}

// mark takes a mark of a recording in.
func (t *Tab) mark(e event) (checkpoint, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.text == "deliver":
		t.seq++
		t.begun()
	case e.text == "deliver again":
		t.begun()
	case e.text == "exit":
		t.observe(settle.Observation{Kind: settle.KindExited})
	case strings.HasPrefix(e.text, "is "):
		_, by, _ := t.machine.State()
		return checkpoint{e.at, strings.TrimPrefix(e.text, "is "), t.saidLocked(), by}, true
	}
	return checkpoint{}, false
}

func (t *Tab) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saidLocked()
}

func (t *Tab) saidLocked() string {
	state, _, _ := t.machine.State()
	return strings.TrimSpace(state.String() + " " + t.machine.Wait().Kind)
}

func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/agents/*.cast.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".cast.gz") }

// TestRecordedSessions: at every checkpoint of every recorded session the tab says what is true, and over all of them it says every
// state that there is.
func TestRecordedSessions(t *testing.T) {
	reached := map[string]bool{}
	for _, file := range recordings(t) {
		t.Run(nameOf(file), func(t *testing.T) {
			points, states := play(t, readRecording(t, file), nil)
			for _, p := range points {
				if !p.right() {
					t.Errorf("at %v: %s by %s, is %s", p.at, p.got, p.by, p.want)
				}
			}
			for _, state := range states {
				reached[state] = true
			}
		})
	}
	for _, state := range []string{"starting", "working", "waiting permission", "waiting question", "done", "idle", "exited", "unknown"} {
		if !reached[state] {
			t.Errorf("no recording reaches %s", state)
		}
	}
}

// TestRecordedAgain compares recordings that were made just now, which `make test-clients` does, with those that are kept: the states at
// their checkpoints are the same. Without any it compares those that are kept with themselves.
func TestRecordedAgain(t *testing.T) {
	dir := "testdata/agents"
	if *again != "" {
		dir = *again
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.cast.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, file := range files {
		now, _ := play(t, readRecording(t, file), nil)
		kept, _ := play(t, readRecording(t, filepath.Join("testdata/agents", filepath.Base(file))), nil)
		if got, want := sequence(now), sequence(kept); !slices.Equal(got, want) {
			t.Errorf("%s: states %q, recorded before %q", nameOf(file), got, want)
		}
	}
}

func sequence(points []checkpoint) []string {
	var list []string
	for _, p := range points {
		list = append(list, p.got)
	}
	return list
}

// ways are the signals alone, as the columns of the table in docs/agents.md.
var ways = []struct {
	name string
	only []settle.Signal
}{
	{"all", nil}, {"7501", []settle.Signal{settle.OSC}}, {"hooks", []settle.Signal{settle.Hook}}, {"title", []settle.Signal{settle.Title}},
	{"screen", []settle.Signal{settle.Screen}}, {"quiet", []settle.Signal{settle.Process}},
}

// TestSignalsAlone measures how often each signal alone would be right, and all of them together, in the order in which the agent's
// definition believes them. All together must be right as often as the best alone. `go test -run TestSignalsAlone -v` prints the table.
func TestSignalsAlone(t *testing.T) {
	for _, file := range recordings(t) {
		r := readRecording(t, file)
		row := fmt.Sprintf("%-14s %-28s", nameOf(file), r.Version)
		all, best := 0, 0
		for _, way := range ways {
			points, _ := play(t, r, func(rules *settle.Rules) {
				if way.only != nil {
					rules.Rank = way.only
				}
			})
			right := 0
			for _, p := range points {
				if p.right() {
					right++
				}
			}
			if way.only == nil {
				all = right
			}
			best = max(best, right)
			row += fmt.Sprintf("  %s %d/%d", way.name, right, len(points))
		}
		t.Log(row)
		if all < best {
			t.Errorf("%s: all signals are right %d times, one alone %d times", nameOf(file), all, best)
		}
	}
}
