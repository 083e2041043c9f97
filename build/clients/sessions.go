package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"

	"termic/build/fakemodel"
	"termic/build/rig"
)

// lived is an agent whose life in a task is tried: start, hooks, a prompt, a permission, the end of a turn, its result, and the same
// conversation in a new tab.
type lived struct {
	name string
	// prepare writes what a person who uses the agent has at home; env is what they have in their environment.
	prepare func(home string, checkouts []string, model string) error
	env     func(model string) []string
	// offer is the key that declines what it offers after its start, or empty when it offers nothing.
	offer string
	// ask is a step that needs the person's permission, yes the key that gives it.
	ask, yes string
	// settings are files of the person's that must be as they were.
	settings []string
}

var lives = []lived{
	{
		name: "claude", offer: "\x1b", ask: "bash", yes: "\r", settings: []string{".claude/settings.json", ".claude/settings.local.json"},
		prepare: func(home string, checkouts []string, _ string) error {
			trusted := object{}
			for _, dir := range checkouts {
				trusted[dir] = object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
			}
			text, err := json.Marshal(object{
				"hasCompletedOnboarding": true, "theme": "dark", "autoUpdates": false, "projects": trusted,
				"customApiKeyResponses": object{"approved": []string{"none"}, "rejected": []string{}},
			})
			// It would begin in a mode in which its vendor's server decides most permissions (2.1.332).
			file := filepath.Join(home, ".claude/settings.json")
			return errors.Join(err, os.WriteFile(filepath.Join(home, ".claude.json"), text, 0o600), os.MkdirAll(filepath.Dir(file), 0o700),
				os.WriteFile(file, []byte(`{"permissions":{"defaultMode":"default"}}`), 0o600))
		},
		env: func(model string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	},
	{
		name: "codex", ask: "esc", yes: "y", settings: []string{".codex/config.toml"},
		prepare: func(home string, checkouts []string, model string) error {
			text := "model = \"fake\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n\n" +
				"[model_providers.fake]\nname = \"fake\"\nbase_url = \"" + model + "/v1\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\n"
			for _, dir := range checkouts {
				text += "\n[projects.\"" + dir + "\"]\ntrust_level = \"trusted\"\n"
			}
			file := filepath.Join(home, ".codex/config.toml")
			return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600))
		},
		env: func(string) []string { return []string{"FAKE_KEY=none"} },
	},
}

// liveTogether tries one agent in a task of the built app.
func liveTogether(l lived, bin string) (err error) {
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
	home := filepath.Join(r.Base, "home")
	if err := l.prepare(home, []string{r.Data + ".checkouts/shop/fix"}, model.URL); err != nil {
		return err
	}
	r.Env = append(r.Env, l.env(model.URL)...)
	for i, entry := range r.Env {
		if strings.HasPrefix(entry, "PATH=") {
			r.Env[i] = "PATH=" + bin + ":" + strings.TrimPrefix(entry, "PATH=")
		}
	}
	before := l.read(home)
	if err := r.Serve(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	s := &life{lived: l, rig: r}
	for _, step := range []func() error{s.start, s.permitted, s.silent, s.result("END1."), s.resumed, s.result("END2.")} {
		if err := step(); err != nil {
			shown, _ := r.Do("log", "fix", "--tab", l.name)
			return fmt.Errorf("%w\nits terminal:\n%s\nthe app's log:\n%s", err, shown, r.Log())
		}
	}
	if after := l.read(home); after != before {
		return fmt.Errorf("the person's own settings changed:\n%s\nbefore:\n%s", after, before)
	}
	fmt.Printf("ok  %s: in a task: started, heard by its hooks, asked, permitted, done, its result read, the conversation resumed\n", l.name)
	return nil
}

// read returns the person's settings of the agent.
func (l lived) read(home string) string {
	var all strings.Builder
	for _, name := range l.settings {
		text, err := os.ReadFile(filepath.Join(home, name))
		fmt.Fprintf(&all, "%s %v\n%s\n", name, err == nil, text)
	}
	return all.String()
}

// life is one such trial under way.
type life struct {
	lived
	rig   *rig.Rig
	nonce string
}

// status is what the app says of the agent's tab.
type status struct {
	ID, State, Signal string
}

func (s *life) status() (status, error) {
	text, err := s.rig.Do("status", "fix", "--json")
	if err != nil {
		return status{}, err
	}
	var out struct {
		Task struct {
			Tabs []struct{ ID, Name, State, Signal string }
		}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return status{}, err
	}
	for _, tab := range out.Task.Tabs {
		if tab.Name == s.name {
			return status{tab.ID, tab.State, tab.Signal}, nil
		}
	}
	return status{}, fmt.Errorf("no tab %s in %s", s.name, text)
}

// until waits for a state of the agent's tab.
func (s *life) until(state string) (status, error) {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		now, err := s.status()
		if err != nil || now.State == state {
			return now, err
		}
		if time.Now().After(end) {
			return now, fmt.Errorf("it is %s by %s and not %s", now.State, now.Signal, state)
		}
	}
}

func (s *life) start() error {
	if _, err := s.rig.Do("project", "add", s.rig.Repo); err != nil {
		return err
	}
	if _, err := s.rig.Do("new", "fix", "--project", "shop", "--agent", s.name); err != nil {
		return err
	}
	if s.offer != "" {
		if _, err := s.until("waiting"); err != nil {
			return err
		}
		time.Sleep(time.Second) // as below
		if err := s.press(s.offer); err != nil {
			return err
		}
	}
	_, err := s.until("idle")
	return err
}

// permitted sends a prompt whose step the person has to permit, and permits it as the person does.
func (s *life) permitted() error {
	if _, err := s.rig.Do("send", "fix", "--tab", s.name, "one @@ "+s.ask+" echo a > a.txt ;; say END1."); err != nil {
		return err
	}
	now, err := s.until("waiting")
	if err != nil {
		return err
	}
	if now.Signal != "osc" {
		return fmt.Errorf("that it asks is known by %s, not by its own report", now.Signal)
	}
	time.Sleep(time.Second) // a picker that is just drawn takes no key for 0.4 s
	if err := s.press(s.yes); err != nil {
		return err
	}
	_, err = s.until("done")
	return err
}

// press types keys into the tab through the person's own terminal.
func (s *life) press(keys string) error {
	cmd := exec.Command(s.rig.Termic, "attach", "fix", "--tab", s.name)
	cmd.Env = s.rig.Env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 36})
	if err != nil {
		return err
	}
	defer tty.Close()
	if _, err := tty.Read(make([]byte, 1)); err != nil { // it draws once it is attached
		return err
	}
	go func() { // or it would be held up
		buf := make([]byte, 64<<10)
		for {
			if _, err := tty.Read(buf); err != nil {
				return
			}
		}
	}()
	if _, err := tty.WriteString(keys); err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // the detach key is one of its own
	if _, err := tty.WriteString("\x1d"); err != nil {
		return err
	}
	return cmd.Wait()
}

// silent looks at every command line of the machine: neither a token of ours nor the tab's nonce is on any.
func (s *life) silent() error {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	agents := 0
	var lines []string
	for _, dir := range processes {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // of another's process: not ours to see
		for entry := range strings.SplitSeq(string(environ), "\x00") {
			if nonce, ok := strings.CutPrefix(entry, "TERMIC_NONCE="); ok && strings.Contains(string(environ), s.rig.Base) {
				s.nonce, agents = nonce, agents+1
			}
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // one that has ended
		lines = append(lines, string(line))
	}
	if agents == 0 || len(s.nonce) != 32 {
		return errors.New("no process has the tab's nonce in its environment, so this proves nothing")
	}
	for _, line := range lines {
		if strings.Contains(line, s.nonce) || strings.Contains(line, "termic_") {
			return fmt.Errorf("on a command line: %q", line)
		}
	}
	return nil
}

func (s *life) result(want string) func() error {
	return func() error {
		got, err := s.rig.Do("result", "fix", "--tab", s.name)
		if err == nil && strings.TrimSpace(got) != want {
			err = fmt.Errorf("its result is %q, want %q", got, want)
		}
		return err
	}
}

// resumed closes the tab, opens it again and goes on: the agent must still know the first prompt.
func (s *life) resumed() error {
	if _, err := s.rig.Do("tab", "close", "fix", s.name); err != nil {
		return err
	}
	if _, err := s.rig.Do("tab", "fix", "--agent", s.name, "--name", s.name); err != nil {
		return err
	}
	if _, err := s.until("idle"); err != nil {
		return err
	}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		shown, err := s.rig.Do("log", "fix", "--tab", s.name)
		if err != nil {
			return err
		}
		if strings.Contains(shown, "END1.") {
			break
		}
		if time.Now().After(end) {
			return errors.New("the new tab does not show the conversation before")
		}
	}
	if _, err := s.rig.Do("send", "fix", "--tab", s.name, "two @@ say END2."); err != nil {
		return err
	}
	_, err := s.until("done")
	return err
}
