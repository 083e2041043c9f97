package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"termic/build/rig"
)

// TestKillsAtAnyMomentLoseNothing is the short form of what `make soak` does a thousand times.
func TestKillsAtAnyMomentLoseNothing(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	termic := filepath.Join(t.TempDir(), "termic")
	build := exec.Command("go", "build", "-o", termic, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := rig.NewOf(termic)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	k, err := newKills(r, 7)
	if err == nil {
		err = k.run(8, 7)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Log())
	}
	// The twin: the model notices what is lost, or left over.
	for len(k.now.live) == 0 {
		next := k.create()
		if _, err := r.Do(next.args...); err != nil {
			t.Fatal(err)
		}
		k.now = next.then
		if err := k.check(k.now, k.now); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(k.checkout(k.one(k.now.live)), "a.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	foreign, lock := filepath.Join(r.Data+".checkouts", "shop", "nobodys"), filepath.Join(r.Repo, ".git", "index.lock")
	sleeper := exec.Command("sleep", "1000")
	sleeper.Env = r.Env
	for what, c := range map[string]struct{ do, undo func() error }{
		"a file is gone":               {func() error { return os.Remove(file) }, func() error { return os.WriteFile(file, text, 0o644) }},
		"a file is another":            {func() error { return os.WriteFile(file, []byte("other\n"), 0o644) }, func() error { return os.WriteFile(file, text, 0o644) }},
		"a checkout belongs to nobody": {func() error { return os.Mkdir(foreign, 0o700) }, func() error { return os.Remove(foreign) }},
		"a lock is left":               {func() error { return os.WriteFile(lock, nil, 0o600) }, func() error { return os.Remove(lock) }},
		"the setting is another":       {func() error { k.now.setting += "0"; return nil }, func() error { k.now.setting = k.now.setting[:len(k.now.setting)-1]; return nil }},
		"a process is left":            {sleeper.Start, func() error { _ = sleeper.Process.Kill(); _ = sleeper.Wait(); return nil }},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if what == "a process is left" {
			if left := k.processes(); len(left) != 1 {
				t.Errorf("%s: it sees %q", what, left)
			}
		} else if err := k.check(k.now, k.now); err == nil {
			t.Errorf("%s, and the model sees nothing", what)
		}
		if err := c.undo(); err != nil {
			t.Fatal(err)
		}
		if err := k.check(k.now, k.now); err != nil {
			t.Fatalf("after %s: %v", what, err)
		}
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
}
