package stage

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// errAppGone is the end of the control socket: the app ended, and the cage ends.
var errAppGone = errors.New("the app is gone")

// send writes one event, with files.
func send(event Event, files ...int) error {
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for {
		if err = unix.Sendmsg(ControlFD, data, rights, nil, unix.MSG_NOSIGNAL); err != unix.EINTR {
			return err
		}
	}
}

// tell reports a failure. When that fails too, the app learns it from the end of the socket.
func tell(event Event) { _ = send(event) }

// maxFiles is how many files a request carries: the pipes of one process.
const maxFiles = 3

// buffer is what receive reads into: one thread receives.
var buffer [MaxMessage + 1]byte

// receive reads one request. Its error is errAppGone or that of a request that is none.
func receive() (Request, []int, error) {
	data := buffer[:]
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, oobn, flags int
	for {
		var err error
		n, oobn, flags, _, err = unix.Recvmsg(ControlFD, data, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return Request{}, nil, errAppGone
		}
		break
	}
	files, err := received(oob[:oobn])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("longer than a request may be")
	}
	var request Request
	if err == nil {
		err = json.Unmarshal(data[:n], &request)
	}
	if err != nil {
		closeAll(files)
		return Request{}, nil, step(StepPlan, fmt.Errorf("request: %w", err))
	}
	return request, files, nil
}

// received returns the files of a message's ancillary data.
func received(oob []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []int
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, fds...)
	}
	return files, nil
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd) // nothing was written to it
	}
}
