package ctl

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openDoor(t *testing.T, dir string) (*Door, chan error) {
	t.Helper()
	refused := make(chan error, 1)
	d, err := ListenDoor(dir, "other.sock", func(cause error) { refused <- cause })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, refused
}

func TestADoorIsOursAloneAndGoneWhenClosed(t *testing.T) {
	dir := privateDir(t)
	d, _ := openDoor(t, dir)
	path := filepath.Join(dir, "other.sock")
	if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := ListenDoor(dir, "other.sock", nil); !errors.Is(err, ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
	openDoor(t, dir) // the twin of the second one
}

func TestADoorIsNotOpenedWhereOthersCouldReachIt(t *testing.T) {
	dir := privateDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenDoor(dir, "other.sock", nil); err == nil {
		t.Error("opened in a directory that is open to others")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenDoor(dir, strings.Repeat("x", maxSocketPath), nil); err == nil {
		t.Error("opened at a path that is too long for a socket")
	}
	openDoor(t, dir)
}

func TestADoorLetsOurOwnUserIn(t *testing.T) {
	d, _ := openDoor(t, privateDir(t))
	go func() {
		if conn, err := d.Accept(); err == nil {
			_, _ = io.WriteString(conn, "hello")
			_ = conn.Close()
		}
	}()
	conn, err := net.Dial("unix", d.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestADoorHangsUpOnAnotherUserAndSaysSo(t *testing.T) {
	asAnotherUser(t, func(t *testing.T) {
		dir := privateDir(t)
		d, refused := openDoor(t, dir)
		go func() {
			for {
				conn, err := d.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, "hello")
				_ = conn.Close()
			}
		}()
		// Take the file modes away: only the check of the peer is left.
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(d.path, 0o777)); err != nil {
			t.Fatal(err)
		}
		for uid, want := range map[int]string{otherUID: `answer ""`, 0: `answer "hello"`} {
			out, err := child(t, "ask", uid, d.path, "token").Output()
			if err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("uid %d: %s, %v; want %s", uid, out, err, want)
			}
		}
		var peer *peerError
		if err := <-refused; !errors.As(err, &peer) || len(refused) != 0 {
			t.Errorf("refused: %v, and %d more", err, len(refused))
		}
	})
}
