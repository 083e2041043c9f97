package hook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxInput bounds what an agent may hand to its hook: a prompt can be more than a mebibyte, and JSON escapes it.
const maxInput = 8 << 20

// Report is the program `termic hook AGENT`: it reads what the agent says, and writes one claim to the terminal that the agent runs
// on. Nothing that goes wrong is worth a line in somebody's transcript or a turn held up, so it prints nothing and has no error.
func Report(agent string, stdin io.Reader, getenv func(string) string) {
	nonce := getenv(EnvNonce)
	if nonce == "" {
		return
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxInput+1))
	if err != nil || len(data) > maxInput {
		return
	}
	claim, ok := claimOf(agent, bytes.TrimSpace(data))
	if !ok {
		return
	}
	claim.Nanos = time.Now().UnixNano()
	command, err := claim.Encode(nonce)
	if err != nil {
		return
	}
	tty, err := openTerminal(getenv(EnvTTY))
	if err != nil {
		return
	}
	defer tty.Close()
	_ = writeAll(tty, command)
}

// patience is how long a terminal whose reader is behind is waited for.
const patience = 300 * time.Millisecond

// writeAll writes the command, in one piece where the terminal takes it.
func writeAll(tty *os.File, p []byte) error {
	until := time.Now().Add(patience)
	for len(p) > 0 {
		n, err := unix.Write(int(tty.Fd()), p)
		if n > 0 {
			p = p[n:]
		}
		if err == nil {
			continue
		}
		left := time.Until(until)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) || left <= 0 {
			return err
		}
		// One that has begun must be finished: half a command would be the program's bytes.
		poll := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLOUT}}
		_, _ = unix.Poll(poll, int(left.Milliseconds())+1)
	}
	return nil
}

// openTerminal opens the device at path, or with "" that of this process or of the nearest ancestor that has one: the agents' hooks
// have no terminal of their own.
func openTerminal(path string) (*os.File, error) {
	if path == "" {
		var err error
		if path, err = ancestral(); err != nil {
			return nil, err
		}
	}
	// Fd keeps it as it is: os.NewFile would hand a non-blocking descriptor to the poller, which a terminal need not be in.
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if !terminal(fd) {
		_ = unix.Close(fd)
		return nil, unix.ENOTTY
	}
	return os.NewFile(uintptr(fd), path), nil
}
