//go:build linux

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"termic/app/audit"
	"termic/app/store"
	"termic/registry"
	"termic/registry/refusal"
)

// newWindow opens the services as the window has them: its verbs are nobody else's.
func newWindow(t *testing.T) (call func(verb, arguments string, args ...any) (map[string]any, error), repo string) {
	t.Helper()
	base := t.TempDir()
	repo = filepath.Join(base, "demo")
	newRepository(t, repo)
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
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
		DataDir: s.Dir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/bash"}, Stage: testStage, Log: discardLog(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.tasks.Stop()
		if err := a.state.Close(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(log.Close(), s.Close()); err != nil {
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
	}, repo
}

func TestATabOutsideIsOpenedOnlyAfterWhatRunsByItselfWasShown(t *testing.T) {
	call, repo := newWindow(t)
	must := func(verb, arguments string, args ...any) map[string]any {
		t.Helper()
		out, err := call(verb, arguments, args...)
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		return out
	}
	must("project_add", `{"path":%q}`, repo)
	made := must("task_new", `{"name":"lead","agent":"shell","cage":"enforce"}`)["task"].(map[string]any)
	clean := must("tab_outside", `{"task":"lead"}`) // the twin: nothing to show
	if clean["opened"] != true || clean["tab"].(map[string]any)["outside"] != true {
		t.Errorf("%v", clean)
	}
	if err := os.WriteFile(filepath.Join(made["path"].(string), ".envrc"), []byte("touch /tmp/x"), 0o600); err != nil {
		t.Fatal(err)
	}
	shows := must("tab_outside", `{"task":"lead","name":"second"}`)
	if shows["opened"] != false || fmt.Sprint(shows["files"]) != "[map[change:new path:.envrc]]" {
		t.Errorf("%v", shows)
	}
	if n := len(must("task_status", `{"task":"lead"}`)["task"].(map[string]any)["tabs"].([]any)); n != 2 {
		t.Errorf("%d tabs", n)
	}
	if seen := must("tab_outside", `{"task":"lead","name":"second","seen":true}`); seen["opened"] != true {
		t.Errorf("%v", seen)
	}
	must("task_new", `{"name":"free","agent":"shell"}`)
	if _, err := call("tab_outside", `{"task":"free"}`); err == nil {
		t.Error("a task without a cage has an outside")
	}
}

func TestATabOutsideIsForTheWindowOnly(t *testing.T) {
	r := newRig(t)
	r.cagedTask("lead", "")
	r.refused(refusal.UnknownVerb, "tab_outside", `{"task":"lead","seen":true}`)
}
