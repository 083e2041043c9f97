package task

import (
	"context"
	"errors"
	"fmt"

	"termic/app/safefile"
	"termic/app/transcript"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// Result is an agent's last message.
type Result struct {
	Session string
	Text    string
}

// Result returns the last message of the agent in a tab, from its transcript. Where there is none the error is a refusal that says
// where the agent would keep it. It ends with ctx.
func (s *Tasks) Result(ctx context.Context, id ident.Task, which ident.Tab) (Result, error) {
	record, ok := s.Get(id)
	if !ok {
		return Result{}, noSuchTask()
	}
	open, err := s.Tab(which)
	if err != nil {
		return Result{}, err
	}
	info := open.Info()
	definition, err := s.Agents.Get(info.Agent)
	if err != nil {
		return Result{}, err
	}
	kind := definition.Cage.State
	none := func(reason string, cause error) error {
		return refusal.Newf(refusal.Unsupported, "use task_log, or have the agent write its answer to a file of the checkout and read that with task_diff",
			"%s; agent %s keeps its sessions in %s", reason, definition.ID, transcript.Convention(kind)).Because(cause)
	}
	session, _ := open.Conversation()
	if session == "" {
		return Result{}, none("the agent has not said which session it is in", nil)
	}
	dir, err := s.State.Transcripts(id, kind, record.Mode.Caged() && !info.Outside)
	if err != nil {
		return Result{}, none("there is no transcript", err)
	}
	root, err := safefile.Hold(dir)
	if err != nil {
		return Result{}, none("there is no transcript", err)
	}
	defer root.Close()
	text, err := transcript.Last(ctx, root, kind, session)
	switch {
	case errors.Is(err, transcript.ErrNone), errors.Is(err, transcript.ErrKind):
		return Result{}, none("there is no transcript with a message of the agent", err)
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err != nil:
		return Result{}, refusal.New(refusal.Unavailable, "the transcript cannot be read", "use task_log").Because(fmt.Errorf("result of tab %s: %w", which, err))
	}
	return Result{session, text}, nil
}
