package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"time"
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
