package maccage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/seatbelt"
)

// done is what a try says that was not refused; a refusal is the name of its error.
const done = "done"

// refusedBy is the error with which a policy refuses.
const refusedBy = "EPERM"

// try does one thing that seatbelt.Ground has tried, and undoes it.
func try(words []string) string {
	err := attempt(words[0], words[1:])
	var errno syscall.Errno
	switch {
	case err == nil:
		return done
	case errors.As(err, &errno) && unix.ErrnoName(errno) != "":
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

func attempt(what string, on []string) error {
	operands := 1
	switch what {
	case seatbelt.TryStart:
		operands = 0
	case seatbelt.TryMove, seatbelt.TryFollow, seatbelt.TryLink:
		operands = 2
	}
	if len(on) != operands {
		return fmt.Errorf("%s of %d operands", what, len(on))
	}
	switch what {
	case seatbelt.TryStart:
		return nil
	case seatbelt.TryRead:
		_, err := os.ReadFile(on[0])
		return err
	case seatbelt.TryList:
		_, err := os.ReadDir(on[0])
		return err
	case seatbelt.TryAppend:
		return closed(os.OpenFile(on[0], os.O_WRONLY|os.O_APPEND, 0))
	case seatbelt.TryCreate:
		if err := closed(os.OpenFile(on[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)); err != nil {
			return err
		}
		return os.Remove(on[0])
	case seatbelt.TryMove:
		if err := os.Rename(on[0], on[1]); err != nil {
			return err
		}
		return os.Rename(on[1], on[0])
	case seatbelt.TryFollow:
		if err := os.Symlink(on[0], on[1]); err != nil {
			return err
		}
		_, err := os.ReadFile(on[1])
		return errors.Join(err, os.Remove(on[1]))
	case seatbelt.TryLink:
		if err := os.Link(on[0], on[1]); err != nil {
			return err
		}
		return os.Remove(on[1])
	case seatbelt.TryConnect:
		return reach("tcp4", "127.0.0.1:"+on[0])
	case seatbelt.TrySend:
		return reach("udp4", "127.0.0.1:"+on[0])
	case seatbelt.TrySocket:
		return reach("unix", on[0])
	case seatbelt.TrySignal:
		pid, err := strconv.Atoi(on[0])
		if err != nil || pid <= 1 {
			return fmt.Errorf("process %q", on[0])
		}
		return unix.Kill(pid, unix.SIGCONT)
	}
	return fmt.Errorf("%q is nothing to try", what)
}

func closed(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

// reach connects, and sends a byte: a datagram's socket connects to anything.
func reach(network, address string) error {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(context.Background(), network, address)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte{'.'})
	return errors.Join(err, conn.Close())
}
