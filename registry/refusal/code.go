package refusal

// Code names a kind of refusal. Codes are stable: once shipped, a code keeps its meaning.
type Code string

const (
	Internal      Code = "internal"
	BadInput      Code = "bad_input"
	NeedsInput    Code = "needs_input"
	NotPermitted  Code = "not_permitted"
	ExceedsGrant  Code = "exceeds_grant"
	Revoked       Code = "revoked"
	Unsupported   Code = "unsupported"
	NotFound      Code = "not_found"
	UnknownVerb   Code = "unknown_verb"
	NotRunning    Code = "not_running"
	TimedOut      Code = "timed_out"
	AgentExited   Code = "agent_exited"
	NotDelivered  Code = "not_delivered"
	Conflict      Code = "conflict"
	Ambiguous     Code = "ambiguous"
	Busy          Code = "busy"
	Held          Code = "held"
	Cancelled     Code = "cancelled"
	Unavailable   Code = "unavailable"
	StorageFailed Code = "storage_failed"
	NoWindow      Code = "no_window"
	Unconfirmed   Code = "unconfirmed"
)

// Info is what the documentation and the CLI need to know of a code.
type Info struct {
	Code Code
	// Exit is the CLI's exit status for the code (issue: stable numbers, one meaning each).
	Exit int
	// Means is one sentence for the documentation.
	Means string
}

// codes is the one table of codes; order is the order of documentation.
var codes = []Info{
	{Internal, 1, "termic itself failed; the cause is in its log"},
	{BadInput, 2, "the arguments are malformed, missing or out of range"},
	{NeedsInput, 3, "the agent waits for an answer that only a person may give"},
	{NotPermitted, 4, "this caller may not do this"},
	{ExceedsGrant, 4, "the call would reach more than the caller's grant does"},
	{Revoked, 4, "the caller's grant has ended"},
	{Unsupported, 4, "this machine or this version cannot do it"},
	{NotFound, 5, "no such task, tab, project or agent that this caller can see"},
	{UnknownVerb, 5, "no such verb for this caller"},
	{NotRunning, 6, "the app is not running"},
	{TimedOut, 7, "the time was over first; the task goes on"},
	{AgentExited, 8, "the agent's process has ended"},
	{NotDelivered, 9, "the text did not reach the agent's prompt"},
	{Conflict, 10, "the state of things forbids it: a taken name, work in progress"},
	{Ambiguous, 10, "the name fits more than one thing"},
	{Busy, 10, "too much at once; try again"},
	{Held, 11, "the call waits for a person, who did not answer in time"},
	{Cancelled, 1, "the caller went away before the work began"},
	{Unavailable, 4, "switched off, or not usable right now"},
	{StorageFailed, 1, "the disk refused: full, read-only or damaged; nothing was done"},
	{NoWindow, 6, "the app runs without a window"},
	{Unconfirmed, 12, "something must be looked at first, and confirmed"},
}

// Codes returns every code with its exit status and meaning, in documentation order.
func Codes() []Info { return append([]Info(nil), codes...) }

// Exit returns the CLI's exit status for a code, and 1 (internal) for one that is not in the table.
func (c Code) Exit() int {
	for _, info := range codes {
		if info.Code == c {
			return info.Exit
		}
	}
	return 1
}
