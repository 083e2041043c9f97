package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"time"

	"termic/app/ctl"
	"termic/app/osc"
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
	opened, err := s.open(text, reaches)
	if err != nil {
		return nil, err // and no *stream that is nil inside of a ctl.Stream
	}
	return opened, nil
}

// open returns the stream of a ticket, without the commands of which cut says so.
func (s *streams) open(text string, cut func(number int) bool) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tickets[text]
	delete(s.tickets, text)
	if !ok || time.Now().After(t.expires) {
		return nil, refusal.New(refusal.NotFound, "the ticket is unknown, used or too old", "attach again")
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &stream{tab: t.tab, watcher: t.tab.Watch(), ctx: ctx, cancel: cancel, filter: osc.New(cut, osc.Nothing)}, nil
}

// stream is a watcher of a tab as ctl wants it.
type stream struct {
	tab     *tab.Tab
	watcher *tab.Watcher
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	filter  *osc.Filter
	rest    []byte // read from the watcher, not yet returned
}

// reaches tells which commands would reach beyond a terminal's screen: clipboards (52, and kitty's 5522) and iTerm2's family, which
// writes files and the clipboard. What a task prints must not do that on the person's own terminal, and their answers must not
// come back as keys.
func reaches(number int) bool { return number == 52 || number == 5522 || number == 1337 }

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		output, err := s.watcher.Next(s.ctx)
		if err == nil {
			s.rest = s.filter.Append(nil, output)
		} else if s.rest = s.filter.Rest(); len(s.rest) == 0 {
			return 0, err // the next time, if there was a rest
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

// Answered implements gui.Stream.
func (s *stream) Answered() { s.tab.Answered() }

func (s *stream) Status() int { return s.tab.Info().Exit.Code }

func (s *stream) Close() error {
	s.cancel()
	s.watcher.Close()
	return nil
}

var _ io.ReadWriteCloser = (*stream)(nil)
