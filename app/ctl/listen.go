package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// ErrRunning says that something answers on the socket already.
var ErrRunning = errors.New("another termic answers on the socket")

// Listener is the socket of one running app, with the token that its clients must send.
type Listener struct {
	unix  *net.UnixListener
	log   *slog.Logger
	dir   string
	path  string
	info  fs.FileInfo
	token string
	open  atomic.Int64
	close sync.Once
}

// Listen binds the socket of a data directory, which must be ours and 0700, and puts token into it, which
// clients must send: new at each start, and long and random enough that nobody guesses it. It is ErrRunning when something answers there; a socket on which nothing answers is replaced.
//
// Two instances that find the same dead socket at the same moment could each remove the other's new one. The
// lock that the app takes on the data directory before it calls Listen keeps that from happening.
func Listen(dir, token string, log *slog.Logger) (*Listener, error) {
	if token == "" {
		return nil, errors.New("listen in the data directory: no token")
	}
	if err := checkPrivate(dir, os.Stat); err != nil {
		return nil, fmt.Errorf("listen in the data directory: %w", err)
	}
	path, outside, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := clearDead(path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	unix, info, err := bindPrivate(path)
	if err != nil {
		return nil, err
	}
	l := &Listener{unix: unix, info: info, dir: dir, path: path, token: token, log: log}
	if err := l.publish(outside); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// clearDead removes a socket on which nothing answers. Anything else that is in the way stays there.
func clearDead(path string) error {
	err := checkSocket(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: path})
	switch {
	case err == nil:
		conn.Close()
		return ErrRunning
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	// For instance EAGAIN: its queue of connections is full, so it lives.
	return fmt.Errorf("%w, or cannot be asked: %w", ErrRunning, err)
}

// publish writes what clients look for, the token last: it means that the socket is there.
func (l *Listener) publish(outside bool) error {
	record := filepath.Join(l.dir, pathName)
	err := os.Remove(record)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if outside {
		err = writePrivate(record, l.path+"\n")
	}
	if err == nil {
		err = writePrivate(filepath.Join(l.dir, tokenName), l.token)
	}
	if err != nil {
		return fmt.Errorf("publish the socket: %w", err)
	}
	return nil
}

// Accept returns the next connection whose other end runs as our user. Others are closed without a byte, and
// so is what comes while too many are open.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.unix.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err := checkPeer(conn); err != nil {
			l.log.Warn("connection refused", "cause", err)
			conn.Close()
			continue
		}
		if l.open.Add(1) > maxConns {
			l.open.Add(-1)
			l.log.Warn("connection refused", "cause", "too many are open", "limit", maxConns)
			conn.Close()
			continue
		}
		return &counted{UnixConn: conn, done: func() { l.open.Add(-1) }}, nil
	}
}

// Addr returns the socket's address.
func (l *Listener) Addr() net.Addr { return l.unix.Addr() }

// Close stops listening and removes token and socket, unless somebody else's have taken their place.
func (l *Listener) Close() error {
	var err error
	l.close.Do(func() {
		err = l.unix.Close()
		token := filepath.Join(l.dir, tokenName)
		if text, readErr := readPrivate(token); readErr == nil && text == l.token {
			err = errors.Join(err, os.Remove(token))
		}
		record := filepath.Join(l.dir, pathName)
		if text, readErr := readPrivate(record); readErr == nil && text == l.path+"\n" {
			err = errors.Join(err, os.Remove(record))
		}
		if info, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(info, l.info) {
			err = errors.Join(err, os.Remove(l.path))
		}
	})
	return err
}

// counted is a connection that is counted until it is closed.
type counted struct {
	*net.UnixConn
	once sync.Once
	done func()
}

func (c *counted) Close() error {
	c.once.Do(c.done)
	return c.UnixConn.Close()
}
