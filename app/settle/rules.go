package settle

import (
	"fmt"
	"regexp"
	"time"
)

// Bounds of a rule set that a person may write. They keep a definition readable and a title match cheap.
const (
	maxPattern  = 256              // bytes of one pattern; the longest built-in one has 30
	maxPatterns = 32               // patterns of one kind
	maxApp      = 64               // bytes of a 7501 app name
	maxTitle    = 1024             // bytes of a title that are looked at
	maxRuleTime = 10 * time.Minute // no rule waits longer: a task_wait is capped at minutes too
)

// Times that a rule set leaves at zero.
const (
	// DefaultHold is how long nothing may contradict an end before it counts. Claude ends two queued turns
	// 90-130 ms apart (tried 2026-11-29), so a shorter hold would answer between them.
	DefaultHold = 300 * time.Millisecond
	// DefaultUnanswered is how long a delivery may stay without any sign that the agent took it. Every agent
	// tried on 2026-11-29 showed one within 0.4 s.
	DefaultUnanswered = 5 * time.Second
)

// Rules say how one agent's signals are read. They are data: JSON in, JSON out, patterns compiled when they are
// read. The zero value reads nothing that comes from the terminal, so without a hook or screen rules its machine never
// settles.
type Rules struct {
	// Titles gives the window titles that carry a state.
	Titles Titles `json:"titles,omitzero"`
	// Screen gives what the bottom of the screen says.
	Screen ScreenRules `json:"screen,omitzero"`
	// App is the only `app` whose OSC 7501 reports are accepted; empty accepts none.
	App string `json:"app,omitempty"`
	// Progress reads OSC 9;4.
	Progress bool `json:"progress,omitempty"`
	// Marks reads OSC 133, the prompt marks of a shell with integration.
	Marks bool `json:"marks,omitempty"`
	// Foreground reads the terminal's foreground process group: for shells.
	Foreground bool `json:"foreground,omitempty"`
	// Quiet is how long output must stop for a guess by quiet; zero never guesses so.
	Quiet Duration `json:"quiet,omitzero"`
	// Hold is how long nothing may contradict an end; zero means DefaultHold.
	Hold Duration `json:"hold,omitzero"`
	// Unanswered is how long a delivery may stay without a sign; zero means DefaultUnanswered.
	Unanswered Duration `json:"unanswered,omitzero"`
	// Rank lists the signals from the most to the least believed; empty means DefaultRank. A signal that is
	// not listed is not read. Quiet is always last and need not be listed.
	Rank []Signal `json:"rank,omitempty"`
}

// Titles are RE2 patterns over the window title, matched anywhere unless anchored. Waiting is tried first, then
// Working, Idle and Ready; a title that matches none says nothing.
type Titles struct {
	Working []Pattern `json:"working,omitempty"`
	Waiting []Pattern `json:"waiting,omitempty"`
	Idle    []Pattern `json:"idle,omitempty"`
	// Ready titles say only that the agent's own interface is up: they end Starting and claim nothing more.
	Ready []Pattern `json:"ready,omitempty"`
}

// DefaultRank is the order of belief where a rule set gives none.
func DefaultRank() []Signal { return []Signal{OSC, Hook, Title, Screen, Process} }

// Validate returns the first fault of a rule set, naming its field.
func (r Rules) Validate() error {
	for _, list := range []struct {
		name     string
		patterns []Pattern
	}{
		{"titles.working", r.Titles.Working}, {"titles.waiting", r.Titles.Waiting}, {"titles.idle", r.Titles.Idle}, {"titles.ready", r.Titles.Ready},
		{"screen.permission", r.Screen.Permission}, {"screen.question", r.Screen.Question}, {"screen.working", r.Screen.Working},
		{"screen.idle", r.Screen.Idle}, {"screen.background", r.Screen.Background},
	} {
		if len(list.patterns) > maxPatterns {
			return fmt.Errorf("%s: %d patterns, at most %d", list.name, len(list.patterns), maxPatterns)
		}
		for i, p := range list.patterns {
			if p.re == nil {
				return fmt.Errorf("%s[%d]: empty pattern", list.name, i)
			}
		}
	}
	if len(r.App) > maxApp {
		return fmt.Errorf("app: %d bytes, at most %d", len(r.App), maxApp)
	}
	for _, d := range []struct {
		name  string
		value Duration
	}{{"quiet", r.Quiet}, {"hold", r.Hold}, {"unanswered", r.Unanswered}} {
		if t := time.Duration(d.value); t < 0 || t > maxRuleTime {
			return fmt.Errorf("%s: %s is not between 0 and %s", d.name, t, maxRuleTime)
		}
	}
	return validRank(r.Rank)
}

func validRank(rank []Signal) error {
	seen := map[Signal]bool{}
	for _, s := range rank {
		if s <= None || s > Quiet {
			return fmt.Errorf("rank: %q is no signal to rank", s)
		}
		if seen[s] {
			return fmt.Errorf("rank: %q twice", s)
		}
		seen[s] = true
	}
	return nil
}

func (r Rules) rank() []Signal {
	if len(r.Rank) == 0 {
		return DefaultRank()
	}
	return r.Rank
}

func (r Rules) hold() time.Duration {
	if r.Hold == 0 {
		return DefaultHold
	}
	return time.Duration(r.Hold)
}

func (r Rules) unanswered() time.Duration {
	if r.Unanswered == 0 {
		return DefaultUnanswered
	}
	return time.Duration(r.Unanswered)
}

// expects says whether the agent is known to announce that it is ready, so that silence before that means it still
// starts. The foreground process is no such sign: a shell that reads its rc files is its own foreground already.
func (r Rules) expects() bool {
	return r.App != "" || len(r.Titles.Idle)+len(r.Titles.Ready)+len(r.Screen.Idle) > 0
}

// Pattern is a compiled RE2 expression that remembers its source. The zero value matches nothing and is no valid
// pattern in a rule set.
type Pattern struct{ re *regexp.Regexp }

// ParsePattern compiles text. RE2 matches in linear time, so a pattern from a person cannot hang a tab.
func ParsePattern(text string) (Pattern, error) {
	if text == "" || len(text) > maxPattern {
		return Pattern{}, fmt.Errorf("pattern of %d bytes: want 1 to %d", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return Pattern{re}, nil
}

// MustPatterns compiles patterns that are written in the source; it panics on a bad one.
func MustPatterns(texts ...string) []Pattern {
	out := make([]Pattern, len(texts))
	for i, t := range texts {
		p, err := ParsePattern(t)
		if err != nil {
			panic(err)
		}
		out[i] = p
	}
	return out
}

// Match says whether the pattern occurs in s.
func (p Pattern) Match(s string) bool { return p.re != nil && p.re.MatchString(s) }

// String returns the source text.
func (p Pattern) String() string {
	if p.re == nil {
		return ""
	}
	return p.re.String()
}

// MarshalText renders the source text.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText compiles the text.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePattern(string(text))
	return err
}

// Duration is a time.Duration that is text ("2s", "300ms") in JSON.
type Duration time.Duration

// MarshalText renders the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: %w", text, err)
	}
	*d = Duration(v)
	return nil
}

// titleState returns what a title claims, and whether it shows that the agent's interface is up.
func (r Rules) titleState(title string) (s State, up bool) {
	if len(title) > maxTitle {
		title = title[:maxTitle]
	}
	for _, rule := range []struct {
		patterns []Pattern
		state    State
	}{{r.Titles.Waiting, Waiting}, {r.Titles.Working, Working}, {r.Titles.Idle, Idle}, {r.Titles.Ready, Unknown}} {
		for _, p := range rule.patterns {
			if p.Match(title) {
				return rule.state, true
			}
		}
	}
	return Unknown, false
}
