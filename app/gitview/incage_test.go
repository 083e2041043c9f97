//go:build unix

package gitview

import (
	"strings"
	"testing"
)

// inCageCommand is one git command of an agent.
type inCageCommand struct {
	args   string
	refuse string // part of the message, where git has to refuse
}

// everyCommand are the commands that git.md of the design lists; what they write lies in the directory top.
func everyCommand(top string) []inCageCommand {
	return []inCageCommand{
		{args: "status"}, {args: "log --oneline --all --graph"}, {args: "revert --no-edit HEAD"}, {args: "branch side"}, {args: "switch -q side"},
		{args: "commit -q --allow-empty -m side"}, {args: "commit -q --amend --allow-empty -m amended"}, {args: "switch -q task"},
		{args: "merge -q --no-ff -m merged side"}, {args: "rebase -q --onto HEAD~1 HEAD~1"}, {args: "rebase -q -i HEAD~1"},
		{args: "branch -m side renamed"}, {args: "branch -D renamed"}, {args: "tag t"}, {args: "tag -a -m x ta"}, {args: "tag -d t"},
		{args: "cherry-pick --allow-empty --keep-redundant-commits main"}, {args: "reset -q --hard HEAD~1"},
		{args: "restore a.txt"}, {args: "stash -q -u"}, {args: "notes add -m x"}, {args: "reflog"}, {args: "describe --always"}, {args: "blame a.txt"},
		{args: "grep one"}, {args: "archive -o /dev/null HEAD"}, {args: "format-patch -o " + top + " -1"}, {args: "bundle create " + top + "/b HEAD"},
		{args: "config a.b c"}, {args: "remote add origin https://example.invalid/x"}, {args: "remote remove origin"},
		{args: "bisect start"}, {args: "bisect reset"}, {args: "worktree add -q " + top + "/cw"}, {args: "worktree remove " + top + "/cw"},
		{args: "sparse-checkout set d"}, {args: "sparse-checkout disable"}, {args: "submodule init"}, {args: "commit-graph write --reachable"},
		{args: "pack-refs --all"}, {args: "repack -adlq"}, {args: "multi-pack-index write"}, {args: "prune"}, {args: "gc -q --prune=now"},
		{args: "maintenance run --quiet"}, {args: "fsck"}, {args: "init -q " + top + "/in"}, {args: "clone -q . " + top + "/cl"}, {args: "bundle verify -q " + top + "/b"}, {args: "diff main task"}, {args: "show v1"},
		{args: "switch -q -c conflict main"}, {args: "fetch ../nowhere", refuse: "does not appear to be a git repository"},
	}
}

// Everything that an agent does with git works on the private directory (git.md of the design lists it), and leaves
// the project's refs and the person's view alone.
func TestGitWorksInTheCage(t *testing.T) {
	r := newRig(t)
	before := r.host("for-each-ref")
	r.commit("two.txt", "2\n")
	for _, c := range everyCommand(r.top) {
		if strings.HasPrefix(c.args, "stash") {
			r.write(r.file("a.txt"), "stashed\n")
		}
		out, err := r.tryCage(strings.Fields(c.args)...)
		if (err != nil) != (c.refuse != "") || !strings.Contains(out, c.refuse) {
			t.Errorf("git %s: %v\n%s", c.args, err, out)
		}
	}
	if r.host("for-each-ref") != before {
		t.Error("the project's refs changed")
	}
	r.gc()
	r.intact()
}
