package agentstate_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/agent"
	"termic/app/agentstate"
	"termic/registry/ident"
	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

func TestMain(m *testing.M) { cagetest.Main(m) }

// rig is a machine with a person's home, and a Keeper for them.
type rig struct {
	*cagetest.Machine
	keeper *agentstate.Keeper
	bin    string // in PATH, for programs of the person's
	state  string // the Keeper's directory
}

func newRig(t *testing.T, environ ...string) *rig {
	t.Helper()
	r := &rig{Machine: cagetest.New(t)}
	r.state = filepath.Join(r.Data, "agents")
	r.bin = filepath.Join(r.Home, ".local/bin")
	if err := os.MkdirAll(r.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	r.open(t, environ...)
	return r
}

// open makes a Keeper for another environment.
func (r *rig) open(t *testing.T, environ ...string) {
	t.Helper()
	env := append([]string{"HOME=" + r.Home, "PATH=" + r.bin + ":" + os.Getenv("PATH"), "SHELL=/bin/sh"}, environ...)
	keeper, err := agentstate.Open(agentstate.Options{Dir: r.state, Environ: func() []string { return env }, Untrusted: func() []string { return []string{r.Data} }})
	if err != nil {
		t.Fatal(err)
	}
	r.keeper = keeper
	t.Cleanup(func() {
		if err := keeper.Close(); err != nil {
			t.Error(err)
		}
	})
}

// task is one of the machine's tasks with some agents.
func (r *rig) task(t *testing.T, agents ...string) agentstate.Task {
	t.Helper()
	task := agentstate.Task{ID: ident.NewTask(), Checkout: r.Checkout}
	for _, id := range agents {
		i := slices.IndexFunc(agent.Builtin(), func(d agent.Definition) bool { return d.ID == id })
		task.Agents = append(task.Agents, agent.Builtin()[i])
	}
	return task
}

// prepare is Keeper.Prepare.
func (r *rig) prepare(t *testing.T, task agentstate.Task) agentstate.Plan {
	t.Helper()
	plan, err := r.keeper.Prepare(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// cage starts the task's cage with a plan.
func (r *rig) cage(t *testing.T, plan agentstate.Plan) *launch.Cage {
	t.Helper()
	m := *r.Machine
	m.Dirs.Own = append(slices.Clone(m.Dirs.Own), plan.Own...)
	m.Dirs.Caches = append(slices.Clone(m.Dirs.Caches), plan.Caches...)
	m.Dirs.Read = append(slices.Clone(m.Dirs.Read), plan.Read...)
	return m.Start(t, capability.Enforce, capability.Set{})
}

// sh runs a shell command in the cage with the plan's environment, and returns what it wrote; it must end well.
func (r *rig) sh(t *testing.T, cage *launch.Cage, plan agentstate.Plan, script string) string {
	t.Helper()
	out := r.Run(t, cage, append(append([]string{"env"}, pairs(plan.Env)...), "sh", "-c", script)...)
	if out.Code != 0 {
		t.Errorf("in the cage, %s: exit %d\n%s", script, out.Code, out.Output)
	}
	return out.Output
}

func pairs(env map[string]string) []string {
	var out []string
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// write makes a file below the person's home.
func (r *rig) write(t *testing.T, name, content string) string {
	t.Helper()
	return writeFile(t, filepath.Join(r.Home, name), content, 0o600)
}

func writeFile(t *testing.T, file, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func ownAt(plan agentstate.Plan, source string) profile.Own {
	i := slices.IndexFunc(plan.Own, func(o profile.Own) bool { return strings.HasSuffix(o.Source, source) })
	if i < 0 {
		return profile.Own{}
	}
	return plan.Own[i]
}

// end is the end of a task's cage.
func (r *rig) end(t *testing.T, cage *launch.Cage, task agentstate.Task) {
	t.Helper()
	if err := cage.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.keeper.Release(task.ID); err != nil {
		t.Fatal(err)
	}
}

// Markers of tokens. They are in no program: the test's own could be in the cage.
var (
	access  = "ACCESS-marker-" + rand.Text()
	refresh = "REFRESH-marker-" + rand.Text()
)

// logins are a person's login files, with both markers, and where the agent finds its copy in a cage.
var logins = []struct{ agent, file, content, copy string }{
	{"claude", ".claude/.credentials.json",
		`{"claudeAiOauth":{"accessToken":"` + access + `","refreshToken":"` + refresh + `","expiresAt":4102444800000,"scopes":[]}}`,
		"$CLAUDE_SECURESTORAGE_CONFIG_DIR/.credentials.json"},
	{"codex", ".codex/auth.json",
		`{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"` + access + `","refresh_token":"` + refresh + `","account_id":"a"}}`,
		"$CODEX_HOME/auth.json"},
	{"gemini", ".gemini/oauth_creds.json",
		`{"access_token":"` + access + `","refresh_token":"` + refresh + `","expiry_date":4102444800000}`,
		"$GEMINI_CLI_HOME/.gemini/oauth_creds.json"},
	{"opencode", ".local/share/opencode/auth.json",
		`{"anthropic":{"type":"oauth","refresh":"` + refresh + `","access":"` + access + `","expires":4102444800000}}`,
		"$HOME/.local/share/opencode/auth.json"},
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
