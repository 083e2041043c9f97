package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/app/audit"
	"termic/app/git"
	"termic/app/store"
	"termic/registry"
	"termic/registry/refusal"
)

// TestALostListOfProjectsCostsNoTask: whatever becomes of projects.json, tasks and their work stay, and are the project's again
// once its repository is added again.
func TestALostListOfProjectsCostsNoTask(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed":  os.Remove,
		"cut":      func(path string) error { return os.Truncate(path, 20) },
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			made := r.task("fix", "shell", "")
			put := filepath.Join(made["path"].(string), "new")
			if err := os.WriteFile(put, []byte("work\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.task("old", "shell", "")
			r.wait("old")
			r.must("task_archive", `{"task":"old","force":true}`)
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(r.dir, "projects.json")); err != nil {
				t.Fatal(err)
			}
			r.start()
			if n := len(r.must("task_list", `{}`)["tasks"].([]any)) + len(r.must("task_list", `{"archived":true}`)["tasks"].([]any)); n != 2 {
				t.Errorf("%d tasks are left", n)
			}
			if trouble := fmt.Sprint(r.status("fix")["trouble"]); !strings.Contains(trouble, "project is not known any more") || !strings.Contains(trouble, "termic project add") {
				t.Errorf("it says %s", trouble)
			}
			if found := r.finding("data file"); (found == nil) != (name == "removed") {
				t.Errorf("doctor says %v", found)
			}
			r.refused(refusal.NotFound, "task_archive", `{"task":"fix","force":true}`)
			if readFile(t, put) != "work\n" {
				t.Error("work is lost")
			}
			newRepository(t, r.repo+"-other") // the twin: another repository is another project
			other := r.must("project_add", `{"path":%q}`, r.repo+"-other")["project"].(map[string]any)
			added := r.must("project_add", `{"path":%q}`, r.repo)["project"].(map[string]any)
			if added["id"] != made["project"] || other["id"] == made["project"] {
				t.Errorf("the repository is project %v, the other %v; was %v", added["id"], other["id"], made["project"])
			}
			if trouble := r.status("fix")["trouble"]; trouble != nil {
				t.Errorf("it still says %v", trouble)
			}
			r.must("task_diff", `{"task":"fix"}`)
			r.must("task_restore", `{"task":"old"}`)
		})
	}
}

// TestAGitThatFailsOrHangsCostsNothing is bug report A4 (shared notes) with the whole app: terminals and records stay, what
// needs git says so within its bound, and everything is as before when git answers again.
func TestAGitThatFailsOrHangsCostsNothing(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	mode := filepath.Join(bin, "mode")
	script := fmt.Sprintf("#!/bin/sh\nif [ -e '%s' ]; then . '%s'; fi\nexec '%s' \"$@\"\n", mode, mode, real)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	call, repo, g := newServices(t)
	must := func(verb, arguments string, args ...any) map[string]any {
		t.Helper()
		out, err := call(verb, arguments, args...)
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		return out
	}
	g.ReadTimeout = time.Minute
	must("project_add", `{"path":%q}`, repo)
	made := must("task_new", `{"name":"fix","agent":"shell"}`)["task"].(map[string]any)
	if err := os.WriteFile(filepath.Join(made["path"].(string), "new"), []byte("work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := facts(t, made["path"].(string))
	for name, script := range map[string]string{
		"it exits 128":                 "exit 128",
		"it hangs":                     "exec sleep 1000",
		"it hangs and will not end":    "trap '' TERM; while :; do sleep 1; done",
		"it says nothing and succeeds": "exit 0",
		"it is killed":                 "kill -9 $$",
	} {
		t.Run(name, func(t *testing.T) {
			g.ReadTimeout = 700 * time.Millisecond
			if err := os.WriteFile(mode, []byte(script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, verb := range []string{"task_diff", "task_commits", "task_preflight", "task_archive"} {
				if out, err := call(verb, `{"task":"fix"}`); err == nil {
					t.Errorf("%s: %v", verb, out)
				} else if no, ok := refusal.From(err); ok && no.Code == refusal.Internal {
					t.Errorf("%s is not explained: %v", verb, err)
				}
			}
			if out, err := call("task_new", `{"name":"more","agent":"shell"}`); err == nil {
				t.Errorf("task_new: %v", out)
			}
			if n := len(must("task_list", `{}`)["tasks"].([]any)); n != 1 {
				t.Errorf("%d tasks", n)
			}
			must("task_send", `{"task":"fix","text":"echo alive-$((6*7))"}`)
			eventually(t, "the terminal does not live", func() bool {
				return strings.Contains(must("task_log", `{"task":"fix","lines":500}`)["text"].(string), "alive-42")
			})
			if err := os.Remove(mode); err != nil {
				t.Fatal(err)
			}
			g.ReadTimeout = time.Minute
			if got := facts(t, made["path"].(string)); got != want {
				t.Errorf("the checkout changed:\n%s\nwant\n%s", got, want)
			}
			must("task_diff", `{"task":"fix"}`)
			if left := runGit(t, "-C", repo, "branch", "--list", "termic/more"); left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
	must("task_archive", `{"task":"fix","force":true}`)
	must("task_restore", `{"task":"fix"}`)
	if got := facts(t, made["path"].(string)); got != want {
		t.Errorf("it came back as:\n%s\nwant\n%s", got, want)
	}
}

// newServices is newWindow with the git that the services use.
func newServices(t *testing.T) (call func(verb, arguments string, args ...any) (map[string]any, error), repo string, g *git.Git) {
	t.Helper()
	base := t.TempDir()
	repo = filepath.Join(base, "demo")
	newRepository(t, repo)
	s, err := store.Open(filepath.Join(base, "data"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := s.Subdir("audit")
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(t.Context(), s, log, Options{
		DataDir: s.Dir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "SHELL=/bin/bash"}, Stage: testStage, Log: discardLog(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.tasks.Stop()
		if err := errors.Join(a.state.Close(), log.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return func(verb, arguments string, args ...any) (map[string]any, error) {
		raw, err := a.router.Dispatch(context.Background(), registry.Person(registry.Window), verb, json.RawMessage(fmt.Sprintf(arguments, args...)))
		var result map[string]any
		if err == nil {
			err = json.Unmarshal(raw, &result)
		}
		return result, err
	}, repo, a.tasks.Projects.Git()
}
