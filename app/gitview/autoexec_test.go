//go:build unix

package gitview

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAutoExecFinds(t *testing.T) {
	base := func(r *rig) {
		for _, f := range []string{".vscode/settings.json", ".claude/settings.json", ".github/workflows/ci.yml", ".envrc", "hooks/pre-commit", "d/.mcp.json"} {
			r.write(filepath.Join(r.project, f), "base\n")
		}
		r.host("config", "core.hooksPath", "hooks")
	}
	r := newRig(t, base)
	link := func(to, at string) func(r *rig) {
		return func(r *rig) {
			must(r.t, os.RemoveAll(r.file(at)))
			must(r.t, os.Symlink(to, r.file(at)))
		}
	}
	write := func(at string) func(r *rig) { return func(r *rig) { r.write(r.file(at), "agent\n") } }
	for name, c := range map[string]struct {
		do   func(r *rig)
		want string // "path kind", one a line
	}{
		"nothing was done":                {func(r *rig) {}, ""},
		"an ordinary file":                {write("d/x.sh"), ""},
		"the same bytes again":            {func(r *rig) { r.write(r.file(".envrc"), "base\n") }, ""},
		"a file is gone":                  {func(r *rig) { must(r.t, os.Remove(r.file(".envrc"))) }, ""},
		"a changed file":                  {write(".envrc"), ".envrc changed"},
		"a new file in a known directory": {write(".vscode/tasks.json"), ".vscode/tasks.json new"},
		"a new file deep below":           {write("d/e/f/.vscode/tasks.json"), "d/e/f/.vscode/tasks.json new"},
		"another case":                    {write(".VSCode/tasks.json"), ".VSCode/tasks.json new"},
		"a hook of the project":           {write("hooks/post-checkout"), "hooks/post-checkout new"},
		"a workflow":                      {write(".github/workflows/ci.yml"), ".github/workflows/ci.yml changed"},
		"a workflow where none counts":    {write("d/.github/workflows/ci.yml"), ""},
		"an agent's hook":                 {write(".claude/hooks/x"), ".claude/hooks/x new"},
		"an agent's local settings":       {write(".claude/settings.local.json"), ".claude/settings.local.json new"},
		"an agent's notes":                {write(".claude/notes.md"), ""},
		"submodules":                      {write(".gitmodules"), ".gitmodules new"},
		"a nested repository":             {write("d/sub/.git/config"), "d/sub/.git nested-git"},
		"a nested .git file":              {write("d/sub/.git"), "d/sub/.git nested-git"},
		"a nested .GIT":                   {write("d/sub/.GIT/config"), "d/sub/.GIT nested-git"},
		"a nested .git link":              {link("/etc", "d/.git"), "d/.git nested-git"},
		"a bare repository":               {func(r *rig) { r.hostAt(r.task.Dir, "init", "-q", "--bare", "d/b") }, "d/b bare-git"},
		"a link for a directory":          {link("d", ".cursor"), ".cursor link"},
		"a link for .claude":              {link("d", ".claude"), ".claude link"},
		"a link for a file":               {link("a.txt", ".envrc"), ".envrc link"},
		"a link to a tree full of them":   {link("../project", "d/project"), ""},
		"a FIFO": {func(r *rig) {
			must(r.t, os.Remove(r.file(".envrc")))
			must(r.t, syscall.Mkfifo(r.file(".envrc"), 0o600))
		}, ".envrc special"},
		"20 GB": {func(r *rig) { must(r.t, os.Truncate(r.file(".envrc"), 20<<30)) }, ".envrc special"},
	} {
		t.Run(name, func(t *testing.T) {
			c.do(r)
			defer func() {
				entries, err := os.ReadDir(r.task.Dir)
				must(t, err)
				for _, e := range entries {
					if e.Name() != ".git" {
						must(t, os.RemoveAll(r.file(e.Name())))
					}
				}
				r.cage("reset", "-q", "--hard")
			}()
			got, err := r.task.AutoExec(t.Context(), r.oid("main"))
			must(t, err)
			var lines []string
			for _, f := range got.Found {
				lines = append(lines, f.Path+" "+string(f.Kind))
			}
			if s := strings.Join(lines, "\n"); s != c.want || len(got.Unseen) > 0 {
				t.Errorf("found %q, want %q; unseen %q", s, c.want, got.Unseen)
			}
		})
	}
}

// A path that is longer than the system takes hides nothing silently.
func TestAutoExecSaysWhatItDidNotSee(t *testing.T) {
	r := newRig(t)
	d, err := os.OpenRoot(r.task.Dir)
	must(t, err)
	name := strings.Repeat("x", 200)
	for range 25 {
		must(t, d.Mkdir(name, 0o700))
		next, err := d.OpenRoot(name)
		must(t, err)
		d.Close()
		d = next
	}
	must(t, d.Mkdir(".git", 0o700))
	d.Close()
	r.write(r.file("d/.git/config"), "x")
	got, err := r.task.AutoExec(t.Context(), r.oid("main"))
	must(t, err)
	if len(got.Unseen) == 0 || len(got.Found) != 1 {
		t.Errorf("%+v", got)
	}
}
