package mcpserver

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// conns is a listener that holds a bounded number of connections open. At the bound a newcomer takes the
// place of a connection that nobody with a live credential is using; where there is none, it is closed.
type conns struct {
	net.Listener
	max int

	mu      sync.Mutex
	open    map[*conn]struct{}
	stopped bool
}

func newConns(inner net.Listener, limit int) *conns {
	return &conns{Listener: inner, max: limit, open: map[*conn]struct{}{}}
}

// conn is one connection and what was seen of its requests. Its methods accept nil, which is a connection
// that no conns counts.
type conn struct {
	net.Conn
	owner            *conns
	reading, writing deadline
	// The rest is guarded by owner.mu.
	opened time.Time
	// served is when a request with a live credential last ended; zero before the first.
	served time.Time
	busy   bool
	failed bool
}

// Accept implements net.Listener.
func (cs *conns) Accept() (net.Conn, error) {
	for {
		inner, err := cs.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := cs.admit(inner); c != nil {
			return c, nil
		}
		_ = inner.Close()
	}
}

// admit counts a new connection, or returns nil when there is no room and nobody to make room.
func (cs *conns) admit(inner net.Conn) *conn {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.stopped {
		return nil
	}
	if len(cs.open) >= cs.max {
		loser := cs.leastWanted()
		if loser == nil {
			return nil
		}
		delete(cs.open, loser)
		_ = loser.Conn.Close()
	}
	c := &conn{Conn: inner, owner: cs, opened: time.Now()}
	c.reading.give, c.writing.give = inner.SetReadDeadline, inner.SetWriteDeadline
	cs.open[c] = struct{}{}
	return c
}

// leastWanted returns the connection to give up: one that failed to authenticate, then the one that has not
// been of use for longest. A connection with an authenticated request under way is never given up.
func (cs *conns) leastWanted() *conn {
	var least *conn
	for c := range cs.open {
		if !c.busy && (least == nil || c.compare(least) < 0) {
			least = c
		}
	}
	return least
}

func (c *conn) compare(other *conn) int {
	failed := func(c *conn) int {
		if c.failed {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(failed(c), failed(other)),
		c.served.Compare(other.served),
		c.opened.Compare(other.opened),
	)
}

// stop admits nobody any more and closes every connection without an authenticated request under way.
func (cs *conns) stop() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.stopped = true
	for c := range cs.open {
		if !c.busy {
			delete(cs.open, c)
			_ = c.Conn.Close()
		}
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http end a connection so that its peer still reads the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// begin and end enclose a request with a live credential; fail marks one without.
func (c *conn) begin() { c.mark(func() { c.busy, c.failed = true, false }) }
func (c *conn) end()   { c.mark(func() { c.busy, c.served = false, time.Now() }) }
func (c *conn) fail()  { c.mark(func() { c.failed = true }) }

func (c *conn) mark(change func()) {
	if c == nil {
		return
	}
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	change()
}

type connKey struct{}

// withConn is an http.Server's ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
