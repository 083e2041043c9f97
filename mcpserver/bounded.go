package mcpserver

import (
	"context"
	"sync"
	"time"
)

// bounded is a context that ends with its parent, or at a time of its own. What ends it is made when somebody first waits for
// the end: most calls answer at once, and a timer for each was a fortieth of what one costs.
type bounded struct {
	context.Context // the request's
	until           time.Time

	mu sync.Mutex
	// made ends with either; nil until somebody waits.
	made   context.Context
	cancel context.CancelFunc
	over   bool
}

// within returns a context that ends with ctx and after length at the latest. stop must be called when the work is over,
// and ends it.
func within(ctx context.Context, length time.Duration) (_ context.Context, stop func()) {
	b := &bounded{Context: ctx, until: time.Now().Add(length)}
	return b, b.stop
}

// Deadline implements context.Context.
func (b *bounded) Deadline() (time.Time, bool) {
	if earlier, ok := b.Context.Deadline(); ok && earlier.Before(b.until) {
		return earlier, true
	}
	return b.until, true
}

// Done implements context.Context.
func (b *bounded) Done() <-chan struct{} { return b.make().Done() }

// Err implements context.Context.
func (b *bounded) Err() error {
	b.mu.Lock()
	ended := b.made != nil || b.over || b.Context.Err() != nil || !time.Now().Before(b.until)
	b.mu.Unlock()
	if !ended {
		return nil
	}
	return b.make().Err()
}

// Value implements context.Context; context.Cause and contexts that are made of this one find what ends it by it.
func (b *bounded) Value(key any) any {
	b.mu.Lock()
	from := b.made
	b.mu.Unlock()
	if from == nil {
		from = b.Context
	}
	return from.Value(key)
}

// make returns what ends it.
func (b *bounded) make() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made == nil {
		b.made, b.cancel = context.WithDeadline(b.Context, b.until)
		if b.over {
			b.cancel()
		}
	}
	return b.made
}

func (b *bounded) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.made != nil {
		b.cancel()
	}
}
