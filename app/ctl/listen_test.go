package ctl

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// leaveDeadSocket leaves a socket file on which nothing answers, as a killed app does.
func leaveDeadSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestASocketOnWhichNothingAnswersIsReplaced(t *testing.T) {
	dir := privateDir(t)
	leaveDeadSocket(t, filepath.Join(dir, socketName))
	start(t, dir, routerFunc(echo), nil)
	if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
		t.Error(err)
	}
}

func TestALiveSocketIsNotStolen(t *testing.T) {
	dir := privateDir(t)
	first, _ := start(t, dir, routerFunc(echo), nil)
	if second, err := Listen(dir, newToken(), quiet()); err == nil {
		second.Close()
		t.Fatal("a second start succeeds")
	} else if !errors.Is(err, ErrRunning) {
		t.Errorf("a second start ends with %v, want ErrRunning", err)
	}
	if token, err := readPrivate(filepath.Join(dir, tokenName)); err != nil || token != first.token {
		t.Errorf("the second start touched the token: %v", err)
	}
	if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
		t.Errorf("the first no longer answers: %v", err)
	}
}

func TestWhatIsNoSocketStays(t *testing.T) {
	dir := privateDir(t)
	path := filepath.Join(dir, socketName)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(dir, newToken(), quiet()); err == nil {
		l.Close()
		t.Error("a file in the way was replaced")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestTheSocketIsPrivate(t *testing.T) {
	dir := privateDir(t)
	l, _ := start(t, dir, routerFunc(echo), nil)
	info, err := os.Lstat(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket's mode is %v", info.Mode())
	}
}

func TestADirectoryOpenToOthersIsRefusedByBothEnds(t *testing.T) {
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o710: true, 0o705: true, 0o755: true} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := privateDir(t)
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			l, err := Listen(dir, newToken(), quiet())
			if (err != nil) != refused {
				t.Errorf("listen: %v", err)
			}
			if l != nil {
				l.Close()
			}
			want := refusal.NotRunning
			if refused {
				want = refusal.NotPermitted
			}
			_, err = NewClient(dir).Call(t.Context(), "greet", nil)
			wantCode(t, err, want)
		})
	}
}

func TestATokenThatOthersCouldReadIsNotSent(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"open to the group": func(path string) error { return os.Chmod(path, 0o640) },
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := privateDir(t)
			start(t, dir, routerFunc(echo), nil)
			if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := spoil(filepath.Join(dir, tokenName)); err != nil {
				t.Fatal(err)
			}
			if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err == nil {
				t.Error("the token was used")
			}
		})
	}
}

func TestCloseLeavesASuccessorsFilesAlone(t *testing.T) {
	dir := privateDir(t)
	first, err := Listen(dir, newToken(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first.path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(dir, newToken(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("close the first: %v", err)
	}
	if !exists(dir, socketName) || !exists(dir, tokenName) {
		t.Error("the first removed what is the second's")
	}
	if err := second.Close(); err != nil {
		t.Errorf("close the second: %v", err)
	}
	if exists(dir, socketName) || exists(dir, tokenName) {
		t.Error("the second left its files")
	}
}

// longDir returns a private data directory whose socket path no kernel takes.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(privateDir(t), strings.Repeat("long-", 20))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestALongDataDirectoryGetsAShortSocket(t *testing.T) {
	run := privateDir(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir := longDir(t)
	l, stop := start(t, dir, routerFunc(echo), nil)
	if !strings.HasPrefix(l.path, filepath.Join(run, "termic")+"/") {
		t.Errorf("the socket is %s", l.path)
	}
	t.Setenv("XDG_RUNTIME_DIR", "") // a client elsewhere finds it all the same
	if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if exists(dir, pathName) || exists(dir, tokenName) || exists(filepath.Dir(l.path), filepath.Base(l.path)) {
		t.Error("a file is left after the stop")
	}
}

func TestAShortPlaceThatIsNotOursAloneIsNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(place string) error{
		"open to others": func(place string) error { return errors.Join(os.Mkdir(place, 0o700), os.Chmod(place, 0o777)) },
		"a link":         func(place string) error { return os.Symlink(filepath.Dir(place), place) },
		"a file":         func(place string) error { return os.WriteFile(place, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			run := privateDir(t)
			t.Setenv("XDG_RUNTIME_DIR", run)
			place := filepath.Join(run, "termic")
			if err := spoil(place); err != nil {
				t.Fatal(err)
			}
			path, outside, err := socketPath(longDir(t))
			t.Cleanup(func() { os.Remove(filepath.Dir(path)) }) // where it is empty
			if err != nil || !outside || strings.HasPrefix(path, run) {
				t.Errorf("the socket would be %s (%v); want the next place", path, err)
			}
		})
	}
}

func TestARecordedPathInAnOpenDirectoryIsNotDialled(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", privateDir(t))
	dir := longDir(t)
	l, _ := start(t, dir, routerFunc(echo), nil)
	if _, err := NewClient(dir).Call(t.Context(), "greet", nil); err != nil {
		t.Fatalf("before: %v", err)
	}
	if err := os.Chmod(filepath.Dir(l.path), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := NewClient(dir).Call(t.Context(), "greet", nil)
	wantCode(t, err, refusal.NotPermitted)
}

func TestMoreConnectionsThanAllowedAreClosed(t *testing.T) {
	l, _ := start(t, privateDir(t), routerFunc(echo), nil)
	l.open.Store(maxConns)
	request := "POST /call/greet HTTP/1.1\r\nHost: termic\r\nConnection: close\r\nAuthorization: Bearer " + l.token + "\r\nContent-Length: 0\r\n\r\n"
	if got := raw(t, l, request); got != "" {
		t.Errorf("one too many is answered: %s", got)
	}
	l.open.Store(maxConns - 1)
	if got := raw(t, l, request); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("the last one is not answered: %q", got)
	}
}
