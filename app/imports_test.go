package app

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers says what each package may import of ours; the reason is what a failing test prints. The first entry
// whose package is a prefix counts. "termic/registry/…" stands for the package and everything below it.
//
// The test reads the sources itself: one that asks the go command in a child process can stay green from the
// test cache.
var layers = []struct {
	pkg string
	may []string
	why string
}{
	{"termic/registry/refusal", nil, "refusal is a leaf: everyone says no with it"},
	{"termic/registry/ident", nil, "ident is a leaf: everyone names things with it"},
	{"termic/registry/verbs", []string{"termic/registry", "termic/registry/refusal"}, "verbs are data: they know no service"},
	{"termic/registry/render/gen", []string{"termic/registry/...", "termic/app/cli"}, "the generator reads verbs and writes files"},
	{"termic/registry/render", []string{"termic/registry", "termic/registry/refusal", "termic/registry/verbs"}, "render is pure: data in, text out"},
	{"termic/registry/grant/model", nil, "the model shares no code with what it is compared with"},
	{"termic/registry/grant", []string{"termic/registry", "termic/registry/ident", "termic/registry/refusal", "termic/sandbox/capability"}, "grants are decided from memory: no service, no file, no process"},
	{"termic/registry", []string{"termic/registry/ident", "termic/registry/refusal", "termic/sandbox/capability"}, "the router knows no service and no transport"},
	{"termic/sandbox/capability", nil, "the algebra of capabilities imports nothing of ours"},
	{"termic/sandbox", []string{"termic/sandbox/..."}, "the cage imports nothing else of ours, so that its program stays small"},
	{"termic/mcpserver/jsonrpc", nil, "the codec knows no verb"},
	{"termic/mcpserver/tomledit", nil, "an editor of documents knows nothing of what they mean"},
	{"termic/mcpserver/jsoncedit", nil, "an editor of documents knows nothing of what they mean"},
	{"termic/mcpserver/clients", []string{"termic/mcpserver/jsoncedit", "termic/mcpserver/tomledit"}, "clients are data and edits of their files: they know no verb and no token"},
	{"termic/mcpserver", []string{"termic/mcpserver/jsonrpc", "termic/registry", "termic/registry/ident", "termic/registry/refusal", "termic/registry/render"}, "mcpserver holds no verb logic and reaches no service"},
	{"termic/app/store", nil, "mechanisms know nothing of tasks"},
	{"termic/app/audit", []string{"termic/registry", "termic/registry/ident", "termic/registry/refusal"}, "the audit log knows events and nothing of tasks"},
	{"termic/app/safefile", nil, "the reader of files that others write is a leaf"},
	{"termic/app/gitview", []string{"termic/app/git", "termic/app/safefile"}, "mechanisms know nothing of tasks"},
	{"termic/app/git", nil, "mechanisms know nothing of tasks"},
	{"termic/app/hook", []string{"termic/app/settle"}, "a claim knows nothing of the tab that reads it"},
	{"termic/app/transcript", []string{"termic/app/safefile"}, "a reader of transcripts knows nothing of the agent that runs"},
	{"termic/app/osc", nil, "mechanisms know nothing of tasks"},
	{"termic/app/pty", []string{"termic/sandbox/processes"}, "mechanisms know nothing of tasks"},
	{"termic/app/shellenv", []string{"termic/app/pty"}, "mechanisms know nothing of tasks"},
	{"termic/app/screen", nil, "mechanisms know nothing of tasks"},
	{"termic/app/settle", nil, "mechanisms know nothing of tasks"},
	{"termic/app/notify", []string{"termic/app/notify/fakebus", "termic/app/settle"}, "what tells the desktop knows states and no task"},
	{"termic/app/settings", []string{"termic/app/store", "termic/registry/refusal"}, "settings know no service that they are for"},
	{"termic/app/agentstate", []string{"termic/app/agent", "termic/app/safefile", "termic/registry/ident", "termic/sandbox/capability", "termic/sandbox/launch", "termic/sandbox/profile"}, "what a cage gets of an agent knows no task's life"},
	{"termic/app/agent", []string{"termic/app/safefile", "termic/app/settle", "termic/sandbox/capability"}, "agents are data"},
	{"termic/app/prompt", []string{"termic/app/safefile"}, "prompts are files: they know nobody who sends them"},
	{"termic/app/cage", []string{"termic/app/pty", "termic/sandbox/..."}, "a cage knows nothing of the task that it is for"},
	{"termic/app/project", []string{"termic/app/git", "termic/app/store", "termic/registry/ident", "termic/registry/refusal", "termic/sandbox/capability"}, "a project knows nothing of its tasks"},
	{"termic/app/repoconf", []string{"termic/sandbox/capability"}, "settings of repositories are parsed by themselves, and trusted by others"},
	{"termic/app/tab", []string{"termic/app/agent", "termic/app/hook", "termic/app/osc", "termic/app/pty", "termic/app/screen", "termic/app/settle", "termic/registry/ident"}, "a tab knows nothing of the task that it is in"},
	{"termic/app/task", []string{"termic/app/agent", "termic/app/agentstate", "termic/app/cage", "termic/app/git", "termic/app/gitview", "termic/app/project", "termic/app/pty", "termic/app/repoconf", "termic/app/settings", "termic/app/settle", "termic/app/store", "termic/app/tab", "termic/app/transcript", "termic/app/safefile", "termic/registry/ident", "termic/registry/refusal", "termic/sandbox/capability", "termic/sandbox/cgroup", "termic/sandbox/egress", "termic/sandbox/launch", "termic/sandbox/profile", "termic/sandbox/watch", "termic/sandbox/watched"}, "a task knows its tools and no way in"},
	{"termic/app/registration", []string{"termic/app/agent", "termic/app/store", "termic/mcpserver/clients", "termic/mcpserver/jsoncedit", "termic/mcpserver/tomledit", "termic/registry", "termic/registry/refusal"}, "registrations know files of other programs, and no way in"},
	{"termic/app/bridge", []string{"termic/app/ctl", "termic/app/store", "termic/mcpserver/jsonrpc", "termic/registry/refusal"}, "a bridge carries messages and knows no verb"},
	{"termic/app/hold", []string{"termic/app/store", "termic/registry", "termic/registry/ident", "termic/registry/refusal"}, "holds know calls and nothing of what they do"},
	{"termic/app/handlers", []string{"termic/app/agent", "termic/app/audit", "termic/app/transcript", "termic/app/git", "termic/app/gitview", "termic/app/hold", "termic/app/notify", "termic/app/project", "termic/app/prompt", "termic/app/registration", "termic/app/repoconf", "termic/app/settings", "termic/app/settle", "termic/app/shellenv", "termic/app/store", "termic/app/tab", "termic/app/task", "termic/registry", "termic/registry/grant", "termic/registry/ident", "termic/registry/refusal", "termic/registry/verbs", "termic/sandbox/capability", "termic/sandbox/cgroup", "termic/sandbox/launch", "termic/sandbox/profile"}, "handlers translate verbs into calls of services and know no way in"},
	{"termic/app/gui", []string{"termic/registry", "termic/registry/ident", "termic/registry/refusal", "termic/registry/verbs"}, "ways in see the router, never the domain"},
	{"termic/app/ctl", []string{"termic/registry", "termic/registry/refusal"}, "ways in see the router, never the domain"},
	{"termic/app/agentsmd", []string{"termic/mcpserver/clients"}, "a text between marks knows nothing of what it says"},
	{"termic/app/cli", []string{"termic/app/agentsmd", "termic/app/bridge", "termic/app/ctl", "termic/registry", "termic/registry/refusal", "termic/registry/render"}, "the command line is made from verbs as data and knows no service"},
	{"termic/app", []string{"termic/app/...", "termic/mcpserver", "termic/registry", "termic/registry/grant", "termic/registry/ident", "termic/registry/refusal", "termic/registry/verbs", "termic/sandbox/..."}, "app is the wiring"},
	{"termic/build/conformance/fixture", []string{"termic/mcpserver", "termic/registry", "termic/registry/ident", "termic/registry/refusal"}, "the fixture serves tools of its own with our endpoint"},
	{"termic/build/bench/endpoint", []string{"termic/app/audit", "termic/build/bench/cost", "termic/mcpserver", "termic/registry", "termic/registry/grant", "termic/registry/ident", "termic/registry/verbs", "termic/sandbox/capability"}, "the benched endpoint has everything of a call but the task"},
	{"termic/build/bench", []string{"termic/build/bench/...", "termic/build/rig", "termic/sandbox/..."}, "the bench runs built programs, and cages by themselves"},
	{"termic/build/agents", []string{"termic/app/agent", "termic/app/hook", "termic/app/osc", "termic/app/screen", "termic/build/fakemodel", "termic/build/rig"}, "the recorder starts an agent as a tab does, answers what it asks, and has the built program test its definition"},
	{"termic/build/fakemodel", nil, "a model knows nothing of who asks it"},
	{"termic/build", []string{"termic/build/fakemodel", "termic/build/rig"}, "tools of the build use the built programs, not the app's packages"},
	{"termic/testdata", nil, "test programs stand alone"},
	{"termic", []string{"termic/app", "termic/app/cli", "termic/app/ctl", "termic/app/gui", "termic/app/hook", "termic/app/store", "termic/app/task", "termic/registry/refusal", "termic/registry/verbs", "termic/sandbox/watched"}, "main only starts things"},
}

func TestImportsRunOneWay(t *testing.T) {
	files := token.NewFileSet()
	seen := 0
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != ".." || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() && name == filepath.Join("..", "build", "tools"):
			return filepath.SkipDir // a module of its own
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", filepath.Dir(name))
		if err != nil {
			return err
		}
		seen++
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, name, path.Join("termic", filepath.ToSlash(rel)), imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("only %d files were read", seen)
	}
}

func checkImport(t *testing.T, file, pkg, imported string) {
	t.Helper()
	if imported != "termic" && !strings.HasPrefix(imported, "termic/") {
		return
	}
	if why := forbidden(pkg, imported); why != "" {
		t.Errorf("%s: %s may not import %s: %s", file, pkg, imported, why)
	}
}

// forbidden returns why pkg may not import the other package, or nothing.
func forbidden(pkg, imported string) string {
	for _, layer := range layers {
		if pkg != layer.pkg && !strings.HasPrefix(pkg, layer.pkg+"/") {
			continue
		}
		for _, allowed := range layer.may {
			if tree, ok := strings.CutSuffix(allowed, "/..."); ok && strings.HasPrefix(imported+"/", tree+"/") || imported == allowed {
				return ""
			}
		}
		return layer.why
	}
	return "it stands in no layer; add it to the table"
}

func TestForbiddenImportsAreSeen(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		ok            bool
	}{
		{"termic/app/ctl", "termic/registry", true},
		{"termic/app/ctl", "termic/app/task", false},
		{"termic/mcpserver", "termic/app", false},
		{"termic/registry", "termic/app/task", false},
		{"termic/sandbox/stage", "termic/sandbox/seccomp", true},
		{"termic/sandbox/stage", "termic/registry", false},
		{"termic/app/git", "termic/app/task", false},
		{"termic/other", "termic/registry", false},
	} {
		if got := forbidden(c.pkg, c.imported) == ""; got != c.ok {
			t.Errorf("%s imports %s: allowed %v, want %v", c.pkg, c.imported, got, c.ok)
		}
	}
}
