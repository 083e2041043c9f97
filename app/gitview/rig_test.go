//go:build unix

package gitview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"termic/app/git"
	"termic/sandbox/cagetest"
)

// rig is one project of a person, one caged task in it, and the agent in that task's cage: the agent's git runs on
// the private directory, as it would behind the mount over .git.
type rig struct {
	t       *testing.T
	top     string
	project string
	task    Task
	private string
	marker  string // exists when something that the agent planted ran outside
	view    *View
}

// found is git as the app finds it once, in the environment that TestMain made.
var found = sync.OnceValues(func() (*git.Git, error) { return git.Find(context.Background()) })

// TestMain gives all tests one empty home with a git identity, so that they can run side by side.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		home, err := os.MkdirTemp("", "gitview")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(home)
		for _, kv := range os.Environ() {
			if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") || name == "XDG_CONFIG_HOME" {
				os.Unsetenv(name)
			}
		}
		// The go command builds what cages need; it finds its caches by the home that it no longer sees.
		for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
			if dir, err := exec.Command("go", "env", name).Output(); err == nil {
				os.Setenv(name, strings.TrimSpace(string(dir)))
			}
		}
		os.Setenv("HOME", home)
		config := "[user]\n\tname = A Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n"
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			panic(err)
		}
		return cagetest.Run(m)
	}())
}

// newRig makes a project with some files and tags, and a task at branch "task". before may change the project first.
func newRig(t *testing.T, before ...func(r *rig)) *rig {
	t.Helper()
	r := newProject(t, before...)
	r.create(Options{BaseBranch: "main"})
	return r
}

func newProject(t *testing.T, before ...func(r *rig)) *rig {
	t.Helper()
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r := &rig{t: t, top: top, project: filepath.Join(top, "project"), private: filepath.Join(top, "data", "private"), marker: filepath.Join(top, "MARKER")}
	for _, d := range []string{"cagehome", "project"} {
		must(t, os.MkdirAll(filepath.Join(top, d), 0o755))
	}
	r.host("init", "-q", "--template=")
	for _, f := range []string{"a.txt", "b.txt", "d/c.txt", ".gitignore"} {
		r.write(filepath.Join(r.project, f), "one\ntwo\nthree\n")
	}
	for _, f := range before {
		f(r)
	}
	r.host("add", "-A")
	r.host("commit", "-q", "-m", "first")
	r.host("tag", "light")
	r.host("tag", "-a", "-m", "a tag", "v1")
	g, err := found()
	must(t, err)
	repo, err := g.Open(t.Context(), r.project)
	must(t, err)
	r.task = Task{Repo: repo, ID: "t1", Dir: filepath.Join(top, "checkout"), Branch: "task", Private: r.private}
	must(t, repo.AddWorktree(t.Context(), git.AddOptions{Dir: r.task.Dir, Branch: "task", Base: r.oid("main")}))
	return r
}

func (r *rig) create(o Options) {
	r.t.Helper()
	v, err := r.task.Create(r.t.Context(), r.private, o)
	must(r.t, err)
	r.view = v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) write(path, text string) {
	r.t.Helper()
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(r.t, os.WriteFile(path, []byte(text), 0o644))
}

// file is a path in the checkout.
func (r *rig) file(name string) string { return filepath.Join(r.task.Dir, name) }

func (r *rig) run(dir string, env []string, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=file"}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// hostAt runs the person's git.
func (r *rig) hostAt(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.run(dir, []string{"HOME=" + os.Getenv("HOME")}, "", args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *rig) host(args ...string) string { r.t.Helper(); return r.hostAt(r.project, args...) }

func (r *rig) cageEnv() []string {
	return []string{"HOME=" + filepath.Join(r.top, "cagehome"), "GIT_DIR=" + r.private, "GIT_WORK_TREE=" + r.task.Dir}
}

func (r *rig) tryCage(args ...string) (string, error) {
	env := r.cageEnv()
	if args[0] == "clone" { // it takes a work tree that is named for the one to make; in a cage none is named
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "GIT_WORK_TREE=") })
	}
	return r.run(r.task.Dir, env, "", args...)
}

// cage runs the agent's git.
func (r *rig) cage(args ...string) string {
	r.t.Helper()
	out, err := r.tryCage(args...)
	if err != nil {
		r.t.Fatalf("in the cage: git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// inCage is the runner of a cage that is none: the agent's git on the private directory.
func (r *rig) inCage(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.task.Dir, append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, r.cageEnv()...)
	cmd.Stdin, cmd.Stdout = stdin, stdout
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, &stderr)
	}
	return nil
}

func (r *rig) sync() *Synced {
	r.t.Helper()
	got, err := r.task.Sync(r.t.Context(), r.inCage, Limits{})
	must(r.t, err)
	return got
}

// commit makes a commit of the agent with one changed file.
func (r *rig) commit(name, text string) git.OID {
	r.t.Helper()
	r.write(r.file(name), text)
	r.cage("add", "-f", "--", name)
	r.cage("commit", "-q", "-m", "change "+name)
	return r.cageOID("HEAD")
}

func (r *rig) oid(rev string) git.OID     { r.t.Helper(); return git.OID(r.host("rev-parse", rev)) }
func (r *rig) cageOID(rev string) git.OID { r.t.Helper(); return git.OID(r.cage("rev-parse", rev)) }

// gc is what the person's git may do at any moment.
func (r *rig) gc() {
	r.t.Helper()
	r.host("reflog", "expire", "--expire=now", "--all")
	r.host("gc", "-q", "--prune=now")
}

// intact fails unless both views are whole.
func (r *rig) intact() {
	r.t.Helper()
	for view, out := range map[string]string{"project": r.host("fsck", "--full"), "cage": r.cage("fsck", "--full")} {
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "dangling") && !strings.HasPrefix(line, "notice") {
				r.t.Errorf("fsck of the %s: %s", view, line)
			}
		}
	}
}
