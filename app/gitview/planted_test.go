//go:build unix

package gitview

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"termic/app/git"
)

// What an agent may plant in its private directory, and what then happens on the host: the app's status, diff,
// import, offer and scan, and the person's own git. Nothing of it may run there or be written through. The twin is
// the same git on the private directory, as if the checkout's .git file led there on the host: it must be hit, or
// the row tries nothing.
func TestPlantedPrivateDirectory(t *testing.T) {
	program := func(r *rig) string {
		p := filepath.Join(r.top, "evil")
		must(r.t, os.WriteFile(p, []byte("#!/bin/sh\necho ran >> "+r.marker+"\ncat\n"), 0o755))
		return p
	}
	private := func(name, text string) func(r *rig) {
		return func(r *rig) { r.write(filepath.Join(r.private, name), text) }
	}
	for name, c := range map[string]struct {
		plant func(r *rig)
		twin  []string // git arguments; nil for a row in which only the host is asked
		dirty bool     // a tracked file has changed
	}{
		"fsmonitor": {plant: func(r *rig) { r.cage("config", "core.fsmonitor", program(r)) }, twin: []string{"status"}},
		"fsmonitor by commondir": {plant: func(r *rig) {
			other := filepath.Join(r.top, "other")
			must(r.t, os.CopyFS(other, os.DirFS(r.private)))
			r.write(filepath.Join(other, "config"), "[core]\n\tbare = false\n\tfsmonitor = "+program(r)+"\n")
			private("commondir", other+"\n")(r)
		}, twin: []string{"status"}},
		"a filter": {plant: func(r *rig) {
			r.cage("config", "filter.x.clean", program(r))
			private("info/attributes", "* filter=x\n")(r)
		}, twin: []string{"add", "a.txt"}, dirty: true},
		"a filter named by the tree": {plant: func(r *rig) {
			r.cage("config", "filter.x.clean", program(r))
			r.write(r.file(".gitattributes"), "* filter=x\n")
		}, twin: []string{"diff"}, dirty: true},
		"an external diff": {plant: func(r *rig) { r.cage("config", "diff.external", program(r)) }, twin: []string{"diff"}, dirty: true},
		"hooks": {plant: func(r *rig) {
			p := program(r)
			for _, h := range []string{"post-commit", "pre-commit", "post-checkout", "reference-transaction", "post-index-change"} {
				must(r.t, os.Symlink(p, filepath.Join(r.private, "hooks", h)))
			}
		}, twin: []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		"an exec line of a rebase": {plant: func(r *rig) {
			p := program(r)
			for f, text := range map[string]string{"git-rebase-todo": "exec " + p + "\n", "onto": string(r.cageOID("HEAD")), "orig-head": string(r.cageOID("HEAD")),
				"head-name": "refs/heads/task\n", "interactive": "", "end": "1", "msgnum": "0", "done": ""} {
				private("rebase-merge/"+f, text)(r)
			}
		}, twin: []string{"rebase", "--continue"}},
		"a reflog that is a link": {plant: func(r *rig) {
			must(r.t, os.RemoveAll(filepath.Join(r.private, "logs")))
			must(r.t, os.MkdirAll(filepath.Join(r.private, "logs"), 0o755))
			must(r.t, os.Symlink(r.marker, filepath.Join(r.private, "logs", "HEAD")))
		}, twin: []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		"a message that is a link": {plant: func(r *rig) {
			os.Remove(filepath.Join(r.private, "COMMIT_EDITMSG"))
			must(r.t, os.Symlink(r.marker, filepath.Join(r.private, "COMMIT_EDITMSG")))
		}, twin: []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		"an index that is a link": {plant: func(r *rig) {
			must(r.t, os.Rename(filepath.Join(r.private, "index"), filepath.Join(r.top, "real")))
			must(r.t, os.Symlink(r.marker, filepath.Join(r.private, "index")))
		}, twin: []string{"read-tree", "HEAD"}},
		"a directory of refs that is a link": {plant: func(r *rig) {
			must(r.t, os.Symlink(r.top, filepath.Join(r.private, "refs", "heads", "x")))
		}, twin: []string{"update-ref", "refs/heads/x/MARKER", "HEAD"}},
		"a FIFO for a ref": {plant: func(r *rig) {
			must(r.t, syscall.Mkfifo(filepath.Join(r.private, "refs", "heads", "fifo"), 0o600))
		}},
		"an included FIFO": {plant: func(r *rig) {
			must(r.t, syscall.Mkfifo(filepath.Join(r.private, "fifo"), 0o600))
			private("config", "[include]\n\tpath = fifo\n")(r)
		}},
		"nothing is left of it": {plant: func(r *rig) { must(r.t, os.RemoveAll(r.private)) }},
		"it is a link to the project": {plant: func(r *rig) {
			must(r.t, os.RemoveAll(r.private))
			must(r.t, os.Symlink(filepath.Join(r.project, ".git"), r.private))
		}},
	} {
		for _, twin := range []bool{false, true} {
			if twin && c.twin == nil {
				continue
			}
			t.Run(name+map[bool]string{false: "", true: ", opened"}[twin], func(t *testing.T) {
				r := newRig(t)
				tip := r.commit("a.txt", "agent\n")
				pack := r.packed(Claim{Tip: tip})
				c.plant(r)
				if c.dirty {
					r.write(r.file("a.txt"), "dirty\n")
				}
				os.Remove(r.marker)
				if twin {
					r.tryCage(c.twin...) //nolint:errcheck // what counts is what it did
					if _, err := os.Lstat(r.marker); err != nil {
						t.Error("the planted thing does nothing where it is opened: the row tries nothing")
					}
					return
				}
				r.useHost(tip, pack)
				if _, err := os.Lstat(r.marker); err == nil {
					t.Error("the marker is there")
				}
			})
		}
	}
}

// useHost is all that the app and the person do on the host with a caged task.
func (r *rig) useHost(tip git.OID, pack []byte) {
	r.t.Helper()
	ctx := r.t.Context()
	got, err := r.task.Import(ctx, bytes.NewReader(pack), Claim{Tip: tip}, Limits{})
	if err != nil || got.Outcome != Moved {
		r.t.Errorf("import: %+v, %v", got, err)
	}
	_, err = r.task.offer(ctx, tip)
	must(r.t, err)
	_, err = r.task.Open(ctx, r.private)
	must(r.t, err)
	Fingerprint(r.private) //nolint:errcheck // what is planted may be an error of it; that nothing runs or hangs is tried
	_, err = r.task.AutoExec(ctx, r.oid("main"))
	must(r.t, err)
	_, err = r.task.Repo.Status(ctx, r.task.Dir)
	must(r.t, err)
	_, err = r.task.Repo.Diff(ctx, r.task.Dir, r.oid("main"), git.DiffOptions{})
	must(r.t, err)
	for _, args := range [][]string{
		{"status"}, {"diff"}, {"commit", "-q", "--allow-empty", "-m", "x"}, {"log", "--all", "-p"}, {"worktree", "list"},
		{"switch", "-q", "-c", "person"}, {"stash", "list"}, {"gc", "-q", "--prune=now"},
	} {
		r.hostAt(r.task.Dir, args...)
	}
}

// Borrowed objects of another repository, named by the agent, do not get into the project.
func TestAlternatesAtAnotherRepository(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(r.top, "other")
	must(t, os.MkdirAll(other, 0o755))
	r.hostAt(other, "init", "-q", "--template=")
	r.write(filepath.Join(other, "secret"), "SECRET\n")
	r.hostAt(other, "add", "-A")
	r.hostAt(other, "commit", "-q", "-m", "x")
	secret := git.OID(r.hostAt(other, "rev-parse", "HEAD:secret"))
	tree := r.treeOf(line("100644", "stolen", secret))
	tip := r.commitOf(tree)
	pack := r.packOf(tip, tree) // the agent cannot read the secret; it only names it
	r.write(filepath.Join(r.private, "objects/info/alternates"), filepath.Join(other, ".git/objects")+"\n"+filepath.Join(r.project, ".git/objects")+"\n")
	if got := r.cage("cat-file", "-p", string(secret)); got != "SECRET" {
		t.Errorf("where the directory is opened the secret can be had, or the test tries nothing: %s", got)
	}
	if _, err := r.task.Import(t.Context(), bytes.NewReader(pack), Claim{Tip: tip}, Limits{}); err == nil {
		t.Error("a commit with a missing blob was taken")
	}
	if out, err := r.run(r.project, nil, "", "cat-file", "-e", string(secret)); err == nil {
		t.Errorf("the secret is in the project: %s", out)
	}
}
