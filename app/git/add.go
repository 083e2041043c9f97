package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// AddOptions say which worktree to make.
type AddOptions struct {
	Dir    string // absolute; must not exist
	Branch string // must not exist
	Base   OID    // the commit to start from
	Reason string // why the worktree is locked, for `git worktree list`
	// Plain checks the files out without any filter, and without fetching: Base is a commit that the person need not
	// trust.
	Plain bool
	// Progress, when set, is told in a few words how far the checkout has come.
	Progress func(text string)
}

const (
	// checkoutTimeout bounds the first checkout: 100,000 files took 29 s on a
	// slow disk, and LFS may download.
	checkoutTimeout = 30 * time.Minute
	// undoTimeout bounds taking back what a failed call made.
	undoTimeout = 2 * time.Minute
	defaultLock = "in use by termic"
)

// AddWorktree makes a locked worktree of a new branch at Base, in a new
// directory that only the person may enter. Missing parents are made, 0700.
// It returns ErrDirExists, ErrBranchExists, ErrBranchConflict, ErrBadRef or
// ErrRefNotFound for what cannot be. On any failure, and when ctx ends, nothing
// is left: no directory, branch, record or lock; should that fail too, the error
// says what is left. Many may run at once: only the registration is serialised.
//
// Unless Plain is set, Base is checked out with the person's configuration (LFS,
// line endings, partial clones): it must be a commit that the person trusts.
func (r *Repo) AddWorktree(ctx context.Context, o AddOptions) error {
	if err := r.git.CheckBranchName(ctx, o.Branch); err != nil {
		return fmt.Errorf("add worktree %s: %w", o.Dir, err)
	}
	plan := addPlan{dir: o.Dir, branch: o.Branch, createAt: o.Base, head: o.Base, reason: o.Reason, plain: o.Plain, say: o.Progress}
	if err := r.add(ctx, plan); err != nil {
		return fmt.Errorf("add worktree %s: %w", o.Dir, err)
	}
	return nil
}

// addPlan is what AddWorktree and Restore have in common.
type addPlan struct {
	dir      string
	branch   string // "" for a detached HEAD
	createAt OID    // create the branch here; "" when it exists
	head     OID    // the commit that the checkout must be at
	reason   string
	orphan   bool     // branch has no commit; head is only where to register
	plain    bool     // without filters
	branches []Branch // more branches to create
	say      func(text string)
	// populate runs after the record exists and before the checkout; fill after it.
	populate, fill func(ctx context.Context, w linked) error
}

// linked is a registered linked worktree.
type linked struct{ dir, record string }

// add carries a plan out, or takes back all of it.
func (r *Repo) add(ctx context.Context, p addPlan) error {
	dir, err := cleanPath(p.dir)
	if err != nil {
		return err
	}
	p.dir = dir
	if p.reason = strings.TrimSpace(p.reason); p.reason == "" {
		p.reason = defaultLock
	}
	if strings.ContainsFunc(p.reason, isControl) {
		return errors.New("reason holds control characters")
	}
	if !p.head.Valid() {
		return fmt.Errorf("base %q: %w", clip(string(p.head), 80), ErrBadRef)
	}
	if _, err := r.Resolve(ctx, string(p.head)); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	u := &undo{repo: r}
	if err := r.addSteps(ctx, p, u); err != nil {
		return errors.Join(err, u.run(ctx))
	}
	return nil
}

func (r *Repo) addSteps(ctx context.Context, p addPlan, u *undo) error {
	w, err := r.register(ctx, p, u)
	if err != nil {
		return err
	}
	if p.populate != nil {
		if err := p.populate(ctx, w); err != nil {
			return err
		}
	}
	if err := r.checkOut(ctx, p, w); err != nil {
		return err
	}
	if p.fill != nil {
		if err := p.fill(ctx, w); err != nil {
			return err
		}
	}
	return r.checkAdded(ctx, p, w)
}

// checkOut writes the files. Every call names the git directory outright: were it
// discovered, a checkout whose .git file vanished would mean the repository
// around it, and the reset would hit the person's own checkout.
func (r *Repo) checkOut(ctx context.Context, p addPlan, w linked) error {
	if p.plain && !p.orphan {
		return r.checkOutPlain(ctx, p, w)
	}
	c := call{gitDir: w.record, workTree: w.dir, write: true, remote: true, timeout: checkoutTimeout,
		config: []string{"checkout.workers=0", "core.splitIndex=false", "core.untrackedCache=false", "submodule.recurse=false"},
		args:   []string{"reset", "--hard", "--quiet", "--no-recurse-submodules"}, say: p.say}
	if p.say != nil {
		c.args = []string{"reset", "--hard", "--no-recurse-submodules"} // it shows its progress unless it is quiet
	}
	if p.orphan {
		c.args = []string{"symbolic-ref", "-m", "restore", "HEAD", "refs/heads/" + p.branch}
	}
	if _, err := r.git.run(ctx, c); err != nil {
		return fmt.Errorf("check out %s: %w", p.head, whyUnwritten(err, w))
	}
	return nil
}

// register makes directory, branch and record under the repository's lock.
func (r *Repo) register(ctx context.Context, p addPlan, u *undo) (linked, error) {
	unlock, err := repoLocks.lock(ctx, r.CommonDir)
	if err != nil {
		return linked{}, err
	}
	defer unlock()
	if p.createAt != "" {
		if err := r.checkFree(ctx, p.branch); err != nil {
			return linked{}, err
		}
	} else if p.branch != "" {
		if err := r.checkUnused(ctx, p.branch); err != nil {
			return linked{}, err
		}
	}
	if err := u.claim(p.dir); err != nil {
		return linked{}, err
	}
	if within(u.dir, r.CommonDir) {
		return linked{}, fmt.Errorf("inside the git directory: %w", ErrBadPath)
	}
	create := p.branches
	if p.createAt != "" {
		create = append([]Branch{{p.branch, p.createAt}}, create...)
	}
	for _, b := range create {
		if err := u.createBranch(ctx, b); err != nil {
			return linked{}, err
		}
	}
	if err := u.remember(p.reason); err != nil {
		return linked{}, err
	}
	args := []string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", p.reason}
	if p.branch == "" || p.orphan {
		args = append(args, "--detach", "--end-of-options", u.dir, string(p.head))
	} else {
		args = append(args, "--end-of-options", u.dir, p.branch)
	}
	err = r.retryLocked(ctx, func() error {
		_, err := r.git.run(ctx, call{at: r.Root, write: true, timeout: time.Minute, args: args,
			config: append([]string{"worktree.useRelativePaths=false", "worktree.guessRemote=false"}, refTimeouts...)})
		return err
	})
	if err != nil {
		return linked{}, err
	}
	record, err := r.linkedDir(u.dir)
	if err != nil {
		return linked{}, err
	}
	return linked{dir: u.dir, record: record}, nil
}

// checkAdded proves that the new worktree is at the planned commit and branch.
func (r *Repo) checkAdded(ctx context.Context, p addPlan, w linked) error {
	h, err := r.readHead(ctx, w.record)
	if err != nil {
		return err
	}
	if h.oid != p.head && !(p.orphan && h.oid == "") || h.branch != p.branch {
		return fmt.Errorf("new worktree is at %q %s, not at %q %s: %w", h.branch, h.oid, p.branch, p.head, ErrRefMoved)
	}
	return nil
}

// undo remembers what a half-made worktree consists of.
type undo struct {
	repo     *Repo
	dir      string      // the directory that we made; "" before
	made     os.FileInfo // its identity
	parents  []string    // parents that we made, outermost first
	branches []Branch    // that we make
	reason   string
	before   map[string]bool // records that existed before; nil until remember
}

// claim makes the directory, which must not exist, and its missing parents.
// The new directory's resolved path is in u.dir afterwards.
func (u *undo) claim(dir string) error {
	parent := filepath.Dir(dir)
	for range 10 { // another failed call may just be removing a parent that it made
		made, err := mkdirs(parent)
		u.parents = append(u.parents, made...)
		if err != nil {
			return fmt.Errorf("make %s: %w", parent, err)
		}
		err = os.Mkdir(dir, 0o700)
		switch {
		case err == nil:
			u.dir = realPath(dir)
			if _, err := cleanPath(u.dir); err != nil {
				return err
			}
			u.made, err = os.Lstat(u.dir)
			return err
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%s: %w", dir, ErrDirExists)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return fmt.Errorf("make %s: %w", dir, fs.ErrNotExist)
}

// mkdirs makes dir and its missing parents, and returns those that it made,
// outermost first, also when it fails.
func mkdirs(dir string) (made []string, err error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return nil, err
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		err := os.Mkdir(missing[i], 0o700)
		switch {
		case err == nil:
			made = append(made, missing[i])
		case !errors.Is(err, fs.ErrExist): // else somebody else was faster
			return made, err
		}
	}
	return made, nil
}

// createBranch makes a branch that does not exist. It is remembered beforehand:
// when git is killed we do not know whether it got so far.
func (u *undo) createBranch(ctx context.Context, b Branch) error {
	u.branches = append(u.branches, b)
	err := u.repo.SetRef(ctx, "refs/heads/"+b.Name, b.OID, "")
	if errors.Is(err, ErrRefMoved) { // somebody else made it since we looked
		u.branches = u.branches[:len(u.branches)-1]
		return fmt.Errorf("%w: %w", ErrBranchExists, err)
	}
	return err
}

// remember notes which records exist, before git makes one more.
func (u *undo) remember(reason string) error {
	names, err := u.repo.records()
	if err != nil {
		return err
	}
	u.reason, u.before = reason, map[string]bool{}
	for _, n := range names {
		u.before[n] = true
	}
	return nil
}

// records returns the names of the repository's records of linked worktrees.
func (r *Repo) records() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list worktree records: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// run takes everything back, with a context of its own: the caller's may be why
// we are here. It goes on after a failure and returns all of them.
func (u *undo) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	unlock, err := repoLocks.lock(ctx, u.repo.CommonDir)
	if err != nil {
		return fmt.Errorf("take back: %w", err)
	}
	defer unlock()
	var errs []error
	if u.made != nil {
		if err := removeTree(u.dir, u.made); !errors.Is(err, ErrOther) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, u.removeRecords(ctx))
	for _, b := range u.branches {
		ref := "refs/heads/" + b.Name
		oid, err := u.repo.readRef(ctx, ref)
		if err == nil && oid == b.OID {
			err = u.repo.DeleteRef(ctx, ref, b.OID)
		}
		errs = append(errs, err)
	}
	for i := len(u.parents) - 1; i >= 0; i-- {
		os.Remove(u.parents[i]) //nolint:errcheck // another worktree may use it by now
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take back: %w", err)
	}
	return nil
}

// recordSuffix is what git appends to a record's name to make it unique.
var recordSuffix = regexp.MustCompile(`^[0-9]*$`)

// removeRecords removes the record that git made for u.dir. A git that was
// killed may have left one that names no directory yet; it is ours when it is
// new, has our directory's name, and is locked with our reason.
func (u *undo) removeRecords(ctx context.Context) error {
	if u.before == nil {
		return nil
	}
	names, err := u.repo.records()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if u.before[name] || !u.owns(name) {
			continue
		}
		errs = append(errs, os.RemoveAll(filepath.Join(u.repo.CommonDir, "worktrees", name)))
	}
	os.Remove(filepath.Join(u.repo.CommonDir, "worktrees")) //nolint:errcheck // as git does: only when empty
	return errors.Join(errs...)
}

func (u *undo) owns(name string) bool {
	record := filepath.Join(u.repo.CommonDir, "worktrees", name)
	target, err := recordTarget(record)
	if err == nil {
		return target == filepath.Join(u.dir, ".git")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	rest, ok := strings.CutPrefix(name, filepath.Base(u.dir))
	if !ok || !recordSuffix.MatchString(rest) {
		return false
	}
	lock, err := readSmall(filepath.Join(record, "locked"), 8<<10)
	return errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(lock)) == u.reason || len(lock) == 0
}
