// Package settle decides from what is seen of a terminal whether the agent in it is working, waiting for the
// person, or has stopped, and by which signal that is known.
//
// It is a pure machine: it starts no goroutine and reads no clock. Time comes in with each observation, so the
// same observations always give the same answers. A Machine is not safe for concurrent use; its owner (one tab)
// already has a lock around its read loop.
//
// What the machine says is a claim about the agent made from bytes that the agent can choose freely. It moves
// what is shown and when a wait answers; it must never open a guard.
package settle

import "fmt"

// State is what an agent is doing. The zero value is Unknown, which is never settled.
type State int

// The states. Done and Idle are the settled ones: Done after a delivery, Idle without one (a fresh prompt).
const (
	Unknown  State = iota // nothing can be said honestly
	Starting              // no signal has come yet
	Working               // busy, or a delivery was made and nothing has proved its end
	Waiting               // asks the person something: a permission or a question
	Done                  // stopped after the last delivery
	Idle                  // stopped, and nothing was ever delivered
	Exited                // the process has ended; final
)

var stateNames = [...]string{"unknown", "starting", "working", "waiting", "done", "idle", "exited"}

// String returns the state's name as it stands in JSON and on the command line.
func (s State) String() string { return name(stateNames[:], int(s)) }

// MarshalText renders the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name and refuses any other text.
func (s *State) UnmarshalText(text []byte) error {
	i, err := index(stateNames[:], string(text), "state")
	*s = State(i)
	return err
}

// Settled says whether the state is one in which the agent has stopped by itself.
func (s State) Settled() bool { return s == Done || s == Idle }

// Signal names what a state is known by. The zero value is None.
type Signal int

// The signals. Title, Screen and Quiet are guesses.
const (
	None    Signal = iota
	Hook           // the agent's own hook program reported
	OSC            // an escape sequence made for the purpose: 7501, 9;4 or 133
	Title          // the window title
	Screen         // rules over the live screen
	Process        // the terminal's foreground process group, or the exit of the process
	Quiet          // output stopped for a while
)

var signalNames = [...]string{"none", "hook", "osc", "title", "screen", "process", "quiet"}

// String returns the signal's name as it stands in JSON and on the command line.
func (s Signal) String() string { return name(signalNames[:], int(s)) }

// MarshalText renders the name.
func (s Signal) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name and refuses any other text.
func (s *Signal) UnmarshalText(text []byte) error {
	i, err := index(signalNames[:], string(text), "signal")
	*s = Signal(i)
	return err
}

// Guess says whether the signal is inferred from something that was not made to carry a state.
func (s Signal) Guess() bool { return s == Title || s == Screen || s == Quiet }

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return names[0]
	}
	return names[i]
}

func index(names []string, text, what string) (int, error) {
	for i, n := range names {
		if n == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %q is not one of %q", what, text, names)
}
