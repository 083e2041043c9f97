package task

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"termic/app/git"
	"termic/app/gitview"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/profile"
)

// The two views of a caged task's git (docs/git.md). All of a task's own lies in one directory of the data directory:
// "git", which the cage may write, "gitfile", which stands over the checkout's .git file in it, and "base", the store of
// isolated history.
const (
	viewsDir   = "tasks-private"
	viewGit    = "git"
	viewFile   = "gitfile"
	viewBase   = "base"
	viewAside  = ".aside-"  // ends, with something random, the name of one that was no repository any more
	viewGone   = ".gone-"   // begins the name of one that is being removed
	viewIntake = "incoming" // where commits wait until they are checked
)

// KeptGit is what an archive kept of a private git directory, and by what it knows it again.
type KeptGit struct {
	gitview.Kept
	Print string `json:"print"` // gitview.Fingerprint of the directory, when it was kept
}

// view is what the app knows of a caged task's git at run time.
type view struct {
	// turn is held while the two views are brought together, so that this is done once at a time. Taken after life, never
	// before it.
	turn    turn
	rests   time.Time          // until then nothing is asked of a git that did not answer; guarded by turn
	refused git.OID            // the agent's commit that was refused last; guarded by turn
	stop    context.CancelFunc // ends the watch; guarded by Tasks.mu
	note    string             // what keeps the views apart, in words for the person; guarded by Tasks.mu
}

// turn is a lock that whoever waits for it can give up.
type turn chan struct{}

// take waits until the turn is free or ctx ends; the first is true.
func (t turn) take(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t turn) pass() { <-t }

// viewDir is the directory of a task's own git; nothing is made.
func (s *Tasks) viewDir(id ident.Task) (string, error) {
	return s.Store.Path(viewsDir, string(id))
}

// viewOf returns the task as gitview knows it.
func (s *Tasks) viewOf(ctx context.Context, record Record) (gitview.Task, error) {
	repo, err := s.repo(ctx, record)
	if err != nil {
		return gitview.Task{}, err
	}
	dir, err := s.viewDir(record.ID)
	if err != nil {
		return gitview.Task{}, err
	}
	g := gitview.Task{Repo: repo, ID: string(record.ID), Dir: record.Dir, Branch: record.Branch, Private: filepath.Join(dir, viewGit)}
	if base := filepath.Join(dir, viewBase); exists(base) {
		g.Store = base
	}
	return g, nil
}

// gitOwn returns what a cage has of its task's git: its private directory, the file that leads to it, and what that
// borrows. The directory is made when there is none, with what an archive kept; one that is there is the agent's, and
// is not looked into. The task's life is locked and its cage does not run.
func (s *Tasks) gitOwn(ctx context.Context, record Record) ([]profile.Own, error) {
	if !record.OwnCheckout {
		return nil, refusal.New(refusal.Conflict, "the project's own checkout cannot be caged: what an agent writes there runs outside at once", "make a task with a checkout of its own")
	}
	g, err := s.viewOf(ctx, record)
	if err != nil {
		return nil, err
	}
	v, err := s.openView(ctx, g, record)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(filepath.Dir(v.Private), viewFile)
	if err := renameio.WriteFile(file, []byte(v.GitFile), 0o600); err != nil {
		return nil, fmt.Errorf("write the cage's .git file: %w", err)
	}
	own := []profile.Own{
		{Path: v.Private, Source: v.Private, Write: true, Why: "the task's own git directory"},
		{Path: filepath.Join(record.Dir, ".git"), Source: file, Why: "leads to the task's own git directory"},
	}
	for _, dir := range v.Objects {
		own = append(own, profile.Own{Path: dir, Source: dir, Why: "objects that the task's git borrows"})
	}
	if v.LFS != "" {
		own = append(own, profile.Own{Path: v.LFS, Source: v.LFS, Why: "large files of the project"})
	}
	return own, nil
}

// openView makes the private directory, or opens the one that is there.
func (s *Tasks) openView(ctx context.Context, g gitview.Task, record Record) (*gitview.View, error) {
	if exists(g.Private) {
		if gitview.Usable(g.Private) {
			return g.Open(ctx, g.Private)
		}
		s.Log.Warn("a task's own git is no repository any more; it gets a new one", "task", record.ID)
		if err := os.Rename(g.Private, g.Private+viewAside+rand.Text()); err != nil {
			return nil, fmt.Errorf("put the task's own git aside: %w", err)
		}
	}
	if _, err := s.Store.Subdir(viewsDir, string(record.ID)); err != nil {
		return nil, fmt.Errorf("directory for the task's own git: %w", err)
	}
	o := gitview.Options{}
	if record.Kept != nil {
		o.Kept = &record.Kept.Kept
	}
	branch, err := g.Repo.DefaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	o.BaseBranch = branch.Name
	g.Store = ""
	if project, ok := s.Projects.Get(record.Project); ok && project.Defaults.IsolatedHistory {
		g.Store = filepath.Join(filepath.Dir(g.Private), viewBase)
	}
	v, err := g.Create(ctx, g.Private, o)
	if errors.Is(err, gitview.ErrBadTask) {
		err = refusal.Newf(refusal.Conflict, "git -C "+record.Dir+" switch "+record.Branch,
			"a caged task works on its own branch, %s, in a checkout that git has locked for it", record.Branch).Because(err)
	}
	return v, err
}

// dropView removes the private directory of a task and what the project keeps for it. For a task that nobody has worked
// in.
func (s *Tasks) dropView(ctx context.Context, repo *git.Repo, id ident.Task) error {
	if err := s.removeView(id); err != nil {
		return err
	}
	return repo.DropPins(ctx, string(id))
}

// removeView removes the private directory: in one step from where it was, and then its files.
func (s *Tasks) removeView(id ident.Task) error {
	dir, err := s.viewDir(id)
	if err != nil {
		return err
	}
	gone := filepath.Join(filepath.Dir(dir), viewGone+rand.Text())
	err = os.Rename(dir, gone)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = git.RemoveTree(gone)
	}
	if err != nil {
		return fmt.Errorf("remove the task's own git: %w", err)
	}
	return nil
}

// sweepViews removes what a crash left: private directories that were on their way out or half made, and commits that
// had not been checked. A whole one is never removed here, whatever there is of its task.
func (s *Tasks) sweepViews() error {
	dir, err := s.Store.Subdir(viewsDir)
	if err != nil {
		return err
	}
	var left []string
	for _, pattern := range []string{viewGone + "*", viewIntake, "*/*.half-*", "*/termic-git-*"} {
		found, err := filepath.Glob(filepath.Join(globEscape(dir), pattern))
		if err != nil {
			return err
		}
		left = append(left, found...)
	}
	for _, path := range left {
		err = errors.Join(err, git.RemoveTree(path))
	}
	return err
}

// globEscape makes path match itself only.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// plain tells whether a commit is to be checked out without the person's filters: a scoped caller or an import brought
// it. What the person has in a branch, tag or remote-tracking branch of their own is theirs.
func (s *Tasks) plain(ctx context.Context, repo *git.Repo, record Record) (bool, error) {
	if creator, ok := s.Get(record.Creator); record.Creator != "" && (!ok || !creator.unbounded()) {
		return true, nil
	}
	return s.imported(ctx, repo, record.Base)
}

// imported tells whether only imports brought a commit.
func (s *Tasks) imported(ctx context.Context, repo *git.Repo, commit git.OID) (bool, error) {
	imported, err := s.importedBranches(ctx, repo)
	if err != nil || len(imported) == 0 {
		return false, err
	}
	holders, err := repo.Holders(ctx, commit)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(holders, func(ref string) bool {
		return !slices.ContainsFunc(imported, func(branch string) bool {
			return ref == "refs/heads/"+branch || strings.HasPrefix(ref, "refs/remotes/") && strings.HasSuffix(ref, "/"+branch)
		})
	}), nil
}

// importedBranches are the branches that imports may have written.
func (s *Tasks) importedBranches(ctx context.Context, repo *git.Repo) ([]string, error) {
	refs, err := repo.Refs(ctx, "refs/termic")
	if err != nil {
		return nil, err
	}
	var branches []string
	for _, r := range refs {
		parts := strings.Split(r.Name, "/")
		if len(parts) != 4 || parts[3] != "last" { // gitview keeps it for each task that had a private directory
			continue
		}
		if other, ok := s.Get(ident.Task(parts[2])); ok {
			branches = append(branches, other.Branch)
		}
	}
	return branches, nil
}

// incoming is the directory in which commits wait until they are checked: on the disk of the data, where no cage reads.
func (s *Tasks) incoming() (string, error) { return s.Store.Subdir(viewsDir, viewIntake) }

// timeToKeep bounds the import of everything; a single branch is bounded by gitview.Limits.
const timeToKeep = 10 * time.Minute
