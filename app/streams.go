package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"time"

	"termic/app/ctl"
	"termic/app/pty"
	"termic/app/tab"
	"termic/registry/refusal"
)

// ticketLife is how long a ticket waits to be used: the time between an answer and the next request.
const ticketLife = 10 * time.Second

// streams turns the tickets of task_attach into streams of tabs, once each.
type streams struct {
	mu      sync.Mutex
	tickets map[string]ticket
}

type ticket struct {
	tab     *tab.Tab
	expires time.Time
}

func newStreams() *streams { return &streams{tickets: map[string]ticket{}} }

// Ticket implements handlers.Streams.
func (s *streams) Ticket(which *tab.Tab) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for text, t := range s.tickets {
		if now.After(t.expires) {
			delete(s.tickets, text)
		}
	}
	text := rand.Text()
	s.tickets[text] = ticket{which, now.Add(ticketLife)}
	return text
}

// Open implements ctl.Streams.
func (s *streams) Open(_ context.Context, text string) (ctl.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tickets[text]
	delete(s.tickets, text)
	if !ok || time.Now().After(t.expires) {
		return nil, refusal.New(refusal.NotFound, "the ticket is unknown, used or too old", "attach again")
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &stream{tab: t.tab, watcher: t.tab.Watch(), ctx: ctx, cancel: cancel}, nil
}

// stream is a watcher of a tab as ctl wants it.
type stream struct {
	tab     *tab.Tab
	watcher *tab.Watcher
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	rest    []byte // read from the watcher, not yet returned
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		var err error
		if s.rest, err = s.watcher.Next(s.ctx); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) Write(p []byte) (int, error) {
	if err := s.tab.Type(s.ctx, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) Resize(cols, rows int) error {
	if cols < 0 || cols > 1<<16-1 || rows < 0 || rows > 1<<16-1 {
		return fmt.Errorf("resize stream to %d×%d: out of range", cols, rows)
	}
	return s.tab.Resize(pty.Size{Cols: uint16(cols), Rows: uint16(rows)})
}

func (s *stream) Status() int { return s.tab.Info().Exit.Code }

func (s *stream) Close() error {
	s.cancel()
	s.watcher.Close()
	return nil
}

var _ io.ReadWriteCloser = (*stream)(nil)
