package ctl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termic/registry/refusal"
)

// otherUID is a user that is not us: "nobody" on Linux. Any number but our own would do.
const otherUID = 65534

func TestJudgePeer(t *testing.T) {
	rows := []struct {
		name   string
		peer   uint32
		err    error
		self   int
		refuse bool
	}{
		{"the same user", 1000, nil, 1000, false},
		{"root with root", 0, nil, 0, false},
		{"another user", 1001, nil, 1000, true},
		{"root with a user", 0, nil, 1000, true},
		{"a user with root", 1000, nil, 0, true},
		{"the kernel does not tell", 1000, errors.New("no such option"), 1000, true},
		{"no uid on this system", 1<<32 - 1, nil, -1, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := judgePeer(row.peer, row.err, row.self); (err != nil) != row.refuse {
				t.Errorf("judgement is %v", err)
			}
		})
	}
}

func TestTheKernelTellsOurOwnUID(t *testing.T) {
	l, _ := start(t, privateDir(t), routerFunc(echo), nil)
	conn, err := net.Dial("unix", l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if uid, err := peerUID(conn.(*net.UnixConn)); err != nil || int(uid) != os.Geteuid() {
		t.Errorf("the peer's uid is %d, %v", uid, err)
	}
}

// TestMain lets the test binary be the other process: as the user in its environment it sends a request and
// prints the answer, or listens and prints what it is sent.
func TestMain(m *testing.M) {
	act := map[string]func() error{"": nil, "ask": childAsk, "listen": childListen}[os.Getenv("CTL_TEST_CHILD")]
	if act == nil {
		os.Exit(m.Run())
	}
	uid, err := strconv.Atoi(os.Getenv("CTL_TEST_UID"))
	if err == nil && uid != os.Getuid() {
		err = syscall.Setreuid(uid, uid)
	}
	if err == nil {
		err = act()
	}
	if err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, act string, uid int, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CTL_TEST_CHILD="+act, "CTL_TEST_UID="+strconv.Itoa(uid), "CTL_TEST_ARGS="+strings.Join(arguments, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

func childArguments() []string { return strings.Split(os.Getenv("CTL_TEST_ARGS"), "\n") }

// childAsk sends a call with the right token, which a thief could have. A connection that is closed on it is
// an empty answer.
func childAsk() error {
	arguments := childArguments()
	conn, err := net.Dial("unix", arguments[0])
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(conn, "POST /call/greet HTTP/1.1\r\nHost: termic\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", arguments[1])
	answer, _ := io.ReadAll(conn)
	fmt.Printf("answer %q\n", answer)
	return nil
}

// childListen takes one connection and prints how many bytes came.
func childListen() error {
	l, err := net.Listen("unix", childArguments()[0])
	if err != nil {
		return err
	}
	fmt.Println("listening")
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(conn)
	fmt.Printf("received %d\n", len(text))
	return err
}

// asAnotherUser runs f only where we are root and can become somebody else. Elsewhere TestJudgePeer is what
// there is, and the name of this one says so.
func asAnotherUser(t *testing.T, f func(t *testing.T)) {
	if os.Geteuid() != 0 {
		t.Run("not root: only the decision was tested", func(t *testing.T) {
			if judgePeer(uint32(os.Geteuid())+1, nil, os.Geteuid()) == nil {
				t.Error("another uid is let in")
			}
		})
		return
	}
	t.Run("as root, against another user", f)
}

func TestTheServerHangsUpOnAnotherUser(t *testing.T) {
	asAnotherUser(t, func(t *testing.T) {
		dir := privateDir(t)
		l, _ := start(t, dir, routerFunc(echo), nil)
		// Take the file modes away: only the check of the peer is left.
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(l.path, 0o777)); err != nil {
			t.Fatal(err)
		}
		for uid, want := range map[int]string{otherUID: `answer ""`, 0: `answer "HTTP/1.1 200 OK`} {
			out, err := child(t, "ask", uid, l.path, l.token).Output()
			if err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("uid %d: %s, %v; want %s", uid, out, err, want)
			}
		}
	})
}

func TestTheClientSendsNothingToAnotherUser(t *testing.T) {
	asAnotherUser(t, func(t *testing.T) {
		for uid, sent := range map[int]bool{otherUID: false, 0: true} {
			t.Run("uid "+strconv.Itoa(uid), func(t *testing.T) {
				dir := privateDir(t)
				path := filepath.Join(dir, socketName)
				if err := errors.Join(os.Chmod(dir, 0o777), writePrivate(filepath.Join(dir, tokenName), newToken())); err != nil {
					t.Fatal(err)
				}
				cmd := child(t, "listen", uid, path)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				if !lines.Scan() || lines.Text() != "listening" {
					t.Fatalf("the child says %q", lines.Text())
				}
				// What a client would see whose directory had been taken over: everything right but the peer.
				if err := errors.Join(os.Chown(path, 0, 0), os.Chmod(dir, 0o700)); err != nil {
					t.Fatal(err)
				}
				// The child that may read never answers; ending its call is enough to see what was sent.
				answered := make(chan error, 1)
				go func() {
					conn, _, err := NewClient(dir).dial(t.Context())
					if err == nil {
						_, err = conn.Write([]byte("token"))
						conn.Close()
					}
					answered <- err
				}()
				if err := <-answered; (err == nil) != sent {
					t.Errorf("dialled: %v", err)
				} else if !sent {
					wantCode(t, explainFailure(t.Context(), err), refusal.NotPermitted)
				}
				lines.Scan()
				if got := lines.Text(); (got == "received 5") != sent || !sent && got != "received 0" {
					t.Errorf("the child says %q", got)
				}
				if err := cmd.Wait(); err != nil {
					t.Errorf("child: %v", err)
				}
			})
		}
	})
}

func TestASocketOfAnotherUserIsNotDialled(t *testing.T) {
	asAnotherUser(t, func(t *testing.T) {
		dir := privateDir(t)
		l, _ := start(t, dir, routerFunc(echo), nil)
		if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
			t.Fatalf("before: %v", err)
		}
		if err := os.Chown(l.path, otherUID, otherUID); err != nil {
			t.Fatal(err)
		}
		_, err := NewClient(dir).Call(t.Context(), "greet", nil)
		if no := wantCode(t, err, refusal.NotPermitted); !strings.Contains(no.Reason, "belongs to another user") {
			t.Errorf("reason is %q", no.Reason)
		}
		if err := os.Chown(l.path, 0, 0); err != nil {
			t.Fatal(err)
		}
	})
}
