package settle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// ruleSets are the kinds of rules that sequences are tried with.
func ruleSets() []Rules {
	titles := Titles{
		Working: MustPatterns("^w"), Waiting: MustPatterns("^a"), Idle: MustPatterns("^i"), Ready: MustPatterns("^r"),
	}
	quiet := Duration(2 * time.Second)
	return []Rules{
		{},
		{Quiet: quiet},
		{Titles: titles},
		{Titles: titles, App: "app", Progress: true, Quiet: quiet},
		{Foreground: true, Marks: true, Quiet: Duration(400 * time.Millisecond)},
		{Titles: titles, App: "app", Progress: true, Marks: true, Foreground: true, Quiet: quiet,
			Rank: []Signal{OSC, Hook, Screen, Title, Process}},
	}
}

// decodeSequence makes a rule set and observations from bytes: three bytes an observation.
func decodeSequence(data []byte) (Rules, []Observation) {
	if len(data) == 0 {
		return Rules{}, nil
	}
	sets := ruleSets()
	rules := sets[int(data[0])%len(sets)]
	at, seq := epoch, uint64(0)
	var list []Observation
	for data = data[1:]; len(data) >= 3; data = data[3:] {
		// Steps from nothing to 6 s, and now and then the clock runs backwards.
		step := time.Duration(data[0]) * time.Duration(data[0]) * 100 * time.Microsecond
		if data[0] == 255 {
			step = -time.Second
		}
		at = at.Add(step)
		o := observationOf(data[1], data[2], &seq)
		o.At = at
		list = append(list, o)
	}
	return rules, list
}

func observationOf(kind, value byte, seq *uint64) Observation {
	o := Observation{Kind: Kind(kind % byte(KindExited+1)), Bytes: 1, Progress: int(value % 5), Mark: 'A' + value%5,
		Busy: value%2 == 0, State: State(value % 7), Count: int(value%3) - 1, Source: Signal(value % 8)}
	switch o.Kind {
	case KindTitle:
		o.Text = []string{"w1", "w2", "a", "i", "r", "", "?"}[value%7]
	case KindStatus:
		state := []string{"idle", "working", "blocked", "done", "error", "clear", "odd"}[value%7]
		o.Text = "state=" + state + ":app=app" + []string{"", ":id=x", ":id=y"}[value/7%3]
	case KindDelivered:
		*seq += uint64(value % 2) // the same seq comes again too
		o.Seq = *seq
	case KindExited:
		if value != 0 {
			o.Kind = KindTick // else hardly any sequence would get far
		}
	}
	return o
}

// checkSequence plays observations, with every tick that the machine asks for, and returns the first broken
// promise. trace gets each answer.
func checkSequence(rules Rules, list []Observation, trace func(string)) error {
	m := New(rules)
	var latest uint64    // last delivered
	var evidence bool    // anything but time was seen since
	var delivered bool   // anything was delivered at all
	var now time.Time    // latest time given
	var question [3]bool // who says now that it waits: title, 7501 root, screen
	observe := func(o Observation) error {
		if o.At.After(now) {
			now = o.At
		}
		_, _, before := m.State()
		m.Observe(o)
		state, by, since := m.State()
		trace(fmt.Sprint(state, by, since, m.Next()))
		switch o.Kind {
		case KindDelivered:
			latest, evidence, delivered = max(latest, o.Seq), false, true
			question = [3]bool{}
		case KindTick:
		default:
			evidence = true
		}
		ok, _, seq := m.Settled()
		switch {
		case ok && seq != latest:
			return fmt.Errorf("settled for delivery %d, the last is %d", seq, latest)
		case ok && delivered && !evidence:
			return fmt.Errorf("settled with nothing seen since delivery %d", latest)
		case ok != (state == Done || state == Idle):
			return fmt.Errorf("state %s, settled %v", state, ok)
		case state == Idle && delivered:
			return fmt.Errorf("idle after delivery %d", latest)
		case ok && by == None:
			return fmt.Errorf("settled by no signal")
		case since.Before(before):
			return fmt.Errorf("since went back from %s to %s", before, since)
		case !m.Next().IsZero() && !m.Next().After(now):
			return fmt.Errorf("at %s the next tick is %s", now, m.Next())
		}
		noteQuestion(&question, rules, o)
		if ok && (question[0] || question[1] || question[2]) {
			return fmt.Errorf("%s while a question stands: %v", state, question)
		}
		return nil
	}
	for i, o := range list {
		for n := 0; !m.Next().IsZero() && !m.Next().After(o.At); n++ {
			if err := observe(Observation{At: m.Next()}); err != nil {
				return fmt.Errorf("tick before %d: %w", i, err)
			}
			if n > 10_000 {
				return fmt.Errorf("before %d: endless ticks", i)
			}
		}
		if err := observe(o); err != nil {
			return fmt.Errorf("observation %d (%+v): %w", i, o, err)
		}
	}
	return nil
}

// noteQuestion keeps who says that the agent waits, apart from the machine under test.
func noteQuestion(question *[3]bool, rules Rules, o Observation) {
	switch o.Kind {
	case KindTitle:
		question[0] = len(rules.Titles.Waiting) > 0 && o.Text == "a"
	case KindStatus:
		if rules.App == "" {
			return
		}
		switch o.Text {
		case "state=blocked:app=app":
			question[1] = true
		case "state=idle:app=app", "state=working:app=app", "state=done:app=app", "state=error:app=app",
			"state=clear:app=app":
			question[1] = false
		}
	case KindScreen:
		question[2] = o.State == Waiting
	case KindExited:
		*question = [3]bool{}
	}
}

func FuzzSequences(f *testing.F) {
	f.Add([]byte{3, 0, 2, 3, 60, 7, 1, 10, 1, 0, 50, 2, 0, 50, 2, 3, 90, 0, 0})
	f.Add([]byte{4, 0, 1, 0, 80, 6, 1, 10, 7, 1, 20, 1, 0, 70, 6, 1, 90, 0, 0})
	f.Add([]byte{1, 0, 1, 0, 200, 0, 0, 1, 7, 1, 255, 1, 0, 250, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 3000 {
			return
		}
		rules, list := decodeSequence(data)
		var first, second []string
		if err := checkSequence(rules, list, func(s string) { first = append(first, s) }); err != nil {
			t.Fatal(err)
		}
		if err := checkSequence(rules, list, func(s string) { second = append(second, s) }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Fatal("the same observations gave different answers")
		}
	})
}

// TestRandomSequences plays long sequences under every rule set and counts that the settled states are reached,
// so that the promises above are not kept by never settling.
func TestRandomSequences(t *testing.T) {
	sets := len(ruleSets())
	done := make([]int, sets)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		data := make([]byte, 1+3*60)
		for i := range data {
			data[i] = byte(random.UintN(256))
		}
		data[0] = byte(n % sets)
		rules, list := decodeSequence(data)
		err := checkSequence(rules, list, func(s string) {
			if len(s) > 4 && s[:4] == "done" {
				done[n%sets]++
			}
		})
		if err != nil {
			t.Fatalf("sequence %d, rules %d: %v", n, n%sets, err)
		}
	}
	for i, n := range done {
		if n == 0 {
			t.Errorf("rules %d: done was never reached", i)
		}
	}
}
