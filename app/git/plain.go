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

// checkOutPlain writes the files of a commit that the person need not trust. It goes through a git directory of ours
// and not the person's configuration: a filter there may name a script that the commit itself brought (measured: a
// smudge filter did run). Line endings are converted as the person has it; what a filter would have written stays as
// git stores it, large files as their pointers; nothing is fetched.
func (r *Repo) checkOutPlain(ctx context.Context, p addPlan, w linked) error {
	v := view{dir: w.dir, gitDir: w.record}
	cfg, err := r.effectiveConfig(ctx, v)
	if err != nil {
		return err
	}
	sc, err := r.bareScratch(r.git.inherited["TMPDIR"], p.head, asPerson, cfg)
	if err != nil {
		return err
	}
	defer sc.remove()
	sc.work = w.dir
	if err := r.plainInfo(ctx, sc, w); err != nil {
		return err
	}
	c := call{timeout: checkoutTimeout, config: []string{"checkout.workers=0"}, args: []string{"read-tree", "--reset", "-u", string(p.head)}, say: p.say}
	if p.say != nil {
		c.args = []string{"read-tree", "--reset", "-u", "-v", string(p.head)}
	}
	_, err = sc.run(ctx, c)
	if err != nil {
		return fmt.Errorf("check out %s without filters: %w", p.head, whyUnwritten(err, w))
	}
	// As git writes it: a lock that others see, then a rename. It was made where the files are, so their stamps are right.
	lock := filepath.Join(w.record, "index.lock")
	if err := copyFile(filepath.Join(sc.dir, "index"), lock); err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return os.Rename(lock, filepath.Join(w.record, "index"))
}

// plainInfo gives the stand-in the project's attributes and the record's sparse patterns, if those are in use.
func (r *Repo) plainInfo(ctx context.Context, sc *scratch, w linked) error {
	files := [][2]string{{filepath.Join(r.CommonDir, "info", "attributes"), "info/attributes"}}
	out, err := r.git.run(ctx, call{gitDir: w.record, limit: 4 << 10, args: []string{"config", "--type=bool", "--get", "core.sparseCheckout"}})
	if err != nil && exitCode(err) != 1 {
		return fmt.Errorf("read core.sparseCheckout: %w", err)
	}
	if strings.TrimSpace(string(out)) == "true" {
		files = append(files, [2]string{filepath.Join(w.record, "info", "sparse-checkout"), "info/sparse-checkout"})
	}
	for _, f := range files {
		data, err := readSmall(f[0], 16<<20)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(sc.dir, f[1]), data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", f[1], err)
		}
	}
	return nil
}

// Holders returns the branches, remote-tracking branches and tags that have the commit in their history, by full
// name, and "HEAD" when the main worktree has it checked out or in its history.
func (r *Repo) Holders(ctx context.Context, commit OID) ([]string, error) {
	if !commit.Valid() {
		return nil, fmt.Errorf("commit %q: %w", clip(string(commit), 80), ErrBadRef)
	}
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"for-each-ref", "--contains=" + string(commit), "--format=%(refname)",
		"refs/heads", "refs/remotes", "refs/tags"}})
	if err != nil {
		return nil, fmt.Errorf("list what holds %s: %w", commit, err)
	}
	list := strings.Fields(string(out))
	head, err := r.readMainHead(ctx)
	if err != nil || head == "" {
		return list, err
	}
	held, err := r.IsAncestor(ctx, commit, head)
	if held {
		list = append(list, "HEAD")
	}
	return list, err
}

// readMainHead returns the commit of the main worktree, "" when its branch has none.
func (r *Repo) readMainHead(ctx context.Context) (OID, error) {
	list, err := r.Worktrees(ctx)
	if err != nil {
		return "", err
	}
	return list[0].Head, nil // the main one is first, and always there
}
