package ctl

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID returns the effective uid that the other end had when it called connect or listen (LOCAL_PEERCRED,
// unix(4)).
func peerUID(conn *net.UnixConn) (uint32, error) {
	var uid uint32
	err := onSocket(conn, func(fd int) error {
		credentials, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			uid = credentials.Uid
		}
		return err
	})
	return uid, err
}
