package mcpserver

import (
	"errors"
	"os"
	"sync"
	"time"
)

// deadline is until when one direction of a connection may wait. It is given to the system only where that makes a difference:
// net/http and we set nine for each request, and giving one to the system costs as much as reading a header. So an earlier
// one may stay with the system while a later one is wanted; when it passes, what is wanted decides.
type deadline struct {
	give func(time.Time) error // to the system

	mu sync.Mutex
	// wanted is what was set last, given what the system has; the zero time is none.
	wanted, given time.Time
	// busy is how many reads or writes go on.
	busy int
}

// set notes what is wanted; somebody who waits already does not wait longer than that.
func (d *deadline) set(wanted time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = wanted
	if d.busy == 0 {
		return nil
	}
	return d.apply()
}

// begin and end enclose a read or a write.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy++
	return d.apply()
}

func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
}

// early tells whether err only says that an earlier deadline than the wanted one has passed. Then the system has the wanted
// one now, and what was ended may go on.
func (d *deadline) early(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wanted.IsZero() && !time.Now().Before(d.wanted) {
		return false
	}
	d.given = d.wanted
	return d.give(d.wanted) == nil
}

// apply gives the wanted deadline to the system, unless what that has comes first and is still to come. mu is held.
func (d *deadline) apply() error {
	first := !d.given.IsZero() && (d.wanted.IsZero() || !d.given.After(d.wanted))
	if d.wanted.Equal(d.given) || first && time.Now().Before(d.given) {
		return nil
	}
	d.given = d.wanted
	return d.give(d.wanted)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (n int, err error) {
	if err := c.reading.begin(); err != nil {
		return 0, err
	}
	defer c.reading.end()
	for {
		if n, err = c.Conn.Read(p); n > 0 || !c.reading.early(err) {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (n int, err error) {
	if err := c.writing.begin(); err != nil {
		return 0, err
	}
	defer c.writing.end()
	for {
		written, err := c.Conn.Write(p[n:])
		if n += written; n == len(p) || !c.writing.early(err) {
			return n, err
		}
	}
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.set(t), c.writing.set(t))
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.reading.set(t) }

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writing.set(t) }
