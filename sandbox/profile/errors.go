package profile

import "fmt"

// ExposureError is a rule that would show a cage what is denied to it. The rule is as its author wrote it.
type ExposureError struct {
	Rule   string // what was asked for, such as `read "/home/u"`
	Secret string // what it would show, or would let the cage write
	Write  bool   // the harm is writing
}

func (e *ExposureError) Error() string {
	verb := "show"
	if e.Write {
		verb = "let it write"
	}
	return fmt.Sprintf("cage refused: the rule %s would %s %q; name a narrower path", e.Rule, verb, e.Secret)
}

// LinkError is a protected path of the checkout that is a symbolic link, or leads through one to what cannot be
// protected, or has another name that the cage could write. What it protects could be replaced.
type LinkError struct {
	Path  string
	Other string // the other name of the same file; "" for a symbolic link
}

func (e *LinkError) Error() string {
	if e.Other != "" {
		return fmt.Sprintf("cage refused: %q is the same file as %q, and programs outside the cage obey it; replace one of them by a copy", e.Path, e.Other)
	}
	return fmt.Sprintf("cage refused: %q is a symbolic link, and programs outside the cage obey what it names; replace it by a file or directory", e.Path)
}

// RedirectError is a path of a rule that leads through a symbolic link. What was compared with others' limits is the path
// as it is written, so it is never followed: whoever can write where the link is would choose what the cage shows.
type RedirectError struct{ Rule string }

func (e *RedirectError) Error() string {
	return fmt.Sprintf("cage refused: the path of the rule %s leads through a symbolic link; name the place itself", e.Rule)
}

// MissingError is a path that the cage must have and the machine lacks.
type MissingError struct {
	Path string
	What string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("cage refused: %s %q does not exist", e.What, e.Path)
}
