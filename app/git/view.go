package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// view is one checkout of the repository, main or linked.
type view struct {
	dir    string // top level, links resolved
	gitDir string // its own git directory: HEAD, index, reflog
	head   head
}

// head is where HEAD is: on a branch (perhaps without a commit yet) or detached.
type head struct {
	oid    OID    // "" when the branch has no commit
	branch string // "" when detached
}

// view opens the checkout at dir. A directory that is not the top level of a
// checkout of this repository is ErrNotWorktree, also when it lies inside one:
// a lost .git file must not turn a question about a task into one about its parent. Where nothing is, it is ErrNoCheckout.
func (r *Repo) view(ctx context.Context, dir string) (view, error) {
	dir, err := cleanPath(dir)
	if err != nil {
		return view{}, err
	}
	// A linked worktree is found through its record, and git discovers nothing: whoever may write in the checkout could
	// have put another repository in the place of its .git file.
	real := realPath(dir)
	if !exists(real) {
		return view{}, ErrNoCheckout
	}
	if real != realPath(r.Root) {
		record, err := r.linkedDir(real)
		if err != nil {
			return view{}, fmt.Errorf("%w: %w", ErrNotWorktree, err)
		}
		v := view{dir: real, gitDir: record}
		v.head, err = r.readHead(ctx, record)
		return v, err
	}
	p, at, err := r.git.discoverMore(ctx, dir, 2, headArgs...)
	if err != nil {
		return view{}, err
	}
	if p.common != r.CommonDir || p.top == "" || realPath(p.top) != realPath(dir) {
		return view{}, ErrNotWorktree
	}
	v := view{dir: realPath(dir), gitDir: p.gitDir}
	if at == nil { // no commit yet, or something is wrong
		v.head, err = r.readHead(ctx, p.gitDir)
		return v, err
	}
	v.head, err = parseHead(at)
	return v, err
}

// parseHead reads what rev-parse says for headArgs: two lines.
func parseHead(lines []string) (head, error) {
	if len(lines) != 2 || !OID(lines[0]).Valid() {
		return head{}, fmt.Errorf("read HEAD: unexpected answer %q", lines)
	}
	h := head{oid: OID(lines[0])}
	if lines[1] != "HEAD" {
		branch, ok := strings.CutPrefix(lines[1], "refs/heads/")
		if !ok {
			return head{}, fmt.Errorf("HEAD is at %q: %w", lines[1], ErrUnsupported)
		}
		h.branch = branch
	}
	return h, nil
}

// headArgs ask for the commit and then for the branch, "HEAD" when detached.
var headArgs = []string{"HEAD^{commit}", "--symbolic-full-name", "HEAD"}

// readHead reads HEAD of one git directory. A branch that is there and cannot be
// read is an error, not a branch without commits.
func (r *Repo) readHead(ctx context.Context, gitDir string) (head, error) {
	out, err := r.git.run(ctx, call{gitDir: gitDir, limit: 8 << 10, args: append([]string{"rev-parse"}, headArgs...)})
	if err == nil {
		return parseHead(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
	}
	if !stderrHas(err, "unknown revision") { // what git says where HEAD has no commit
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	var h head
	out, err = r.git.run(ctx, call{gitDir: gitDir, limit: 8 << 10, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	switch {
	case err == nil:
		ref := strings.TrimSuffix(string(out), "\n")
		branch, ok := strings.CutPrefix(ref, "refs/heads/")
		if !ok {
			return head{}, fmt.Errorf("HEAD is at %q: %w", ref, ErrUnsupported)
		}
		h.branch = branch
	case exitCode(err) != 1: // 1: detached
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	out, err = r.git.run(ctx, call{gitDir: gitDir, limit: 8 << 10, args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	switch {
	case err == nil:
		h.oid = OID(strings.TrimSuffix(string(out), "\n"))
		if !h.oid.Valid() {
			return head{}, fmt.Errorf("read HEAD: unexpected answer %q", clip(string(out), 80))
		}
		return h, nil
	case exitCode(err) != 1 || h.branch == "":
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	oid, err := r.readRef(ctx, "refs/heads/"+h.branch)
	if err != nil {
		return head{}, err
	}
	if oid != "" || exists(filepath.Join(r.CommonDir, "refs", "heads", h.branch)) {
		return head{}, fmt.Errorf("read HEAD: branch %q cannot be read", h.branch)
	}
	return h, nil
}

// operations maps files of a checkout's git directory to the operation that git
// has left unfinished there, in the order in which `git status` looks.
var operations = []struct{ file, name string }{
	{"rebase-apply/applying", "am"},
	{"rebase-apply", "rebase"},
	{"rebase-merge", "rebase"},
	{"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"},
	{"sequencer", "cherry-pick"},
	{"BISECT_LOG", "bisect"},
}

// inProgress returns the name of the unfinished operation, "" when there is none.
func (v view) inProgress() (string, error) {
	return Unfinished(func(name string) (bool, error) {
		_, err := os.Lstat(filepath.Join(v.gitDir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}

// Unfinished returns the name of the operation that git has left unfinished in a checkout, "" for none. there tells whether
// its git directory has a file of that name.
func Unfinished(there func(name string) (bool, error)) (string, error) {
	for _, op := range operations {
		found, err := there(op.file)
		if err != nil {
			return "", err
		}
		if found {
			return op.name, nil
		}
	}
	return "", nil
}
