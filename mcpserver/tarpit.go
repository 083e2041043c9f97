package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"termic/registry"
	"termic/registry/ident"
)

// tarpit counts wrong credentials and makes them slow, within a bound: it can hold up nobody but those who
// fail. The zero value is ready.
type tarpit struct {
	mu       sync.Mutex
	failures uint64
	logged   time.Time
	reported uint64
	held     int
}

// hold counts one failure and returns after the delay, or at once when enough are held already. The
// credential, whole or in part, is in no log.
func (t *tarpit) hold(ctx context.Context, limits Limits, log *slog.Logger) {
	if !t.enter(limits.FailHeld, log) {
		return
	}
	defer t.leave()
	timer := time.NewTimer(limits.FailDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// enter counts a failure, and returns whether there is room to hold it back.
func (t *tarpit) enter(room int, log *slog.Logger) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures++
	if now := time.Now(); t.logged.IsZero() || now.Sub(t.logged) >= logEvery {
		log.Warn("authentication failed", "times", t.failures-t.reported)
		t.logged, t.reported = now, t.failures
	}
	if t.held >= room {
		return false
	}
	t.held++
	return true
}

func (t *tarpit) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held--
}

// Failures returns how many requests came with a wrong credential since the start.
func (s *Server) Failures() uint64 {
	s.tarpit.mu.Lock()
	defer s.tarpit.mu.Unlock()
	return s.tarpit.failures
}

// rates bounds what one token asks, at once and a second, and what all ask at once. The zero value is ready.
type rates struct {
	mu       sync.Mutex
	buckets  map[bucketKey]*bucket
	underWay int
}

// bucketKey tells tokens apart: by grant, and by name for callers that hold none.
type bucketKey struct {
	grant ident.Grant
	name  string
}

func keyOf(caller registry.Caller) bucketKey { return bucketKey{caller.Grant, caller.Name} }

type bucket struct {
	limiter  *rate.Limiter
	underWay int
}

// take admits one request of caller; release must be called when it is over, and may be called again.
func (rs *rates) take(caller registry.Caller, limits Limits) (release func(), ok bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	key := keyOf(caller)
	b := rs.buckets[key]
	if b == nil {
		rs.forgetIdle()
		b = &bucket{limiter: rate.NewLimiter(rate.Limit(limits.Rate), limits.Burst)}
		rs.buckets[key] = b
	}
	if rs.underWay >= limits.Requests || b.underWay >= limits.Calls || !b.limiter.Allow() {
		return nil, false
	}
	rs.underWay++
	b.underWay++
	released := false
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if !released {
			released = true
			rs.underWay--
			b.underWay--
		}
	}, true
}

// forgetIdle makes room: a bucket that is full and not in use is as good as none.
func (rs *rates) forgetIdle() {
	if rs.buckets == nil {
		rs.buckets = map[bucketKey]*bucket{}
	}
	if len(rs.buckets) < maxBuckets {
		return
	}
	for key, b := range rs.buckets {
		if b.underWay == 0 && b.limiter.Tokens() >= float64(b.limiter.Burst()) {
			delete(rs.buckets, key)
		}
	}
}
