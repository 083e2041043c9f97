package watch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Become is the program that puts itself under watch and then becomes another one: `NAME ADDRESS LABEL PROGRAM [ARGUMENT]…`
// without its name. It hands its listener to the abstract socket of that address, which belongs to a process of the same
// user, and goes on when that has taken it. It returns only an error: nothing is ever started unwatched.
func Become(args []string) error {
	if len(args) < 3 {
		return errors.New("watch a program: no program was named")
	}
	address, label, argv := args[0], args[1], args[2:]
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("watch a program: %w", err)
	}
	runtime.LockOSThread() // the filter is this thread's, which becomes the program
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("watch a program: %w", err)
	}
	if err := unix.Connect(s, &unix.SockaddrUnix{Name: "@" + address}); err != nil {
		return fmt.Errorf("watch a program: termic does not answer: %w", err)
	}
	if err := sameUser(s); err != nil {
		return fmt.Errorf("watch a program: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("watch a program: %w", err)
	}
	env := os.Environ()
	listener, err := Install(All()...)
	if err != nil {
		return fmt.Errorf("watch a program: %w", err)
	}
	// From here on no call that is watched, until somebody serves the listener.
	if err := unix.Sendmsg(s, []byte(label), unix.UnixRights(listener), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("watch a program: hand over: %w", err)
	}
	_ = unix.Close(listener)
	var ack [1]byte
	if n, err := unix.Read(s, ack[:]); err != nil || n != 1 {
		return fmt.Errorf("watch a program: termic did not take it (%v)", err)
	}
	return fmt.Errorf("watch a program: start %q: %w", program, syscall.Exec(program, argv, env))
}

// sameUser returns an error unless the other end of a socket is a process of this user.
func sameUser(s int) error {
	peer, err := unix.GetsockoptUcred(s, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(peer.Uid) != os.Getuid() {
		name := strconv.Itoa(int(peer.Uid))
		if known, err := user.LookupId(name); err == nil {
			name = known.Username
		}
		return fmt.Errorf("the other end belongs to %s", name)
	}
	return nil
}

// maxLabel bounds what a watched program is called by who starts it, in bytes.
const maxLabel = 1 << 10

// Accept takes watched programs until the listener is closed: took is called with each one's label, and returns who is told
// of its calls, or nil to refuse it. Processes of other users are refused.
func Accept(address string, took func(label string) func(Notice)) (stop func(), err error) {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("listen for watched programs: %w", err)
	}
	if err = unix.Bind(s, &unix.SockaddrUnix{Name: "@" + address}); err == nil {
		err = unix.Listen(s, 64)
	}
	if err != nil {
		_ = unix.Close(s)
		return nil, fmt.Errorf("listen for watched programs: %w", err)
	}
	go func() {
		for {
			conn, _, err := unix.Accept4(s, unix.SOCK_CLOEXEC)
			if err == unix.EINTR || err == unix.ECONNABORTED {
				continue
			}
			if err != nil {
				return
			}
			go receive(conn, took)
		}
	}()
	return func() {
		_ = unix.Shutdown(s, unix.SHUT_RDWR) // which ends the wait in accept
		_ = unix.Close(s)
	}, nil
}

// receive takes one program, and serves it until its last process has ended.
func receive(conn int, took func(label string) func(Notice)) {
	defer unix.Close(conn)
	if sameUser(conn) != nil || unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}) != nil {
		return
	}
	label, oob := make([]byte, maxLabel), make([]byte, unix.CmsgSpace(4))
	n, oobn, flags, _, err := unix.Recvmsg(conn, label, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || oobn == 0 {
		return
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 {
		return
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return
	}
	listener := os.NewFile(uintptr(fds[0]), "listener")
	tell := took(string(label[:n]))
	if tell == nil || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || !isListener(fds[0]) {
		_ = listener.Close() // its calls fail, and so does the program
		return
	}
	if _, err := unix.Write(conn, []byte("g")); err != nil {
		_ = listener.Close()
		return
	}
	_ = Serve(listener, tell)
}

// isListener reports whether a file is what Install returns.
func isListener(fd int) bool {
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return err == nil && name == "anon_inode:seccomp notify"
}
