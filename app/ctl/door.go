package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// Door is a socket in a data directory that speaks another protocol than this package's. Its connections come from
// processes of our own user only.
type Door struct {
	unix    *net.UnixListener
	info    fs.FileInfo
	path    string
	refused func(cause error)
	close   sync.Once
}

// ListenDoor binds the socket name in a data directory, which must be ours and 0700. A socket on which nothing answers
// is replaced; the lock that the app holds on the directory keeps two from doing so at once. refused is called for each
// connection that was closed because its other end is another user's, or because the kernel does not say.
func ListenDoor(dir, name string, refused func(cause error)) (*Door, error) {
	if err := checkPrivate(dir, os.Stat); err != nil {
		return nil, fmt.Errorf("listen in the data directory: %w", err)
	}
	path := filepath.Join(dir, name)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: a socket's path has at most %d bytes", path, maxSocketPath)
	}
	if err := clearDead(path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	unix, info, err := bindPrivate(path)
	if err != nil {
		return nil, err
	}
	return &Door{unix: unix, info: info, path: path, refused: refused}, nil
}

// Accept returns the next connection whose other end runs as our user. Others are closed without a byte.
func (d *Door) Accept() (net.Conn, error) {
	for {
		conn, err := d.unix.AcceptUnix()
		if err != nil {
			return nil, err
		}
		err = checkPeer(conn)
		if err == nil {
			return conn, nil
		}
		conn.Close()
		d.refused(err)
	}
}

// Addr returns the socket's address.
func (d *Door) Addr() net.Addr { return d.unix.Addr() }

// Close stops listening and removes the socket, unless another has taken its place.
func (d *Door) Close() error {
	var err error
	d.close.Do(func() {
		err = d.unix.Close()
		if info, statErr := os.Lstat(d.path); statErr == nil && os.SameFile(info, d.info) {
			err = errors.Join(err, os.Remove(d.path))
		}
	})
	return err
}

// bindPrivate makes a socket of mode 0600. Until its mode is set the directory alone keeps others out, and the check of
// the peer's uid would.
func bindPrivate(path string) (*net.UnixListener, fs.FileInfo, error) {
	unix, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		return nil, nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	// The path is removed by Close, which first looks whether it is still this socket's.
	unix.SetUnlinkOnClose(false)
	var info fs.FileInfo
	if err = os.Chmod(path, 0o600); err == nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("prepare %s: %w", path, err), unix.Close(), os.Remove(path))
	}
	return unix, info, nil
}
