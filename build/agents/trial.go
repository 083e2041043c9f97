package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"termic/build/fakemodel"
	"termic/build/rig"
)

// trialSteps are what `termic agent test` looks at when a prompt is given. Each must be right with a real program, without a doubt.
var trialSteps = []string{"program", "version", "start", "box", "prompt", "answer", "hooks", "end"}

// attempts is how often a definition is tested before a doubt counts: an agent that a busy machine lets end too slowly is one.
const attempts = 3

// try tests a definition until every step is right.
func try(s session, bin string) error {
	var err error
	for range attempts {
		if err = tryOnce(s, bin); err == nil {
			return nil
		}
		fmt.Printf("--  %v\n", err)
	}
	return fmt.Errorf("%s: %d times not every step was right, at last: %w", s.agent, attempts, err)
}

// tryOnce has the built app test the definition of a real agent program, as `termic agent test` does for a person.
func tryOnce(s session, bin string) (err error) {
	model, err := fakemodel.New()
	if err != nil {
		return err
	}
	defer model.Close()
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer r.Close()
	home, work := filepath.Join(r.Base, "home"), filepath.Join(r.Base, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), s.prepare(home, work, model.URL)); err != nil {
		return err
	}
	for i, entry := range r.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			r.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	r.Env = append(r.Env, s.env(model.URL)...)
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	test := exec.Command(r.Termic, "agent", "test", s.agent, "-p", "T1 @@ say END1.", "--timeout", "3m", "--json")
	test.Env = r.Env
	text, err := test.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // one that failed says which step
		return err
	}
	return judge(s.agent, text)
}

// judge tells whether a trial saw every step, and each right.
func judge(agent string, text []byte) error {
	var trial struct {
		Outcome string `json:"outcome"`
		Steps   []struct {
			Step  string `json:"step"`
			State string `json:"state"`
			Saw   string `json:"saw"`
		} `json:"steps"`
	}
	if err := json.Unmarshal(text, &trial); err != nil {
		return fmt.Errorf("agent test %s: %w\n%s", agent, err, text)
	}
	var names []string
	for _, step := range trial.Steps {
		names = append(names, step.Step)
		if step.State != "ok" {
			return fmt.Errorf("agent test %s: %s is %s: %s\n%s", agent, step.Step, step.State, step.Saw, text)
		}
	}
	if trial.Outcome != "works" || !slices.Equal(names, trialSteps) {
		return fmt.Errorf("agent test %s: steps %v, want %v\n%s", agent, names, trialSteps, text)
	}
	fmt.Printf("ok  %s: every step of agent test is right\n", agent)
	return nil
}
