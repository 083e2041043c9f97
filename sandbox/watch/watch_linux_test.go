package watch_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/seccomp"
	"termic/sandbox/watch"
)

const victimVar = "TERMIC_TEST_WATCHED"

func TestMain(m *testing.M) {
	if how := os.Getenv(victimVar); how != "" {
		victim(how)
	}
	os.Exit(m.Run())
}

// victim hands its listener over, waits for a byte, and becomes the shell line of its argument.
func victim(how string) {
	runtime.LockOSThread()
	fail := func(err error) {
		if err != nil {
			fmt.Println("victim:", err)
			os.Exit(99)
		}
	}
	fail(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if how == "caged" {
		arch, err := seccomp.ArchOf(runtime.GOARCH)
		fail(err)
		prog, err := seccomp.Assemble([]seccomp.Rule{{Call: "connect", Do: seccomp.Refuse(seccomp.EPERM), Why: "the test's"}}, arch)
		fail(err)
		fail(seccomp.Install(prog))
	}
	if how != "free" {
		listener, err := watch.Install("connect", "open", "exec")
		fail(err)
		fail(unix.Sendmsg(3, []byte("l"), unix.UnixRights(listener), nil, 0))
		fail(unix.Close(listener))
		var ack [1]byte
		_, err = unix.Read(3, ack[:])
		fail(err)
	}
	fail(syscall.Exec("/bin/bash", []string{"bash", "-c", os.Args[1]}, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}))
}

// run runs a shell line in a victim and returns its output, and what was told of it.
func run(t *testing.T, how, line string) (string, []watch.Notice) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "control")
	var out strings.Builder
	cmd := exec.Command(os.Args[0], line)
	cmd.Env = append(os.Environ(), victimVar+"="+how)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &out, []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	var told []watch.Notice
	served := make(chan error, 1)
	if how != "free" {
		oob := make([]byte, unix.CmsgSpace(4))
		_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
		if err != nil || n == 0 {
			_ = cmd.Wait()
			t.Fatalf("no listener: %v; it said %q", err, out.String())
		}
		messages, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil {
			t.Fatal(err)
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			served <- watch.Serve(os.NewFile(uintptr(fds[0]), "listener"), func(n watch.Notice) { told = append(told, n) })
		}()
		if _, err := unix.Write(pair[0], []byte("g")); err != nil {
			t.Fatal(err)
		}
	} else {
		served <- nil
	}
	_ = cmd.Wait() // how it ended is in what it said
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	return out.String(), told
}

// TestWatching: everything is told of, and all goes as it does unwatched.
func TestWatching(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello\n"))
			_ = conn.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	line := `cd ` + dir + ` && echo x > made && cat made && mkdir -p sub && (cd sub && cat ../made) && cat < /dev/tcp/127.0.0.1/` + strconv.Itoa(port) + `; (exec 3<>/dev/tcp/127.0.0.1/1); echo end`
	watched, told := run(t, "watched", line)
	free, _ := run(t, "free", line)
	if watched != free || !strings.Contains(watched, "x\nx\nhello\n") || !strings.Contains(watched, "refused") {
		t.Errorf("watched:\n%s\nfree:\n%s", watched, free)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []watch.Notice{
		{Call: "open", Path: filepath.Join(dir, "made"), Write: true},
		{Call: "open", Path: filepath.Join(dir, "made")},
		{Call: "exec", Path: cat},
		{Call: "connect", Addr: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))},
		{Call: "connect", Addr: netip.MustParseAddrPort("127.0.0.1:1")},
	} {
		if !slices.ContainsFunc(told, func(n watch.Notice) bool { n.PID = 0; return n == want }) {
			t.Errorf("it was not told of %+v in %d calls", want, len(told))
		}
	}
}

// TestWatchingOpensNothing: what another filter refuses stays refused, and is not even told of.
func TestWatchingOpensNothing(t *testing.T) {
	out, told := run(t, "caged", `(exec 3<>/dev/tcp/127.0.0.1/1); echo end`)
	if !strings.Contains(out, "Operation not permitted") || !strings.Contains(out, "end") {
		t.Errorf("it said %q", out)
	}
	if slices.ContainsFunc(told, func(n watch.Notice) bool { return n.Call == "connect" }) {
		t.Error("a refused call was told of")
	}
	if out, _ := run(t, "watched", `(exec 3<>/dev/tcp/127.0.0.1/1); echo end`); !strings.Contains(out, "refused") {
		t.Errorf("twin: it said %q", out)
	}
}

func TestOnlyKnownCallsAreWatched(t *testing.T) {
	if fd, err := watch.Install("reboot"); err == nil {
		_ = unix.Close(fd)
		t.Error("a call that is no kind of a Notice is watched")
	}
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seccomp.Watch([]seccomp.Rule{{Call: "connect", Do: seccomp.Refuse(seccomp.EPERM)}}, arch); err == nil {
		t.Error("a filter that watches decides")
	}
}
