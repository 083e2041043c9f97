// Package refusal is the typed "no": what was refused, by which rule, and what to do next.
package refusal

import (
	"errors"
	"fmt"
)

// Refusal is a "no" that a caller can act on. Everything in it but the cause is meant for the caller,
// so it names nothing that the caller could not already see: no path, no token, no other task.
type Refusal struct {
	// Code is stable: callers branch on it.
	Code Code `json:"code"`
	// Reason says which rule refused, in one sentence without a trailing period.
	Reason string `json:"reason"`
	// Remedy says what to do next. It may be empty when there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
	// Request is the id under which the audit log knows the call. The router fills it in.
	Request string `json:"request,omitempty"`

	cause error
}

// New returns a refusal without a cause.
func New(code Code, reason, remedy string) *Refusal {
	return &Refusal{Code: code, Reason: reason, Remedy: remedy}
}

// Newf is New with a formatted reason.
func Newf(code Code, remedy, format string, args ...any) *Refusal {
	return New(code, fmt.Sprintf(format, args...), remedy)
}

// Because returns a copy of r that carries cause. The cause goes to the app's own log and is never shown
// to a caller: Error does not print it.
func (r *Refusal) Because(cause error) *Refusal {
	c := *r
	c.cause = cause
	return &c
}

// For returns a copy of r that names the request.
func (r *Refusal) For(request string) *Refusal {
	c := *r
	c.Request = request
	return &c
}

// Error is the text for people: code, reason and remedy, never the cause.
func (r *Refusal) Error() string {
	s := string(r.Code) + ": " + r.Reason
	if r.Remedy != "" {
		s += " (" + r.Remedy + ")"
	}
	return s
}

// Unwrap returns the cause, for logs and tests.
func (r *Refusal) Unwrap() error { return r.cause }

// Cause returns why the refusal happened, or nil.
func (r *Refusal) Cause() error { return r.cause }

// From returns the refusal in err's chain.
func From(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}

// Of returns the refusal in err's chain, or an internal one with err as its hidden cause: the text of an
// error that nobody wrote for callers may hold paths or secrets. It returns nil for a nil err.
func Of(err error) *Refusal {
	if err == nil {
		return nil
	}
	if r, ok := From(err); ok {
		return r
	}
	return New(Internal, "something went wrong inside termic", "look at the app's log, then report it").Because(err)
}
