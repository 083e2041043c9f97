package registry

import (
	"context"
	"encoding/json"
)

// Dialog is how a way in carries a question to the person behind an outside client and brings the answer back with a
// second call (MCP's input_required). One belongs to one request.
type Dialog struct {
	// Offered: the client says that it can put a question to its person.
	Offered bool
	// State is what the client brought back of an earlier question, and Reply what its person said to that. An empty
	// State is no answer to anything.
	State string
	Reply Reply

	// Asks is set by the router when the call was not made because its person has to be asked first. The refusal
	// that Dispatch then returns has the code held, and is for ways in that cannot ask.
	Asks *Asks
}

// Reply is what the person behind a client said. The zero value is nothing yet.
type Reply uint8

const (
	NoReply Reply = iota
	// Yes is an explicit yes; whatever else a client makes of its person's answer is a No.
	Yes
	No
)

// Asks is a question for the person behind a client.
type Asks struct {
	Verb *Verb
	// Arguments are the caller's own, as JSON.
	Arguments json.RawMessage
	// State is to be brought back with the same call. It holds no secret and is of use to nobody else.
	State string
}

type dialogKey struct{}

// WithDialog returns a context whose call may be asked about through its client. The dialog is written to until Dispatch
// returns.
func WithDialog(ctx context.Context, dialog *Dialog) context.Context {
	return context.WithValue(ctx, dialogKey{}, dialog)
}

// dialogOf returns the dialog of a call, or one that offers nothing.
func dialogOf(ctx context.Context) *Dialog {
	if dialog, ok := ctx.Value(dialogKey{}).(*Dialog); ok {
		return dialog
	}
	return &Dialog{}
}
