package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// tunnel is a connection whose bytes pass unseen.
type tunnel struct {
	start time.Time
	idle  time.Duration
	life  time.Duration
	last  atomic.Int64 // nanoseconds after start of the last byte either way
	left  atomic.Int64 // bytes that may still pass
}

// errSpent ends a tunnel that has passed all the bytes it may.
var errSpent = errors.New("the tunnel has passed all the bytes it may")

// splice passes bytes between client, of which from reads what is left, and upstream, until both have ended,
// one fails, or a limit is reached. When one end has no more to send, the other is told and may go on. It
// closes both.
func (s *server) splice(client, upstream net.Conn, from io.Reader) {
	t := &tunnel{start: time.Now(), idle: s.limits.Idle, life: s.limits.Life}
	t.left.Store(s.limits.Bytes)
	closeBoth := func() { _, _ = client.Close(), upstream.Close() }
	defer closeBoth()
	defer context.AfterFunc(s.cut, closeBoth)()

	var up sync.WaitGroup
	up.Go(func() {
		if t.pass(upstream, client, from) != nil {
			closeBoth()
		}
	})
	if t.pass(client, upstream, upstream) != nil {
		closeBoth()
	}
	up.Wait()
}

// pass copies what from reads of src to dst. It returns nil when src has no more to send and dst knows.
func (t *tunnel) pass(dst, src net.Conn, from io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		if err := src.SetReadDeadline(t.deadline()); err != nil {
			return err
		}
		n, err := from.Read(buf)
		if n > 0 {
			if t.left.Add(-int64(n)) < 0 {
				return errSpent
			}
			t.touch()
			if err := t.write(dst, buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(t.deadline()): // the other way moved
		case errors.Is(err, io.EOF):
			closeWrite(dst)
			return nil
		default:
			return err
		}
	}
}

func (t *tunnel) write(dst net.Conn, b []byte) error {
	if err := dst.SetWriteDeadline(t.deadline()); err != nil {
		return err
	}
	_, err := dst.Write(b)
	t.touch()
	return err
}

func (t *tunnel) touch() { t.last.Store(int64(time.Since(t.start))) }

// deadline is when the tunnel ends if no byte passes until then.
func (t *tunnel) deadline() time.Time {
	return t.start.Add(min(time.Duration(t.last.Load())+t.idle, t.life))
}

// closeWrite tells the other end that no more comes. A connection that cannot say so is closed.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}
