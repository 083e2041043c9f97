package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"termic/registry"
)

type progressParams struct {
	Token jsontext.Value `json:"progressToken"`
	// Progress is for how many seconds the call has run, which is all that is known of every call, and only grows.
	Progress float64 `json:"progress"`
	Message  string  `json:"message"`
}

// stillRunning is what is said of a call that says nothing of itself.
const stillRunning = "still running"

// progress tells a client that gave a progress token how its call goes. Until the call reports something or has run
// for progressAfter nothing is sent, so that a quick answer is one JSON body; from then on the answer is a stream. A
// client that gave no token gets one JSON body however long it takes.
//
// The call must run under the context that is returned. stop must be called when it is over and before it is
// answered; nothing is sent after it.
func (s *Server) progress(ctx context.Context, reply *reply, request request) (_ context.Context, stop func()) {
	token := request.progressToken()
	if token == nil || request.method != methodCall {
		return ctx, func() {}
	}
	feed := &progressFeed{reply: reply, token: token, began: time.Now(), reports: registry.NewReports()}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		feed.run(over)
	}()
	return registry.WithProgress(ctx, feed.reports.Say), func() { close(over); <-gone }
}

// progressToken returns the token as it was written, or nil.
func (r request) progressToken() json.RawMessage { return r.meta.Get(progressKey) }

// progressFeed sends the progress of one call.
type progressFeed struct {
	reply   *reply
	token   json.RawMessage
	began   time.Time
	reports registry.Reports
	sent    int64 // milliseconds
}

// run sends what is reported, at most once in progressGap, and that the call still runs when nothing is.
func (f *progressFeed) run(over <-chan struct{}) {
	silence := time.NewTimer(progressAfter)
	defer silence.Stop()
	text := stillRunning
	for {
		select {
		case <-over:
			return
		case text = <-f.reports:
		case <-silence.C:
		}
		f.send(text)
		select {
		case <-over:
			return
		case <-time.After(progressGap):
		}
		silence.Reset(progressEvery)
	}
}

func (f *progressFeed) send(text string) {
	// Milliseconds are as fine as it gets, and each value must be greater than the one before.
	f.sent = max(time.Since(f.began).Milliseconds(), f.sent+1)
	message, err := marshal(notification[progressParams]{"2.0", "notifications/progress",
		progressParams{jsontext.Value(f.token), float64(f.sent) / 1000, text}})
	if err != nil {
		return // a token that does not encode was refused before
	}
	if !f.reply.streaming {
		f.reply.stream()
	}
	f.reply.event(message)
}
