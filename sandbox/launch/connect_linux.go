package launch

import (
	"context"
	"fmt"
	"net"
	"os"

	"termic/sandbox/profile"
	"termic/sandbox/stage"
)

// Connect connects to a server in the cage that listens on this port of its loopback. The error wraps the system's
// (ECONNREFUSED when nothing listens), or is ErrOwnPort or ErrEnded. What comes out of the connection is the cage's word.
func (c *Cage) Connect(ctx context.Context, port uint16) (net.Conn, error) {
	if port == 0 || port == profile.MCPPort || port == profile.ProxyPort {
		return nil, ErrOwnPort
	}
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return nil, ErrEnded
	}
	c.last++
	id := c.last
	c.waiting[id] = ch
	c.mu.Unlock()
	if err := c.send(stage.Request{Connect: &stage.Connect{ID: id, Port: port}}); err != nil {
		c.forget(id)
		return nil, err
	}
	select {
	case a := <-ch:
		return a.conn, a.err
	case <-ctx.Done():
		go func() {
			if a := <-ch; a.conn != nil {
				_ = a.conn.Close()
			}
		}()
		return nil, fmt.Errorf("connect into cage: %w", ctx.Err())
	}
}

// connected hands over the socket of a Connect.
func (c *Cage) connected(e stage.Connected, files []*os.File) {
	defer closeFiles(files) // FileConn has a copy
	c.mu.Lock()
	ch, ok := c.waiting[e.ID]
	delete(c.waiting, e.ID)
	c.mu.Unlock()
	if !ok {
		return
	}
	if e.Error != "" || len(files) != 1 {
		err := fmt.Errorf("connect into cage: %s", e.Error)
		if e.Errno != 0 {
			err = fmt.Errorf("connect into cage: %w", e.Errno)
		}
		ch <- answer{err: err}
		return
	}
	conn, err := net.FileConn(files[0])
	if err != nil {
		err = fmt.Errorf("connect into cage: %w", err)
	}
	ch <- answer{conn: conn, err: err}
}
