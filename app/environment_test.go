package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"termic/app/settings"
	"termic/app/shellenv"
	"termic/app/store"
	"termic/registry/refusal"
)

// TestWhatTabsStartFrom: the setting and the way the app was started decide whose environment tabs get, and a shell that does not
// answer leaves the one that was had and a refusal that says so.
func TestWhatTabsStartFrom(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		setting string
		login   bool
		rc      string
		shell   string // whose environment it is
		problem error
	}{
		"the app's own with serve":                  {"auto", false, "export MINE=1", "", nil},
		"the login shell's in the window":           {"auto", true, "export MINE=1", bash, nil},
		"the login shell's with serve, if asked":    {"login", false, "export MINE=1", bash, nil},
		"the app's own in the window, if asked":     {"own", true, "export MINE=1", "", nil},
		"the app's own when the shell says nothing": {"auto", true, "exit 1", "", shellenv.ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			profile := filepath.Join(home, ".bash_profile")
			if err := os.WriteFile(profile, []byte(row.rc), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			set, err := settings.Open(s)
			if err == nil {
				err = set.Set(settings.Environment, row.setting)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Environ: []string{"HOME=" + home, "SHELL=" + bash, "PATH=" + os.Getenv("PATH"), "APPIMAGE=/x", "VSCODE_PID=1"}, LoginShell: row.login}
			e := openEnvironment(t.Context(), set, o, discardLog())
			shell, problem := e.State()
			if shell != row.shell || !errors.Is(problem, row.problem) {
				t.Errorf("from %q, problem %v; want %q, %v", shell, problem, row.shell, row.problem)
			}
			environ := e.Environ()
			if got := slices.Contains(environ, "MINE=1"); got != (row.shell != "") {
				t.Errorf("MINE is set: %v", got)
			}
			if !slices.Contains(environ, "HOME="+home) || slices.Contains(environ, "APPIMAGE=/x") || slices.Contains(environ, "VSCODE_PID=1") {
				t.Errorf("%q", environ)
			}
			// Asked again, a shell that has broken since is refused.
			if err := os.WriteFile(profile, []byte("exit 1"), 0o600); err != nil {
				t.Fatal(err)
			}
			err = e.Apply(t.Context())
			no, refused := refusal.From(err)
			if wants := row.shell != "" || row.problem != nil; refused != wants || refused && no.Code != refusal.Unavailable {
				t.Errorf("asked again: %v", err)
			}
		})
	}
}

// TestTheDirectoryIsHeldBeforeTheLoginShellIsAsked: the window comes up meanwhile, so that a slow shell does not hold it up. The shell
// here goes on when the directory is held, and says so when that is not before it.
func TestTheDirectoryIsHeldBeforeTheLoginShellIsAsked(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "data")
	profile := `for i in $(seq 60); do [ -e "$HOME/held" ] && export ORDER=held-first && break; sleep 0.1; done; echo "${ORDER-asked-first}" >"$HOME/order"`
	if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := Run(ctx, Options{
		DataDir: dir, Environ: []string{"HOME=" + home, "SHELL=/bin/bash", "PATH=" + os.Getenv("PATH")}, LoginShell: true,
		CLI: "/nonexistent/termic", Stage: testStage, Version: "test", Log: discardLog(),
		Held: func() {
			if err := os.WriteFile(filepath.Join(home, "held"), nil, 0o600); err != nil {
				t.Error(err)
			}
		},
		Ready: func(string, string) { cancel() },
	})
	if err != nil {
		t.Fatal(err)
	}
	if order, err := os.ReadFile(filepath.Join(home, "order")); err != nil || string(order) != "held-first\n" {
		t.Errorf("%q, %v", order, err)
	}
}
