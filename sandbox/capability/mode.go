package capability

import "slices"

// Mode is how a task is caged. The zero Mode is none chosen: it is no mode, is as strict as nothing, and
// has no effective set.
type Mode uint8

// The modes, from the weakest to the strictest.
const (
	Off       Mode = iota + 1 // no cage
	Monitor                   // observe and log, block nothing: no cage either
	EnforceFS                 // files caged, network open
	Enforce                   // files caged, network through the task's proxy only
)

var modeNames = []string{"none", "off", "monitor", "enforce-fs", "enforce"} // by value

// ParseMode returns the mode of a text form, or an *InvalidError. "none" is not one.
func ParseMode(text string) (Mode, error) {
	if i := slices.Index(modeNames, text); i > 0 {
		return Mode(i), nil
	}
	return 0, &InvalidError{Kind: "mode", Value: text, Why: "write off, monitor, enforce-fs or enforce"}
}

// Valid reports whether a mode was chosen.
func (m Mode) Valid() bool { return Off <= m && m <= Enforce }

// Caged reports whether the mode holds a task in a cage.
func (m Mode) Caged() bool { return m == EnforceFS || m == Enforce }

// AtLeast reports whether m is as strict as other or stricter; never, when either is no mode.
func (m Mode) AtLeast(other Mode) bool { return m.Valid() && other.Valid() && m >= other }

// String returns the text form, "none" for what is no mode.
func (m Mode) String() string {
	if !m.Valid() {
		return modeNames[0]
	}
	return modeNames[m]
}

// MarshalText returns the text form. What is no mode has none: it is never stored.
func (m Mode) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, ErrNoMode
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (m *Mode) UnmarshalText(text []byte) error {
	mode, err := ParseMode(string(text))
	if err != nil {
		return err
	}
	*m = mode
	return nil
}
