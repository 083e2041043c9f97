package agentstate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/agent"
	"termic/app/agentstate"
	"termic/sandbox/cagetest"
	"termic/sandbox/profile"
)

// TestHowAnAgentLogsIn: a copy of the login, or a key of the environment, never both; and no other variable.
func TestHowAnAgentLogsIn(t *testing.T) {
	tests := []struct {
		name, agent string
		login       bool
		environ     []string
		env         []string // names of the person's variables in the cage
		hosts       []string // besides those of the agent
		seeds       string   // in the seeded settings
		note        string
	}{
		{"claude by its login, and no key", "claude", true, []string{"ANTHROPIC_API_KEY=k", "AWS_SECRET_ACCESS_KEY=k"}, nil, nil, "", "by a copy"},
		{"claude by a key, which it need not ask about", "claude", false, []string{"ANTHROPIC_API_KEY=0123456789abcdefghijklmnopqrstuvwxyz"}, []string{"ANTHROPIC_API_KEY"}, nil, `"ghijklmnopqrstuvwxyz"`, "key in ANTHROPIC_API_KEY"},
		{"claude by a token of its own first", "claude", false, []string{"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_OAUTH_TOKEN=t"}, []string{"CLAUDE_CODE_OAUTH_TOKEN"}, nil, "", "CLAUDE_CODE_OAUTH_TOKEN"},
		{"a key shorter than what claude remembers of it", "claude", false, []string{"ANTHROPIC_API_KEY=short"}, []string{"ANTHROPIC_API_KEY"}, nil, `"short"`, ""},
		{"claude at another address", "claude", true, []string{"ANTHROPIC_BASE_URL=https://models.example.org:8443/x"}, []string{"ANTHROPIC_BASE_URL"}, []string{"models.example.org:8443"}, "", "does not reach models.example.org:8443"},
		{"claude at an address that no cage reaches", "claude", true, []string{"ANTHROPIC_BASE_URL=https://127.0.0.1:8443"}, []string{"ANTHROPIC_BASE_URL"}, nil, "", "no cage reaches"},
		{"an empty variable is none", "claude", false, []string{"ANTHROPIC_API_KEY="}, nil, nil, "", "log in outside the cage"},
		{"codex not logged in", "codex", false, nil, nil, nil, "trust_level", "log in outside the cage"},
		{"gemini by a key, although it has a login", "gemini", true, []string{"GEMINI_API_KEY=k"}, []string{"GEMINI_API_KEY"}, nil, "gemini-api-key", "key in GEMINI_API_KEY"},
		{"gemini by its login", "gemini", true, nil, nil, nil, "oauth-personal", "log in again outside then"},
		{"opencode with its provider's hosts", "opencode", true, nil, nil, []string{"api.anthropic.com:443"}, "autoupdate", "by a copy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.environ...)
			for _, l := range logins {
				if tt.login && l.agent == tt.agent {
					r.write(t, l.file, l.content)
				}
			}
			task := r.task(t, tt.agent)
			plan := r.prepare(t, task)
			var passed []string
			for _, entry := range append(slices.Clone(tt.environ), "HOME=", "SHELL=") {
				if name, value, _ := strings.Cut(entry, "="); plan.Env[name] != "" && plan.Env[name] == value {
					passed = append(passed, name)
				}
			}
			if !slices.Equal(passed, tt.env) {
				t.Errorf("variables %v, want %v", passed, tt.env)
			}
			if want := slices.Sorted(slices.Values(append(withPort(task.Agents[0].Cage.Hosts), tt.hosts...))); !slices.Equal(plan.Hosts.Items(), want) {
				t.Errorf("hosts %v, want %v", plan.Hosts.Items(), want)
			}
			if hosts, err := r.keeper.Hosts(task.Agents[0]); err != nil || !slices.Equal(hosts.Items(), plan.Hosts.Items()) {
				t.Errorf("hosts beforehand %v, %v", hosts.Items(), err)
			}
			task.ID, task.Limit.Network = task.ID+"2", plan.Hosts
			if notes := r.prepare(t, task).Notes; strings.Contains(strings.Join(notes, "\n"), "does not reach") {
				t.Errorf("notes of a task with these hosts: %v", notes)
			}
			copies := names(t, filepath.Join(r.state, string(task.ID), tt.agent, "login"))
			if by := strings.Join(plan.Notes, "\n"); (len(copies) > 0) != strings.Contains(by, "by a copy") || !strings.Contains(by, tt.note) {
				t.Errorf("copies %v, notes:\n%s", copies, by)
			}
			if got := r.OutsideRun(t, "grep", "-rls", "-e", tt.seeds, filepath.Join(r.state, string(task.ID), tt.agent, "state")); got.Output == "" {
				t.Errorf("no seed has %q", tt.seeds)
			}
		})
	}
}

func withPort(hosts []string) []string {
	var out []string
	for _, h := range hosts {
		out = append(out, h+":443")
	}
	return out
}

// TestToolchains: a cage reads what the person develops with and the agent's program, with what it needs, and neither
// more of the home directory nor what is not there.
func TestToolchains(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // below the home directory; "-> x" is a link, "#!" makes it a program
		path  string            // PATH below the home directory
		want  []string          // read of the home directory
	}{
		{"a program in a directory of programs", map[string]string{".local/bin/claude": "#!/bin/sh\n"}, ".local/bin",
			[]string{".local/bin", ".local/bin/claude"}},
		{"installed by itself", map[string]string{".local/bin/claude": "-> ../share/claude/versions/1", ".local/share/claude/versions/1": "#!/bin/sh\n", ".local/share/claude/token": "x"}, ".local/bin",
			[]string{".local/bin", ".local/bin/claude", ".local/share/claude/versions/1"}},
		{"a package of Node's, in a place of the person's own", map[string]string{"tools/bin/claude": "-> ../lib/node_modules/@a/claude/cli.js", "tools/lib/node_modules/@a/claude/cli.js": "#!/usr/bin/env node\n",
			"tools/lib/node_modules/@a/claude/node_modules/b/x": "x", "node/bin/node": "#!/bin/sh\n"}, "tools/bin:@/node/bin",
			[]string{"node/bin/node", "tools/bin/claude", "tools/lib/node_modules"}},
		{"a script with an interpreter and arguments", map[string]string{"x/claude": "#!/usr/bin/env -S python-x -u\n", "y/python-x": "#!/bin/sh\n"}, "x:@/y", []string{"x/claude", "y/python-x"}},
		{"toolchains that are there", map[string]string{".nvm/x": "x", ".cargo/bin/cargo": "#!/bin/sh\n", ".rustup/x": "x", ".ssh/id": "x", "Documents/x": "x"}, "none",
			[]string{".cargo/bin", ".nvm", ".rustup"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &rig{Machine: cagetest.New(t)}
			r.state = filepath.Join(r.Data, "agents")
			for name, content := range tt.files {
				file := filepath.Join(r.Home, name)
				target, link := strings.CutPrefix(content, "-> ")
				if !link {
					writeFile(t, file, content, map[bool]os.FileMode{true: 0o755, false: 0o644}[strings.HasPrefix(content, "#!")])
					continue
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, file); err != nil {
					t.Fatal(err)
				}
			}
			r.open(t, "PATH="+r.Home+"/"+strings.ReplaceAll(tt.path, "@", r.Home)+":/usr/bin:/bin")
			plan := r.prepare(t, r.task(t, "claude"))
			var got []string
			for _, dir := range plan.Read {
				if rel, ok := strings.CutPrefix(dir, r.Home+"/"); ok {
					got = append(got, rel)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("reads %v, want %v", got, tt.want)
			}
		})
	}
}

// TestDefinitions: an agent of the person's own gets what it names: the state of one that it starts, hosts, and no state
// where it names none. Two that share a state share it; one that is not valid is refused.
func TestDefinitions(t *testing.T) {
	r := newRig(t, "MY_KEY=k", "MY_URL=https://mine.example.org")
	task := r.task(t, "claude")
	task.Agents = append(task.Agents,
		agent.Definition{ID: "mine", Command: []string{"mine"}, Cage: agent.Cage{State: agent.StateClaude, Hosts: []string{"*.example.com"}}},
		agent.Definition{ID: "other", Command: []string{"other"}, Cage: agent.Cage{Keys: []string{"NOT_SET", "MY_KEY"}, Pass: []string{"MY_URL"}}})
	plan := r.prepare(t, task)
	if want := []string{"*.example.com:443", "api.anthropic.com:443", "mine.example.org:443"}; !slices.Equal(plan.Hosts.Items(), want) {
		t.Errorf("hosts %v", plan.Hosts.Items())
	}
	if plan.Env["MY_KEY"] != "k" || plan.Env["MY_URL"] == "" || ownAt(plan, "claude/state").Path == "" || len(plan.Own) != 4 {
		t.Errorf("plan %+v", plan)
	}
	bad := r.task(t)
	bad.Agents = []agent.Definition{{ID: "bad", Command: []string{"bad"}, Cage: agent.Cage{State: "nobody"}}}
	if _, err := r.keeper.Prepare(t.Context(), bad); err == nil {
		t.Error("a state that nobody has")
	}
	bad.Agents = nil
	r.prepare(t, bad) // what was refused holds nothing
}

// TestNoTwoTasksShare: no directory that one task writes is in the plan of another.
func TestNoTwoTasksShare(t *testing.T) {
	r := newRig(t)
	r.write(t, ".npm/_cacache/index", "x")
	written := map[string]bool{}
	for range 2 {
		plan := r.prepare(t, r.task(t, "claude", "codex", "gemini", "opencode"))
		var dirs []string
		for _, o := range plan.Own {
			if o.Write {
				dirs = append(dirs, o.Source)
			}
		}
		for _, c := range plan.Caches {
			dirs = append(dirs, c.Upper, c.Work)
			if c.Fallback == profile.FallbackCold {
				dirs = append(dirs, c.Cold)
			}
		}
		if len(dirs) < 10 {
			t.Errorf("only %v is written", dirs)
		}
		for _, dir := range dirs {
			if written[dir] {
				t.Errorf("both write %s", dir)
			}
			written[dir] = true
		}
	}
}

// TestHomeless: without a home directory the app starts, and no cage.
func TestHomeless(t *testing.T) {
	for _, environ := range [][]string{nil, {"HOME="}, {"HOME=relative"}, {"HOME=/nowhere/at/all"}} {
		keeper, err := agentstate.Open(agentstate.Options{Dir: t.TempDir(), Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keeper.Prepare(t.Context(), agentstate.Task{ID: "t-x", Checkout: t.TempDir()}); err == nil {
			t.Errorf("%v: prepared", environ)
		}
	}
}
