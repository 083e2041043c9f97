package registry

import (
	"context"
	"errors"
	"sync"
)

// lifetime is how long a handler may run: a write to its end, or until its caller goes away where it is undone then; a read
// or a wait until its caller goes away or its grant ends. stop must be called when the handler has returned.
func lifetime(ctx context.Context, verb *Verb, ended <-chan struct{}) (_ context.Context, stop func()) {
	switch {
	case verb.Undone:
		return ctx, func() {}
	case verb.Class != Read:
		return context.WithoutCancel(ctx), func() {}
	}
	l := &life{Context: ctx, ended: ended}
	return l, l.stop
}

var errGrantEnded = errors.New("the caller's grant ended")

// life is a context that ends with its parent and with a grant. Whatever watches the grant is made when somebody first
// waits for the end: most reads answer at once, and a goroutine for each was a tenth of what a call costs.
type life struct {
	context.Context // the caller's
	ended           <-chan struct{}

	mu      sync.Mutex
	stopped bool
	// watched is what ends with either; nil until somebody waits.
	watched context.Context
	cancel  context.CancelCauseFunc
	over    chan struct{} // closed by stop
}

// Done implements context.Context.
func (l *life) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watch().Done()
}

// Err implements context.Context.
func (l *life) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watched == nil && !l.stopped && l.Context.Err() == nil {
		select {
		case <-l.ended: // nil never is
		default:
			return nil
		}
	}
	if watched := l.watch(); watched.Err() != nil {
		return watched.Err()
	}
	// It is told of the grant's end by a goroutine, which may not have run yet.
	select {
	case <-l.ended:
		l.cancel(errGrantEnded)
		return l.watched.Err()
	default:
		return nil
	}
}

// Value implements context.Context; context.Cause and contexts that are made of this one find the watched one by it.
func (l *life) Value(key any) any {
	l.mu.Lock()
	from := l.watched
	l.mu.Unlock()
	if from == nil {
		from = l.Context
	}
	return from.Value(key)
}

// watch makes what ends with the parent and with the grant. mu is held.
func (l *life) watch() context.Context {
	if l.watched != nil {
		return l.watched
	}
	l.watched, l.cancel = context.WithCancelCause(l.Context)
	switch {
	case l.stopped:
		l.cancel(nil)
	case l.ended != nil:
		l.over = make(chan struct{})
		go l.follow(l.cancel, l.over)
	}
	return l.watched
}

func (l *life) follow(cancel context.CancelCauseFunc, over <-chan struct{}) {
	select {
	case <-l.ended:
		cancel(errGrantEnded)
	case <-over:
	}
}

// stop ends it, and what watched the grant.
func (l *life) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.stopped = true
	if l.watched == nil {
		return
	}
	l.cancel(nil)
	if l.over != nil {
		close(l.over)
	}
}
