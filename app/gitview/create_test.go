//go:build unix

package gitview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/app/git"
)

func TestCreatedViewIsCleanAndWhole(t *testing.T) {
	r := newRig(t)
	for _, where := range []func() string{
		func() string { return r.cage("status", "--porcelain") },
		func() string { return r.hostAt(r.task.Dir, "status", "--porcelain") },
	} {
		if out := where(); out != "" {
			t.Errorf("status: %s", out)
		}
	}
	if got := r.cage("for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/heads/task\nrefs/tags/light\nrefs/tags/v1" {
		t.Errorf("refs of the cage:\n%s", got)
	}
	if got := r.cage("log", "--format=%s"); got != "first" {
		t.Errorf("log: %s", got)
	}
	if r.view.GitFile != "gitdir: "+r.private+"\n" || !slices.Equal(r.view.Objects, []string{filepath.Join(r.project, ".git/objects")}) {
		t.Errorf("view: %+v", r.view)
	}
	r.intact()
}

func TestConfigIsAnAllowList(t *testing.T) {
	r := newProject(t, func(r *rig) {
		for _, kv := range [][2]string{
			{"core.autocrlf", "input"}, {"user.name", `A "quoted" \ name`}, {"remote.origin.url", "https://me:s3cret@example.org/p.git?token=s3cret"},
			{"remote.ssh.url", "ssh://git:s3cret@example.org/p.git"}, {"remote.scp.url", "git@example.org:p.git"}, {"remote.helper.url", "ext::sh -c s3cret"},
			{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}, {"remote.origin.pushurl", "https://s3cret@example.org/p"},
			{"remote.origin.uploadpack", "s3cret"}, {"branch.task.remote", "origin"}, {"branch.task.merge", "refs/heads/main"}, {"branch.other.remote", "s3cret"},
			{"submodule.a.b.url", "https://u:s3cret@example.org/s"}, {"submodule.a.b.update", "!s3cret"},
			{"core.hooksPath", "s3cret"}, {"core.fsmonitor", "s3cret"}, {"core.sshCommand", "s3cret"}, {"core.editor", "s3cret"}, {"core.gitProxy", "s3cret"},
			{"credential.helper", "s3cret"}, {"url.https://s3cret@example.org/.insteadOf", "x:"}, {"http.extraHeader", "s3cret"}, {"http.https://a.example.extraHeader", "s3cret"},
			{"alias.st", "!s3cret"}, {"filter.lfs.clean", "s3cret"}, {"filter.lfs.process", "s3cret"}, {"diff.x.textconv", "s3cret"}, {"merge.x.driver", "s3cret"},
			{"include.path", "s3cret"}, {"commit.gpgsign", "false"},
		} {
			r.host("config", kv[0], kv[1])
		}
	})
	r.create(Options{BaseBranch: "main"})
	text, err := os.ReadFile(filepath.Join(r.private, "config"))
	must(t, err)
	if strings.Contains(string(text), "s3cret") {
		t.Errorf("a secret or a program came along:\n%s", text)
	}
	for key, want := range map[string]string{
		"core.autocrlf": "input", "user.name": `A "quoted" \ name`, "user.email": "person@example.org", "remote.origin.url": "https://example.org/p.git",
		"remote.ssh.url": "ssh://git@example.org/p.git", "remote.scp.url": "git@example.org:p.git", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
		"branch.task.merge": "refs/heads/main", "submodule.a.b.url": "https://example.org/s", "filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.required": "true",
		"core.logallrefupdates": "true", "gc.autodetach": "false", "core.bare": "false",
	} {
		if got := r.cage("config", "--get", key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(r *rig)
		o     Options
		want  error
	}{
		"nothing is wrong":    {nil, Options{}, nil},
		"no lock":             {spoil: func(r *rig) { r.host("worktree", "unlock", r.task.Dir) }, want: ErrBadTask},
		"the main worktree":   {spoil: func(r *rig) { r.task.Dir = r.project }, want: ErrBadTask},
		"no worktree":         {spoil: func(r *rig) { r.task.Dir = r.top }, want: ErrBadTask},
		"a bad id":            {spoil: func(r *rig) { r.task.ID = "../x" }, want: ErrBadTask},
		"another branch":      {spoil: func(r *rig) { r.hostAt(r.task.Dir, "switch", "-q", "-c", "other") }, want: ErrBadTask},
		"a detached HEAD":     {spoil: func(r *rig) { r.hostAt(r.task.Dir, "checkout", "-q", "--detach") }, want: git.ErrUnsupported},
		"an unborn branch":    {spoil: func(r *rig) { r.hostAt(r.task.Dir, "switch", "-q", "--orphan", "new") }, want: git.ErrUnsupported},
		"it is there already": {spoil: func(r *rig) { must(r.t, os.MkdirAll(r.private, 0o700)) }, want: ErrExists},
		"a line break":        {spoil: func(r *rig) { r.private += "\nx" }, want: git.ErrUnsupported},
		"a relative path":     {spoil: func(r *rig) { r.private = "x" }, want: git.ErrUnsupported},
		"no such ref":         {o: Options{Refs: []string{"refs/heads/absent"}}, want: git.ErrRefNotFound},
		"no such base":        {o: Options{BaseBranch: "absent"}, want: git.ErrRefNotFound},
		"a filter that files use": {spoil: func(r *rig) {
			r.host("config", "filter.crypt.clean", "rot13")
			r.write(filepath.Join(r.project, ".git/info/attributes"), "*.txt filter=crypt\n")
		}, want: git.ErrUnsupported},
		"a filter that no file uses":   {spoil: func(r *rig) { r.host("config", "filter.crypt.clean", "rot13") }},
		"a parent that cannot be made": {spoil: func(r *rig) { r.write(filepath.Join(r.top, "f"), ""); r.private = filepath.Join(r.top, "f", "p") }, want: fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := newProject(t)
			if c.spoil != nil {
				c.spoil(r)
			}
			before := r.host("for-each-ref")
			_, err := r.task.Create(t.Context(), r.private, c.o)
			if c.want == fs.ErrInvalid { // any error will do
				if err == nil {
					t.Error("no error")
				}
			} else if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err != nil && r.host("for-each-ref") != before {
				t.Error("a refused Create left pins")
			}
			if left, _ := filepath.Glob(r.private + ".half*"); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// What is copied stays whole whatever the project does to it; the twin without pins is broken by the same acts.
func TestProjectMayForgetWhatTheCageBorrows(t *testing.T) {
	for _, pinned := range []bool{true, false} {
		t.Run(fmt.Sprint("pinned ", pinned), func(t *testing.T) {
			r := newProject(t)
			r.host("switch", "-q", "-c", "gone")
			r.host("commit", "-q", "--allow-empty", "-m", "only here")
			r.host("tag", "-a", "-m", "x", "gone-tag")
			r.host("switch", "-q", "main")
			r.create(Options{BaseBranch: "main", Refs: []string{"refs/heads/gone"}})
			r.commit("new.txt", "agent\n")
			if !pinned {
				must(t, r.task.Repo.DropPins(t.Context(), r.task.ID))
			}
			r.host("branch", "-q", "-D", "gone")
			r.host("tag", "-d", "gone-tag", "v1", "light")
			r.gc()
			out, err := r.tryCage("gc", "-q", "--prune=now")
			if pinned != (err == nil) {
				t.Errorf("pinned %v: gc in the cage: %v\n%s", pinned, err, out)
			}
			if pinned {
				r.intact()
				if got := r.cage("log", "-1", "--format=%s", "gone"); got != "only here" {
					t.Errorf("gone: %s", got)
				}
			}
		})
	}
}

func TestCreateInEveryKindOfProject(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) *rig{
		"space, colon and quote": func(t *testing.T) *rig {
			r := newProject(t)
			r.private = filepath.Join(r.top, `it's: "a" dir`, "p")
			return r
		},
		"sha256": func(t *testing.T) *rig {
			return newProject(t, func(r *rig) {
				must(t, os.RemoveAll(filepath.Join(r.project, ".git")))
				r.host("init", "-q", "--template=", "--object-format=sha256")
			})
		},
		"shallow": func(t *testing.T) *rig { return cloned(t, "--depth=1") },
		"partial": func(t *testing.T) *rig { return cloned(t, "--filter=blob:none") },
		"shared":  func(t *testing.T) *rig { return cloned(t, "--shared") },
		"with a submodule": func(t *testing.T) *rig {
			return newProject(t, func(r *rig) {
				sub := filepath.Join(r.project, "sub")
				must(t, os.MkdirAll(sub, 0o755))
				r.hostAt(sub, "init", "-q", "--template=")
				r.hostAt(sub, "commit", "-q", "--allow-empty", "-m", "x")
			})
		},
		"a submodule": func(t *testing.T) *rig {
			r := newProject(t)
			parent := filepath.Join(r.top, "parent")
			must(t, os.MkdirAll(parent, 0o755))
			r.hostAt(parent, "init", "-q", "--template=")
			r.hostAt(parent, "submodule", "--quiet", "add", r.project, "sub")
			return r.rebase(filepath.Join(parent, "sub"))
		},
		"opened through a linked worktree": func(t *testing.T) *rig {
			r := newProject(t)
			r.host("worktree", "add", "-q", "-b", "w", filepath.Join(r.top, "w"))
			return r.rebase(filepath.Join(r.top, "w"))
		},
		"sparse": func(t *testing.T) *rig {
			r := newProject(t)
			r.hostAt(r.task.Dir, "sparse-checkout", "set", "d")
			return r
		},
		"split index": func(t *testing.T) *rig {
			r := newProject(t)
			r.hostAt(r.task.Dir, "update-index", "--split-index")
			return r
		},
		"sparse index": func(t *testing.T) *rig {
			r := newProject(t)
			r.hostAt(r.task.Dir, "sparse-checkout", "set", "--sparse-index", "d")
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := make(t)
			r.create(Options{BaseBranch: "main"})
			if out := r.cage("status", "--porcelain"); out != "" {
				t.Errorf("status: %s", out)
			}
			r.cage("log", "--format=%H")
			tip := r.commit("d/new.txt", "agent\n")
			got := r.importTip(tip)
			if got.Outcome != Moved {
				t.Errorf("outcome %v", got.Outcome)
			}
			for view, out := range map[string]string{"cage": r.cage("status", "--porcelain"), "host": r.hostAt(r.task.Dir, "status", "--porcelain")} {
				if out != "" {
					t.Errorf("status of the %s: %s", view, out)
				}
			}
			if r.oid(r.task.Branch) != tip {
				t.Error("the branch did not follow")
			}
		})
	}
}

// cloned makes a rig whose project is a clone of a project with two commits.
func cloned(t *testing.T, how string) *rig {
	r := newProject(t)
	r.write(filepath.Join(r.project, "a.txt"), "second\n")
	r.host("config", "uploadpack.allowFilter", "true")
	r.host("commit", "-q", "-a", "-m", "second")
	clone := filepath.Join(r.top, "clone")
	r.host("clone", "-q", "--template=", how, "file://"+r.project, clone)
	if how == "--shared" {
		must(t, os.RemoveAll(clone))
		r.host("clone", "-q", "--template=", how, r.project, clone)
	}
	return r.rebase(clone)
}

// rebase makes the repository at dir the project, with a task in it.
func (r *rig) rebase(dir string) *rig {
	r.t.Helper()
	g, err := found()
	must(r.t, err)
	repo, err := g.Open(r.t.Context(), dir)
	must(r.t, err)
	r.project = dir
	r.task = Task{Repo: repo, ID: "t2", Dir: filepath.Join(r.top, "checkout2"), Branch: "task2", Private: r.private}
	must(r.t, repo.AddWorktree(r.t.Context(), git.AddOptions{Dir: r.task.Dir, Branch: "task2", Base: r.oid("main")}))
	return r
}

func TestCreateAgainKeepsEarlierPins(t *testing.T) {
	r := newRig(t)
	first := r.commit("new.txt", "agent\n")
	r.importTip(first)
	must(t, os.RemoveAll(r.private))
	r.create(Options{BaseBranch: "main"})
	r.host("update-ref", "-d", "refs/tags/v1")
	r.gc()
	r.intact()
	if out := r.cage("status", "--porcelain"); out != "" || r.cageOID("HEAD") != first {
		t.Errorf("status: %s", out)
	}
	second := r.commit("new.txt", "again\n")
	if got := r.importTip(second); got.Outcome != Moved {
		t.Errorf("outcome %v", got.Outcome)
	}
}

func TestCreateStopsWithItsCaller(t *testing.T) {
	r := newProject(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.task.Create(ctx, r.private, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(r.private); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is there")
	}
}
