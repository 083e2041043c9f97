package settle

import "time"

// Kind says what was observed. The zero value is KindTick: only time has passed.
type Kind int

// The observations, and the fields of Observation that each one uses.
const (
	KindTick       Kind = iota // the time that Next asked for has come
	KindOutput                 // bytes came from the terminal: Bytes
	KindTitle                  // OSC 0 or 2: Text is the title
	KindProgress               // OSC 9;4: Progress is its state field
	KindStatus                 // OSC 7501: Text is what follows "7501;"
	KindPrompt                 // OSC 133: Mark is A, B, C or D
	KindForeground             // Busy: something other than the shell is in the terminal's foreground
	KindDelivered              // we begin to type a prompt: Seq, counted from 1
	KindHook                   // a hook reported: State is Working, Waiting or Idle, anything else withdraws; Text is Wait.Kind
	KindScreen                 // screen rules matched: State as above
	KindBackground             // sub-agents and background commands known to run: Count, and Source that knows
	KindExited                 // the process has ended
)

// Observation is one thing seen at one time. Times must not run backwards; one that does counts as the latest
// time seen, so that a clock step can neither hurry nor undo a decision.
type Observation struct {
	At       time.Time
	Kind     Kind
	Bytes    int
	Text     string
	Progress int
	Mark     byte
	Busy     bool
	Seq      uint64
	State    State
	Count    int
	Source   Signal
}

// progressState maps the state field of OSC 9;4 (ConEmu's numbering). 2 (error) and 4 (paused) colour the bar and
// do not say whether work goes on, so they withdraw the claim.
func progressState(p int) State {
	switch p {
	case 0:
		return Idle
	case 1, 3:
		return Working
	}
	return Unknown
}

// markState maps a prompt mark of OSC 133: A and B surround the prompt, C starts a command's output, D ends it.
func markState(mark byte) State {
	switch mark {
	case 'A', 'B', 'D':
		return Idle
	case 'C':
		return Working
	}
	return Unknown
}

// claimed keeps the three states that a signal may claim.
func claimed(s State) State {
	switch s {
	case Working, Waiting:
		return s
	case Idle, Done:
		return Idle
	}
	return Unknown
}
