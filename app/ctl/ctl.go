// Package ctl is the way in for the command line: HTTP/1.1 over a unix socket in the data directory.
//
// Whoever holds the socket is the person, so three things guard it, each enough by itself against other users:
// the socket is 0600 in a directory that is ours and 0700; both ends ask the kernel for the other's uid before
// a byte of a token moves, and hang up on any but their own; and every request carries the token in the file
// cli-token, which is 0600 and new at each start. They do not guard against other programs of the same user
// that may read the data directory: those are the person, as far as the kernel can tell. A cage may not read
// it (package sandbox/profile denies it last).
//
//	POST /call/<verb>       body: the arguments; answer: {"result": …} or {"refusal": …}
//	POST /stream/<ticket>   Upgrade: termic-stream/1; then frames (frame.go)
package ctl

import (
	"context"
	"encoding/json"
	"time"

	"termic/registry"
)

// The files in the data directory.
const (
	socketName = "ctl.sock"
	tokenName  = "cli-token"
	// pathName holds the socket's path where the one in the data directory would be too long.
	pathName = "ctl-path"
)

const (
	// maxBody bounds a call's arguments: the longest text is 1 MiB, and JSON may escape it.
	maxBody = 2 << 20
	// maxAnswer bounds what the client reads: a diff with its patch is by far the longest result.
	maxAnswer = 64 << 20
	// maxHeader bounds a request's header: ours has a token and three short lines.
	maxHeader = 8 << 10
	// maxConns bounds open connections; beyond it new ones are closed at once.
	maxConns = 512
	// maxCalls bounds calls that run at once, waits included; beyond it a call is refused as busy.
	maxCalls = 256
	// maxStreams bounds streams that are open at once.
	maxStreams = 64
	// headerTimeout and bodyTimeout bound a client that sends slowly, answerTimeout one that does not read.
	headerTimeout = 5 * time.Second
	bodyTimeout   = 30 * time.Second
	answerTimeout = 30 * time.Second
	// stopTimeout is how long a begun write may take to finish when the app stops.
	stopTimeout = 10 * time.Second
)

// Router carries a call to its outcome. *registry.Router is one.
type Router interface {
	// Dispatch executes one call. Its error is a *refusal.Refusal, or counts as an internal one.
	Dispatch(ctx context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error)
}

// answer is the body of every response to an authenticated request.
type answer struct {
	// Progress is alone in its answer: more come, the last with one of the others. Only who asks for lines gets it.
	Progress string          `json:"progress,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Refusal  json.RawMessage `json:"refusal,omitempty"`
}
