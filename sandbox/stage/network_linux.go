package stage

import (
	"fmt"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
)

// setUpNetwork brings the loopback up and opens the plan's listening sockets. A socket belongs to the network
// namespace in which it was made, whoever holds it: the app serves them outside, and the cage finds them at
// 127.0.0.1.
func setUpNetwork(plan linuxcage.Plan) ([]int, error) {
	if !plan.Attest.Network {
		return nil, nil
	}
	if err := loopbackUp(); err != nil {
		return nil, fmt.Errorf("bring loopback up: %w", err)
	}
	var listeners []int
	for _, port := range plan.Ports {
		fd, err := listen(port)
		if err != nil {
			closeAll(listeners)
			return nil, fmt.Errorf("listen on port %d: %w", port, err)
		}
		listeners = append(listeners, fd)
	}
	return listeners, nil
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
}

// backlog is how many connections wait to be accepted; the app accepts at once.
const backlog = 128

func listen(port uint16) (int, error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(s, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(s, backlog)
	}
	if err != nil {
		_ = unix.Close(s)
		return -1, err
	}
	return s, nil
}
