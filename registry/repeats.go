package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"termic/registry/ident"
	"termic/registry/refusal"
)

const (
	// repeatFor is how long a key stands for its first outcome (design: ten minutes).
	repeatFor = 10 * time.Minute
	// maxRepeats bounds the memory that keys can take: results are at most some kilobytes each.
	maxRepeats = 4096
)

// repeats remembers the outcomes of calls that carried a key, so that a caller that lost the answer can ask
// again without doing the thing twice.
type repeats struct {
	mu    sync.Mutex
	calls map[repeatID]*repeat
}

// repeatID keeps callers' keys apart: nobody learns anything from another's key.
type repeatID struct {
	way   Way
	grant ident.Grant
	verb  string
	key   string
}

type repeat struct {
	arguments [sha256.Size]byte
	expires   time.Time
	// done is closed when the outcome below is there.
	done    chan struct{}
	result  json.RawMessage
	refused *refusal.Refusal
	// undone: its caller went away and nothing is left of it; whoever waited for its outcome does it.
	undone bool
}

func newRepeats() *repeats { return &repeats{calls: map[repeatID]*repeat{}} }

// do runs execute, or returns the outcome of the earlier call with the same key. A second call that comes
// while the first runs waits for it. Only an outcome of a handler that began is kept: what was refused
// before any effect may simply be tried again, and what was undone because its caller went away.
func (rs *repeats) do(ctx context.Context, caller Caller, verb *Verb, in any, execute func() (json.RawMessage, *refusal.Refusal, bool)) (json.RawMessage, *refusal.Refusal) {
	keyed, ok := in.(Keyed)
	if !ok || keyed.RepeatKey() == "" {
		result, no, _ := execute()
		return result, no
	}
	id := repeatID{caller.Way, caller.Grant, verb.Name, keyed.RepeatKey()}
	text, err := jsonv2.Marshal(in, jsonv2.Deterministic(true))
	if err != nil {
		return nil, refusal.Of(fmt.Errorf("compare arguments of %s: %w", verb.Name, err))
	}
	arguments := sha256.Sum256(text)
	for {
		first, mine, no := rs.claim(id, arguments)
		if no != nil {
			return nil, no
		}
		if mine {
			result, no, began := execute()
			first.undone = verb.Undone && no != nil && no.Code == refusal.Cancelled
			rs.settle(id, first, result, no, began && !first.undone)
			return result, no
		}
		select {
		case <-first.done:
			if !first.undone {
				return first.result, first.refused
			}
		case <-ctx.Done():
			return nil, refusal.New(refusal.Cancelled, "the call was given up", "")
		}
	}
}

// claim returns the call that owns the key, and whether that is the asking one.
func (rs *repeats) claim(id repeatID, arguments [sha256.Size]byte) (*repeat, bool, *refusal.Refusal) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := time.Now()
	for other, call := range rs.calls {
		if !call.expires.IsZero() && now.After(call.expires) {
			delete(rs.calls, other)
		}
	}
	if call := rs.calls[id]; call != nil {
		if call.arguments != arguments {
			return nil, false, refusal.New(refusal.Conflict, "this key was used with other arguments", "use a new key")
		}
		return call, false, nil
	}
	if len(rs.calls) >= maxRepeats {
		return nil, false, refusal.New(refusal.Busy, "too many keys are remembered", "call without a key, or later")
	}
	call := &repeat{arguments: arguments, done: make(chan struct{})}
	rs.calls[id] = call
	return call, true, nil
}

func (rs *repeats) settle(id repeatID, call *repeat, result json.RawMessage, no *refusal.Refusal, keep bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	call.result, call.refused, call.expires = result, no, time.Now().Add(repeatFor)
	if !keep {
		delete(rs.calls, id)
	}
	close(call.done)
}
