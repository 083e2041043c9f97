package cagetest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// TestAncestors moves every directory between what may be written and each read-only path inside it, that path too: one
// that could be moved would make room for another of its name. The paths are those of the plan, so that none is
// forgotten. Outside, each can be moved.
func TestAncestors(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	state, config := m.Root+"/data/tasks/1/state", m.Root+"/data/tasks/1/config"
	for _, file := range []string{state + "/deep/down/config.toml", config, m.Checkout + "/docs/deep/rules.md", m.Checkout + "/.claude/hooks/x/y"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("x\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(m.Checkout+"/.cursor", 0o755), os.Symlink("../docs/deep/rules.md", m.Checkout+"/.cursor/rules.md")); err != nil {
		t.Fatal(err)
	}
	m.Dirs.Own = append(m.Dirs.Own, profile.Own{Path: m.Root + "/state", Source: state, Write: true, Why: "state of the agent"},
		profile.Own{Path: m.Root + "/state/deep/down/config.toml", Source: config, Why: "settings of the agent"})
	p := m.Profile(t, capability.Enforce, capability.Set{})
	cage := m.Start(t, capability.Enforce, capability.Set{})
	tried := map[string]bool{}
	for _, rule := range p.Rules {
		if rule.Access != profile.ReadOnly && rule.Access != profile.Hidden {
			continue
		}
		for name := rule.Path; !tried[name]; name = filepath.Dir(name) {
			around := p.Rule(filepath.Dir(name))
			if around.Access != profile.Writable {
				break
			}
			tried[name] = true
			got := m.Run(t, cage, "mv", "-T", name, name+".moved")
			if got.Code == 0 || !strings.Contains(got.Output, "Device or resource busy") {
				t.Errorf("%s: %+v", name, got)
			}
			source := filepath.Join(around.Source, strings.TrimPrefix(name, around.Path))
			if out := m.OutsideRun(t, "sh", "-c", `mv -T "$1" "$1.moved" && mv -T "$1.moved" "$1"`, "sh", source); out.Code != 0 {
				t.Errorf("%s, outside: %+v", source, out)
			}
		}
	}
	for _, must := range []string{"/.git", "/.claude", "/.claude/settings.json", "/.github/workflows", "/docs", "/docs/deep", "/docs/deep/rules.md"} {
		if !tried[m.Checkout+must] {
			t.Errorf("%s was not tried", must)
		}
	}
	for _, must := range []string{"/deep", "/deep/down", "/deep/down/config.toml"} {
		if !tried[m.Root+"/state"+must] {
			t.Errorf("%s of the state was not tried", must)
		}
	}
	cagetest.Tally(t, "cage of %s, %-10s %-11s tried %3d, refused with the predicted error %3d, twin succeeds %3d, not on this machine 0", user(), capability.Enforce,
		"ancestors", len(tried), len(tried), len(tried))
}

// TestOtherNames: a protected file that has another name, or is reached through a link in a protected directory, cannot
// be changed by it. What cannot be kept refuses the cage and says why; with a copy in its place the cage starts.
func TestOtherNames(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	compile := func() error {
		_, err := profile.Compile(capability.Declared{Mode: capability.Enforce}, m.Dirs, profile.Machine{})
		return err
	}
	var link *profile.LinkError
	for _, protected := range []string{"/.envrc", "/.vscode/settings.json", "/.github/workflows/ci.yml"} {
		other := m.Checkout + "/other"
		if err := os.Link(m.Checkout+protected, other); err != nil {
			t.Fatal(err)
		}
		if err := compile(); !errors.As(err, &link) || link.Path != m.Checkout+protected || link.Other != other {
			t.Errorf("%s with another name: %v", protected, err)
		}
		data, err := os.ReadFile(other)
		if err := errors.Join(err, os.Remove(other), os.WriteFile(other, data, 0o644)); err != nil {
			t.Fatal(err)
		}
		if err := compile(); err != nil {
			t.Errorf("%s with a copy: %v", protected, err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
	later := m.Checkout + "/.vscode/tasks.json"
	if err := os.Symlink("../later.json", later); err != nil {
		t.Fatal(err)
	}
	if err := compile(); !errors.As(err, &link) || link.Path != later {
		t.Errorf("a link to what could be made: %v", err)
	}
	if err := os.WriteFile(m.Checkout+"/later.json", []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cage := m.Start(t, capability.Enforce, capability.Set{})
	for _, attack := range []string{"echo x > later.json", "echo x > .vscode/tasks.json", "rm -f later.json", "mv later.json x", "ln later.json x", "cp main.go x && mv x later.json"} {
		if got := m.Run(t, cage, "sh", "-c", attack); got.Code == 0 {
			t.Errorf("%s: %+v", attack, got)
		}
	}
	if data, err := os.ReadFile(later); string(data) != "{}\n" {
		t.Errorf("where the link leads: %q, %v", data, err)
	}
	if got := m.Run(t, cage, "sh", "-c", "echo x > main.go && echo y > new.json"); got.Code != 0 {
		t.Errorf("beside it: %+v", got)
	}
}

// TestEnvironment: of the person's environment a cage gets what is on the list and nothing else, in its first process
// and in every place where one can be read.
func TestEnvironment(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	const secret = "kept-outside"
	hidden := []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		"TMUX", "STY", "DOCKER_HOST", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS",
		"LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
		"AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS",
		"TERMIC_MCP_TOKEN", "TERMIC_CLI_TOKEN"}
	person := m.Env()
	for _, name := range hidden {
		person = append(person, name+"="+secret)
	}
	p := m.Profile(t, capability.Enforce, capability.Set{Env: must(capability.NamesOf("GH_TOKEN"))})
	cage := m.Start(t, capability.Enforce, capability.Set{Env: must(capability.NamesOf("GH_TOKEN"))})
	env := p.Environ(person, os.Getuid())
	script := []string{"sh", "-c", "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"}
	inside := strings.Split(m.RunEnv(t, cage, env, script...).Output, "\n")
	outside := strings.Split(m.OutsideEnv(t, person, script...).Output, "\n")
	refused, twin := 0, 0
	for _, name := range hidden {
		want := name == "GH_TOKEN" // the one that the task was given
		if got := slices.Contains(inside, name+"="+secret); got != want {
			t.Errorf("%s in the cage: %v, want %v", name, got, want)
		} else if !want {
			refused++
		}
		if !slices.Contains(outside, name+"="+secret) {
			t.Errorf("%s is not outside either", name)
		} else if !want {
			twin++
		}
	}
	if slices.ContainsFunc(inside, func(line string) bool { return strings.HasPrefix(line, cagetest.MarkerVar+"=") }) {
		t.Error("the app's own environment shows")
	}
	cagetest.Tally(t, "cage of %s, %-10s %-11s tried %3d, absent as predicted %3d, twin succeeds %3d, not on this machine 0", user(), capability.Enforce,
		"environment", len(hidden)-1, refused, twin)
}
