package settle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// epoch is the time that scripts count from.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestScripts plays every script of testdata. A script is a comment that says what it pins, one line
// `rules JSON`, then lines `SECONDS WHAT …`: an observation, or `is STATE SIGNAL [SEQ]`, which must hold at that
// time. Between lines the machine gets every tick that Next asks for, and no other.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			play(t, string(text))
		})
	}
}

func play(t *testing.T, script string) {
	t.Helper()
	var m *Machine
	checks := 0
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if text, ok := strings.CutPrefix(line, "rules "); ok {
			m = New(rulesOf(t, text))
			continue
		}
		if err := step(m, line); err != nil {
			t.Fatalf("line %d: %q: %v", i+1, line, err)
		}
		if strings.Contains(line, " is ") {
			checks++
		}
	}
	if checks == 0 {
		t.Fatal("the script checks nothing")
	}
}

func rulesOf(t *testing.T, text string) Rules {
	t.Helper()
	var r Rules
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func step(m *Machine, line string) error {
	stamp, rest, _ := strings.Cut(line, " ")
	seconds, err := strconv.ParseFloat(stamp, 64)
	if err != nil {
		return err
	}
	at := epoch.Add(time.Duration(seconds * float64(time.Second)))
	if err := tickTo(m, at); err != nil {
		return err
	}
	what, arg, _ := strings.Cut(rest, " ")
	if what == "is" {
		return check(m, arg)
	}
	o, err := observation(what, arg)
	if err != nil {
		return err
	}
	o.At = at
	m.Observe(o)
	return nil
}

// tickTo gives the machine its ticks up to and including at.
func tickTo(m *Machine, at time.Time) error {
	for n := 0; !m.Next().IsZero() && !m.Next().After(at); n++ {
		next := m.Next()
		m.Observe(Observation{At: next})
		if !m.Next().IsZero() && !m.Next().After(next) {
			return fmt.Errorf("Next stayed at %s after the tick at %s", m.Next().Sub(epoch), next.Sub(epoch))
		}
		if n > 100_000 {
			return fmt.Errorf("no end of ticks before %s", at.Sub(epoch))
		}
	}
	return nil
}

func observation(what, arg string) (o Observation, err error) {
	switch what {
	case "out":
		o.Kind, o.Bytes = KindOutput, 10
	case "title":
		o.Kind, o.Text = KindTitle, arg
	case "status":
		o.Kind, o.Text = KindStatus, arg
	case "progress":
		o.Kind = KindProgress
		o.Progress, err = strconv.Atoi(arg)
	case "mark":
		o.Kind, o.Mark = KindPrompt, arg[0]
	case "front":
		o.Kind, o.Busy = KindForeground, arg == "busy"
	case "deliver":
		o.Kind = KindDelivered
		o.Seq, err = strconv.ParseUint(arg, 10, 64)
	case "hook", "screen":
		o.Kind = map[string]Kind{"hook": KindHook, "screen": KindScreen}[what]
		err = o.State.UnmarshalText([]byte(arg))
	case "background":
		o.Kind, o.Source = KindBackground, Hook
		o.Count, err = strconv.Atoi(arg)
	case "exit":
		o.Kind = KindExited
	default:
		err = fmt.Errorf("unknown step %q", what)
	}
	return o, err
}

func check(m *Machine, want string) error {
	state, by, _ := m.State()
	got := fmt.Sprintf("%s %s", state, by)
	ok, settledBy, seq := m.Settled()
	if ok != state.Settled() || (ok && settledBy != by) {
		return fmt.Errorf("State says %s, Settled says %v by %s", got, ok, settledBy)
	}
	if ok {
		got += fmt.Sprintf(" %d", seq)
	}
	if got != want {
		return fmt.Errorf("is %q, want %q", got, want)
	}
	return nil
}
