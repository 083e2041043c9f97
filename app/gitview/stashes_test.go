//go:build unix

package gitview

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func stashLine(c, message string) string {
	return strings.Repeat("0", 40) + " " + strings.Repeat(c, 40) + " a b <a@example.org> 1700000000 +0000\t" + message + "\n"
}

func TestStashesAreReadAsData(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "logs", "refs", "stash")
	if got, err := Stashes(dir); len(got) > 0 || err != nil {
		t.Errorf("without any: %v, %v", got, err)
	}
	if got, err := Stashes(filepath.Join(dir, "nowhere")); len(got) > 0 || err != nil {
		t.Errorf("without a directory: %v, %v", got, err)
	}
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(stashLine("c", "secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, plant := range map[string]func() error{
		"a link":   func() error { return os.Symlink(secret, log) },
		"a FIFO":   func() error { return syscall.Mkfifo(log, 0o600) },
		"too long": func() error { return os.WriteFile(log, make([]byte, maxStashLog+1), 0o600) },
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if got, err := Stashes(dir); len(got) > 0 || err == nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
	text := stashLine("a", "WIP on main: 1") + "no line of git's\n" + stashLine("b", "On main: two")
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil { // the twin
		t.Fatal(err)
	}
	got, err := Stashes(dir)
	if err != nil || len(got) != 2 || got[0].Message != "On main: two" || got[1].Message != "WIP on main: 1" || got[0].OID[0] != 'b' {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParseStashes(f *testing.F) {
	f.Add(stashLine("a", "one") + stashLine("b", "two"))
	f.Add("\n\t\n x y z\t")
	f.Fuzz(func(t *testing.T, log string) {
		got := parseStashes(log)
		if len(got) > min(maxStashes, strings.Count(log, "\n")+1) {
			t.Fatal("more stashes than lines")
		}
		for _, one := range got {
			if !one.OID.Valid() || len(one.Message) > maxMessage || strings.ContainsRune(one.Message, '\n') {
				t.Fatalf("%+v", one)
			}
		}
	})
}
