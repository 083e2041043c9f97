package ctl

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID returns the uid that the other end had when it called connect or listen (SO_PEERCRED, unix(7)).
func peerUID(conn *net.UnixConn) (uint32, error) {
	var uid uint32
	err := onSocket(conn, func(fd int) error {
		credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid = credentials.Uid
		}
		return err
	})
	return uid, err
}
