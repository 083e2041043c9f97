package mcpserver

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a connection that counts how often the system is given a deadline.
type counted struct {
	net.Conn
	given int
}

func (c *counted) SetReadDeadline(t time.Time) error { c.given++; return c.Conn.SetReadDeadline(t) }

func TestADeadlineIsKeptWhateverTheSystemHas(t *testing.T) {
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	set := func(t *testing.T, c *conn, deadline time.Time) {
		t.Helper()
		if err := c.SetDeadline(deadline); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		says string
		do   func(t *testing.T, c *conn)
		// ends is after how long the transfer ends, to the second; 0: it does not end by itself.
		ends time.Duration
	}{
		{"one deadline", func(t *testing.T, c *conn) { set(t, c, in(5*time.Second)) }, 5 * time.Second},
		{"a later one after it", func(t *testing.T, c *conn) { set(t, c, in(5*time.Second)); set(t, c, in(9*time.Second)) }, 9 * time.Second},
		{"an earlier one after it", func(t *testing.T, c *conn) { set(t, c, in(9*time.Second)); set(t, c, in(5*time.Second)) }, 5 * time.Second},
		{"none after it", func(t *testing.T, c *conn) { set(t, c, in(5*time.Second)); set(t, c, time.Time{}) }, 0},
		{"one that has passed", func(t *testing.T, c *conn) { set(t, c, time.Unix(1, 0)) }, 0 + 1},
		{"one that has passed and then another", func(t *testing.T, c *conn) { set(t, c, time.Unix(1, 0)); set(t, c, in(5*time.Second)) }, 5 * time.Second},
		{"a later one while it waits", func(t *testing.T, c *conn) {
			set(t, c, in(5*time.Second))
			time.AfterFunc(2*time.Second, func() { set(t, c, in(7*time.Second)) })
		}, 9 * time.Second},
		{"an earlier one while it waits", func(t *testing.T, c *conn) {
			set(t, c, in(9*time.Second))
			time.AfterFunc(2*time.Second, func() { set(t, c, in(time.Second)) })
		}, 3 * time.Second},
		{"it is ended while it waits without one", func(t *testing.T, c *conn) {
			time.AfterFunc(2*time.Second, func() { set(t, c, time.Unix(1, 0)) })
		}, 2 * time.Second},
		{"the system still has one of an earlier transfer", func(t *testing.T, c *conn) {
			set(t, c, in(5*time.Second))
			_, _ = c.Read(nil)
			_, _ = c.Write(nil)
			set(t, c, in(9*time.Second))
		}, 9 * time.Second},
	} {
		for name, transfer := range map[string]func(*conn) (int, error){
			"read":  func(c *conn) (int, error) { return c.Read(make([]byte, 1)) },
			"write": func(c *conn) (int, error) { return c.Write([]byte("x")) },
		} {
			t.Run(row.says+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ours, theirs := net.Pipe()
					c := newConns(nil, 1).admit(theirs)
					row.do(t, c)
					if row.ends == 0 {
						time.AfterFunc(time.Hour, func() { _ = ours.Close() })
					}
					began := time.Now()
					_, err := transfer(c)
					switch took := time.Since(began).Truncate(time.Second); {
					case row.ends == 0 && took != time.Hour:
						t.Errorf("it ended after %s with %v", took, err)
					case row.ends != 0 && (took != row.ends.Truncate(time.Second) || !errors.Is(err, os.ErrDeadlineExceeded)):
						t.Errorf("it ended after %s with %v, want %s", took, err, row.ends)
					}
					_, _ = ours.Close(), c.Close()
				})
			})
		}
	}
}

func TestAWriteGoesOnBehindADeadlineThatIsNoLongerWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := newConns(nil, 1).admit(theirs)
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = c.Write(nil) // the system has it now
		_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
		go func() {
			for range 10 { // a byte a second, past the first deadline
				time.Sleep(time.Second)
				_, _ = io.ReadFull(ours, make([]byte, 1))
			}
		}()
		if n, err := c.Write([]byte("0123456789")); n != 10 || err != nil {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
		_, _ = ours.Close(), c.Close()
	})
}

// TestARequestGivesTheSystemTwoDeadlines is why deadline is there: one that ends the wait for a client that goes away, and one
// for the next request.
func TestARequestGivesTheSystemTwoDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		system := &counted{Conn: theirs}
		c := newConns(nil, 1).admit(system)
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				_, _ = ours.Write([]byte("x"))
			}
		}()
		for range 3 { // as net/http does
			_ = c.SetReadDeadline(time.Now().Add(idleTimeout))
			_, _ = c.Read(make([]byte, 1))
			_ = c.SetReadDeadline(time.Now().Add(headerTimeout))
			_ = c.SetReadDeadline(time.Time{})
			_ = c.SetReadDeadline(time.Now().Add(bodyTimeout))
			_ = c.SetReadDeadline(time.Time{})
			time.AfterFunc(time.Millisecond, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("the wait was not ended: %v", err)
			}
			_ = c.SetReadDeadline(time.Time{})
		}
		if system.given != 6 {
			t.Errorf("the system was given %d deadlines in 3 requests, want 2 each", system.given)
		}
		_, _ = ours.Close(), c.Close()
	})
}
