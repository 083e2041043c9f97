package gitview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/app/git"
	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

// caged is a rig whose agent is in a real cage.
type caged struct {
	*rig
	machine *cagetest.Machine
	cage    *launch.Cage
}

func newCaged(t *testing.T, before ...func(r *rig)) *caged {
	t.Helper()
	c := &caged{rig: newRig(t, before...), machine: cagetest.New(t)}
	m, v := c.machine, c.view
	gitFile := filepath.Join(c.top, "data", "gitfile")
	must(t, os.WriteFile(gitFile, []byte(v.GitFile), 0o600))
	m.Home, m.Checkout, m.Data = filepath.Join(c.top, "cagehome"), c.task.Dir, filepath.Join(c.top, "data")
	m.Dirs.Home, m.Dirs.Checkout, m.Dirs.Data = m.Home, m.Checkout, m.Data
	m.Dirs.Own = []profile.Own{
		{Path: v.Private, Source: v.Private, Write: true, Why: "private git directory"},
		{Path: c.file(".git"), Source: gitFile, Why: "the cage's view of git"},
	}
	for _, dir := range v.Objects {
		m.Dirs.Own = append(m.Dirs.Own, profile.Own{Path: dir, Source: dir, Why: "objects"})
	}
	c.cage = m.Start(t, capability.Enforce, capability.Set{})
	c.in("git config user.name Agent; git config user.email agent@example.org")
	return c
}

// try runs a script of the agent in its cage.
func (c *caged) try(script string) cagetest.Outcome {
	c.t.Helper()
	return c.machine.Run(c.t, c.cage, "sh", "-c", script)
}

func (c *caged) in(script string) string {
	c.t.Helper()
	got := c.try("set -e; " + script)
	if got.Code != 0 {
		c.t.Fatalf("in the cage: %s: %+v", script, got)
	}
	return strings.TrimSuffix(got.Output, "\n")
}

// run is the runner that the app has: pipes of the cage.
func (c *caged) run(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	p, err := c.cage.Spawn(ctx, launch.Command{Argv: argv, Env: c.machine.Env(), Dir: c.task.Dir}, inR, outW)
	inR.Close()
	outW.Close()
	if err != nil {
		return err
	}
	go func() {
		io.Copy(inW, stdin) //nolint:errcheck // the program may not read it all
		inW.Close()
	}()
	stop := context.AfterFunc(ctx, func() { p.Signal(syscall.SIGKILL) }) //nolint:errcheck // or it has ended
	defer stop()
	_, err = io.Copy(stdout, outR)
	outR.Close()
	if exit := p.Wait(); err == nil && exit.Code != 0 {
		err = fmt.Errorf("exit %+v", exit)
	}
	return err
}

// asApp is all that the app does with a caged task's git while and after the cage runs, its errors aside: a hostile
// directory may make each of them fail, and may make none of them hang, run or write anything outside. Three seconds
// are more than any of it takes where nothing hangs.
func (c *caged) asApp(large bool) {
	c.t.Helper()
	ctx := c.t.Context()
	for what, do := range map[string]func() error{
		"sync": func() error { _, err := c.task.Sync(ctx, c.run, Limits{Time: 3 * time.Second}); return err },
		"keep": func() error { _, err := c.task.Keep(ctx, c.run, Limits{Time: 3 * time.Second}); return err },
		"open": func() error { _, err := c.task.Open(ctx, c.private); return err },
		"look": func() error { _, err := Fingerprint(c.private); return err },
	} {
		if err := do(); err != nil {
			c.t.Logf("%s: %v", what, err)
		}
	}
	must(c.t, c.cage.Kill())
	_, err := c.task.AutoExec(ctx, c.oid("main"))
	must(c.t, err)
	if _, err := c.task.Repo.Status(ctx, c.task.Dir); err != nil {
		c.t.Errorf("status: %v", err)
	}
	if _, err := c.task.Repo.Diff(ctx, c.task.Dir, c.oid("main"), git.DiffOptions{}); err != nil {
		c.t.Errorf("diff: %v", err)
	}
	if large { // an archive loses nothing, so it reads it all
		return
	}
	if _, err := c.task.Repo.Archive(ctx, git.ArchiveOptions{Dir: c.task.Dir, ID: "t1", Store: filepath.Join(c.top, "store.git"), Branches: []string{"task"}}); err != nil {
		c.t.Logf("archive: %v", err)
	}
}

// asPerson is what a person does in the checkout and in the project, outside any cage.
func (c *caged) asPerson(mayFail bool) {
	c.t.Helper()
	for _, args := range []string{
		"status", "diff", "commit -q --allow-empty -m x", "rebase --continue", "log --all -p", "worktree list", "branch -a", "stash list",
		"checkout -q -- .", "commit -q --allow-empty --amend --no-edit", "switch -q -c person", "gc -q --prune=now",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = c.task.Dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GIT_EDITOR=true", "LC_ALL=C"}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must(c.t, cmd.Start())
		late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) //nolint:errcheck // it may just have ended
		err := cmd.Wait()
		if !late.Stop() {
			c.t.Errorf("git %s hangs", args)
		}
		if err != nil && !mayFail && args != "rebase --continue" && args != "checkout -q -- ." {
			c.t.Errorf("git %s: %v\n%s", args, err, &out)
		}
	}
}

// Each thing that an agent can plant in its git is planted from inside a real cage; then the app and the person do on
// the host what they do. Nothing that was planted runs there or is written through. The twin is the agent's directory
// opened on the host as a repository, which is hit by each of them: that is why there are two views.
func TestPlantedFromInsideACage(t *testing.T) {
	// In the private directory, so that it is there on the host too; outside it the marker can be written.
	const evil = `G=$(git rev-parse --absolute-git-dir); printf '#!/bin/sh\necho ran >> %s\n' "$MARKER" > $G/evil; chmod +x $G/evil; `
	const bareCopy = `mkdir $G/other; cp -r $G/HEAD $G/refs $G/objects $G/config $G/other/; `
	for name, row := range map[string]struct {
		plant string
		twin  string // git arguments
	}{
		"fsmonitor":                 {`git config core.fsmonitor $G/evil`, "status"},
		"fsmonitor by commondir":    {bareCopy + `git config -f $G/other/config core.fsmonitor $G/evil; echo $G/other > $G/commondir`, "status"},
		"a filter by commondir":     {bareCopy + `git config -f $G/other/config filter.x.clean $G/evil; mkdir $G/other/info; echo '* filter=x' > $G/other/info/attributes; echo $G/other > $G/commondir; echo y > a.txt`, "add a.txt"},
		"a filter":                  {`git config filter.x.clean $G/evil; echo '* filter=x' > $G/info/attributes; echo y > a.txt`, "add a.txt"},
		"a filter named by a tree":  {`git config filter.x.clean $G/evil; echo '* filter=x' > .gitattributes; echo y > a.txt`, "diff"},
		"a textconv":                {`git config diff.x.textconv $G/evil; echo '* diff=x' > .gitattributes; echo y > a.txt`, "diff"},
		"an external diff":          {`git config diff.external $G/evil; echo y > a.txt`, "diff"},
		"a pager and an alias":      {`git config alias.status '!'$G/evil; git config core.pager $G/evil; git config alias.x '!'$G/evil`, "x"},
		"hooks":                     {`for h in pre-commit post-commit post-checkout reference-transaction post-index-change; do ln -s ../evil $G/hooks/$h; done`, "commit -q --allow-empty -m x"},
		"hooks by their path":       {`mkdir .husky; cp $G/evil .husky/pre-commit; git config core.hooksPath .husky`, "commit -q --allow-empty -m x"},
		"an exec line of a rebase":  {`mkdir $G/rebase-merge; cd $G/rebase-merge; echo "exec $G/evil" > git-rebase-todo; git rev-parse HEAD > onto; cp onto orig-head; echo refs/heads/task > head-name; touch interactive done; echo 1 > end; echo 0 > msgnum`, "rebase --continue"},
		"a reflog that is a link":   {`rm -rf $G/logs; mkdir $G/logs; ln -s $MARKER $G/logs/HEAD`, "commit -q --allow-empty -m x"},
		"a message that is a link":  {`rm -f $G/COMMIT_EDITMSG; ln -s $MARKER $G/COMMIT_EDITMSG`, "commit -q --allow-empty -m x"},
		"an index that is a link":   {`rm $G/index; ln -s $MARKER $G/index`, "read-tree HEAD"},
		"refs that are a link":      {`ln -s $(dirname $MARKER) $G/refs/heads/x`, "update-ref refs/heads/x/MARKER HEAD"},
		"a submodule's fsmonitor":   {`mkdir -p sub; git init -q sub; git -C sub -c user.name=x -c user.email=x commit -q --allow-empty -m x; git -C sub config core.fsmonitor $G/evil; git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub`, "status"},
		"a promisor with a program": {`git config remote.origin.url $G/x; git config remote.origin.uploadpack $G/evil; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; git update-ref --no-deref refs/heads/main HEAD; B=$(echo gone | git hash-object -w --stdin); git update-index --cacheinfo 100644,$B,a.txt; rm -f $G/objects/$(echo $B | sed 's,^..,&/,')`, "diff --cached"},
		"a FIFO for a ref":          {`mkfifo $G/refs/heads/fifo`, ""},
		"an included FIFO":          {`mkfifo $G/fifo; git config include.path fifo || true`, ""},
		"a FIFO for the index":      {`rm $G/index; mkfifo $G/index`, ""},
		"a FIFO for large files":    {`mkdir $G/lfs; mkfifo $G/lfs/objects`, ""},
		"nothing is left of it":     {`rm -rf $G/* || true`, ""},
		"a file tracked outside":    {`rm a.txt; mkfifo a.txt; rm -rf d; ln -s /etc d`, ""},
		"twenty gigabytes":          {`truncate -s 20G huge; truncate -s 30M b.txt`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaged(t)
			c.in(`echo agent > b.txt; git commit -qam agent`)
			got := c.try(`MARKER=` + c.marker + `; ` + evil + row.plant)
			if got.Code != 0 {
				t.Fatalf("planting: %+v", got)
			}
			if _, err := os.Lstat(c.marker); err == nil {
				t.Fatal("the marker was written from inside the cage")
			}
			c.asApp(name == "twenty gigabytes")
			c.asPersonUnlessSubmodule(name)
			if _, err := os.Lstat(c.marker); err == nil {
				t.Error("the marker is there: something planted ran, or was written through")
			}
			if row.twin == "" {
				return
			}
			c.hostAt(c.task.Dir, "checkout", "-q", "-B", "task") // as far as it can be the same
			os.Remove(c.marker)
			if name == "a textconv" || strings.Contains(row.plant, "> a.txt") {
				c.write(c.file("a.txt"), "dirty\n")
			}
			c.tryCage(strings.Fields(row.twin)...) //nolint:errcheck // what counts is what it did
			if _, err := os.Lstat(c.marker); err != nil {
				t.Error("the planted thing does nothing where the directory is opened: the row tries nothing")
			}
		})
	}
}

// asPersonUnlessSubmodule: plain git of the person enters a submodule's directory, which is documented and shown before
// anything outside starts there (AutoExec). Commits with a new gitlink do not come in, so it is in no index of theirs.
func (c *caged) asPersonUnlessSubmodule(name string) {
	c.t.Helper()
	if name == "a submodule's fsmonitor" {
		found, err := c.task.AutoExec(c.t.Context(), c.oid("main"))
		must(c.t, err)
		if len(found.Found) != 1 || found.Found[0] != (Exec{"sub/.git", NestedGit}) {
			c.t.Errorf("what runs by itself: %+v", found)
		}
	}
	c.asPerson(name == "a file tracked outside") // plain git does not take a FIFO for a file
}

// The same commands in a real cage, and what a cage refuses: the project is not there to be fetched from or pushed to.
func TestGitWorksInACage(t *testing.T) {
	c := newCaged(t)
	before := c.host("for-each-ref")
	c.in("echo 2 > two.txt; git add two.txt; git commit -qm two")
	commands := append(everyCommand("/tmp"),
		inCageCommand{args: "push -q " + c.project + " HEAD:refs/heads/pushed", refuse: "does not appear to be a git repository"},
		inCageCommand{args: "fetch -q " + c.project, refuse: "does not appear to be a git repository"})
	for _, row := range commands {
		script := "git " + row.args
		if strings.HasPrefix(row.args, "stash") {
			script = "echo stashed > a.txt; " + script
		}
		if got := c.try("export GIT_EDITOR=true; " + script); (got.Code != 0) != (row.refuse != "") || !strings.Contains(got.Output, row.refuse) {
			t.Errorf("git %s: %+v", row.args, got)
		}
	}
	c.in("git switch -q task; mkdir .husky2; printf '#!/bin/sh\necho hooked\n' > .husky2/pre-commit; chmod +x .husky2/pre-commit; git config core.hooksPath .husky2")
	if got := c.in("git commit --allow-empty -m hooked 2>&1"); !strings.Contains(got, "hooked\n") {
		t.Errorf("a hook of the agent's does not run: %s", got)
	}
	if c.host("for-each-ref") != before {
		t.Error("the project's refs changed")
	}
	// What holds the view in its place. (Directories above what is bound are the cage's own where they lie in its home or
	// /tmp: an agent that moves them hides its objects from itself.)
	for script, want := range map[string]string{
		"mv .git x":        "Device or resource busy",
		"rm .git":          "Device or resource busy",
		"echo x > .git":    "Read-only file system",
		"ln -sf /tmp .git": "",
		"mv " + c.private + " " + c.private + "2":    "",
		"touch " + c.view.Objects[0] + "/x":          "Read-only file system",
		"mkdir -p " + c.view.Objects[0] + "/info2":   "Read-only file system",
		"mv " + c.view.Objects[0] + " /tmp/o":        "",
		"ls " + c.project + "/.git/config":           "No such file or directory",
		"ls " + filepath.Dir(c.private) + "/gitfile": "No such file or directory",
	} {
		if got := c.try(script); got.Code == 0 || !strings.Contains(got.Output, want) {
			t.Errorf("%s: %+v", script, got)
		}
	}
	got, err := c.task.Sync(t.Context(), c.run, Limits{})
	if err != nil || got.Outcome != Moved || c.oid("task") != got.Tip {
		t.Errorf("%+v, %v", got, err)
	}
	c.gc()
	if out := c.host("fsck", "--full"); strings.Contains(out, "missing") || strings.Contains(out, "broken") {
		t.Error(out)
	}
}
