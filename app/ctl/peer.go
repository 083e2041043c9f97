package ctl

import (
	"fmt"
	"net"
	"os"
)

// peerError says that the process at the other end runs as another user, or that the kernel does not tell.
type peerError struct{ cause error }

func (e *peerError) Error() string { return "check the socket's other end: " + e.cause.Error() }
func (e *peerError) Unwrap() error { return e.cause }

// checkPeer returns nil only when the kernel says that the other end of conn runs as our own effective user.
// Root is no exception, in neither direction: root has other ways, and may not be lured into this one.
func checkPeer(conn *net.UnixConn) error {
	uid, err := peerUID(conn)
	if err := judgePeer(uid, err, os.Geteuid()); err != nil {
		return &peerError{err}
	}
	return nil
}

// judgePeer is the decision of checkPeer: an answer that could not be had denies.
func judgePeer(peer uint32, err error, self int) error {
	switch {
	case err != nil:
		return fmt.Errorf("ask for the peer's uid: %w", err)
	case int64(peer) != int64(self):
		return fmt.Errorf("the peer's uid is %d, ours is %d", peer, self)
	}
	return nil
}

// onSocket runs ask on the connection's descriptor.
func onSocket(conn *net.UnixConn, ask func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { asked = ask(int(fd)) }); err != nil {
		return err
	}
	return asked
}
