package stage

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// connectTime is how long a server of the cage may take to accept. Loopback answers at once; only one whose queue is full
// does not.
const connectTime = 2 * time.Second

// maxConnects bounds the connections that are being made, each of which holds a thread meanwhile.
const maxConnects = 16

// connect connects to a server of the cage's own network and hands the socket to the app. It is done beside the rest: a
// server that lets it wait keeps nobody else waiting.
//
// There is no way to name another address: the network is the cage's own, so what is behind the socket is the cage's. In a
// cage without a network of its own it would be the host's, and is refused.
func (c *cage) connect(to Connect) error {
	if !c.ownNetwork {
		return send(Event{Connected: &Connected{ID: to.ID, Error: "the cage has no network of its own", Errno: unix.EOPNOTSUPP}})
	}
	select {
	case c.connects <- struct{}{}:
	default:
		return send(Event{Connected: &Connected{ID: to.ID, Error: "too many connections wait to be accepted", Errno: unix.EBUSY}})
	}
	go func() {
		defer func() { <-c.connects }()
		s, err := dial(to.Port)
		if err != nil {
			answer := &Connected{ID: to.ID, Error: err.Error()}
			if errno, ok := err.(unix.Errno); ok {
				answer.Errno = errno
			}
			tell(Event{Connected: answer})
			return
		}
		_ = send(Event{Connected: &Connected{ID: to.ID}}, s) // when the app is gone, so is the cage
		_ = unix.Close(s)
	}()
	return nil
}

// dial connects to a port of 127.0.0.1 or, where nothing listens there, of ::1.
func dial(port uint16) (int, error) {
	s, err := dialAt(unix.AF_INET, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})
	if err != unix.ECONNREFUSED {
		return s, err
	}
	if s, err := dialAt(unix.AF_INET6, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}}); err == nil {
		return s, nil
	}
	return -1, unix.ECONNREFUSED
}

func dialAt(family int, address unix.Sockaddr) (int, error) {
	s, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Connect(s, address); err == unix.EINPROGRESS {
		err = connected(s)
	}
	if err != nil {
		_ = unix.Close(s)
		return -1, err
	}
	return s, nil
}

// connected waits for the end of a connect, and returns how it ended.
func connected(s int) error {
	end := time.Now().Add(connectTime)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLOUT}}, int(max(0, time.Until(end).Milliseconds())))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		}
		errno, err := unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return fmt.Errorf("ask how the connection is: %w", err)
		}
		if errno != 0 {
			return unix.Errno(errno)
		}
		return nil
	}
}
