package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestASecretIsWrittenForItsOwnerOnlyAndReadBack(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	s := openTemp(t)
	for _, name := range []string{"cli-token", "mcp-port", "clients/editor.token"} {
		for _, value := range []string{"tk_" + strings.Repeat("a", 40), "41234"} {
			if err := s.WriteSecret(name, value); err != nil {
				t.Fatal(err)
			}
			if got, err := s.ReadSecret(name); err != nil || got != value {
				t.Errorf("ReadSecret(%s) = %q, %v", name, got, err)
			}
			if fi, err := os.Lstat(filepath.Join(s.Dir(), name)); err != nil || fi.Mode() != 0o600 {
				t.Errorf("%s: mode %v, %v", name, fi.Mode(), err)
			}
		}
		if err := errors.Join(s.RemoveSecret(name), s.RemoveSecret(name)); err != nil {
			t.Error(err)
		}
		if _, err := s.ReadSecret(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after RemoveSecret: %v", err)
		}
	}
}

func TestASecretReplacesALinkAndDoesNotFollowIt(t *testing.T) {
	s := openTemp(t)
	victim := put(t, s, "victim.json", "mine")
	p := s.CLIToken()
	if err := os.Symlink("victim.json", p); err != nil {
		t.Fatal(err)
	}
	if got, err := s.ReadSecret("cli-token"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("ReadSecret followed a link: %q, %v", got, err)
	}
	if err := s.WriteSecret("cli-token", "secret"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, victim); got != "mine" {
		t.Errorf("the link's target holds %q", got)
	}
	if fi, err := os.Lstat(p); err != nil || !fi.Mode().IsRegular() {
		t.Errorf("secret is %v, %v", fi.Mode(), err)
	}
}

func TestASecretThatOthersCanReadIsNotBelieved(t *testing.T) {
	s := openTemp(t)
	if err := s.WriteSecret("cli-token", "secret"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(s.CLIToken(), mode); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ReadSecret("cli-token"); !errors.Is(err, ErrUnsafe) {
			t.Errorf("mode %v: ReadSecret = %q, %v; want ErrUnsafe", mode, got, err)
		}
	}
	if err := os.Chmod(s.CLIToken(), 0o400); err != nil {
		t.Fatal(err)
	}
	if got, err := s.ReadSecret("cli-token"); err != nil || got != "secret" {
		t.Errorf("mode 0400: ReadSecret = %q, %v", got, err)
	}
}

func TestASecretIsReadWithinBoundsAndWithoutBlocking(t *testing.T) {
	s := openTemp(t)
	put(t, s, "cli-token", strings.Repeat("x", maxSecret+1))
	if _, err := s.ReadSecret("cli-token"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a huge secret: %v", err)
	}
	if err := syscall.Mkfifo(s.MCPToken(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadSecret("mcp-token"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a FIFO: %v", err)
	}
}

func TestBadSecretsAreRefusedWithoutQuotingThem(t *testing.T) {
	s := openTemp(t)
	for _, value := range []string{"", "SECRET\n", "SECRET x", "SECRET\x00", "SECRETé", strings.Repeat("SECRET", 1000)} {
		if err := s.WriteSecret("cli-token", value); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("WriteSecret(%.20q): %v", value, err)
		}
	}
	for _, name := range []string{"", "token/..", "../cli-token", "/cli-token", "a//token", ".token", "settings.json", "cli-token/x"} {
		_, readErr := s.ReadSecret(name)
		for what, err := range map[string]error{"Write": s.WriteSecret(name, "x"), "Read": readErr, "Remove": s.RemoveSecret(name)} {
			if !errors.Is(err, ErrName) {
				t.Errorf("%sSecret(%q): %v, want ErrName", what, name, err)
			}
		}
	}
	if n := names(t, s.Dir()); len(n) != 0 {
		t.Errorf("directory holds %q", n)
	}
}
