package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// LandHow says what a landing makes of a checkout's work.
type LandHow string

const (
	// LandChanges leaves it as uncommitted changes of the main worktree; nothing is staged.
	LandChanges LandHow = "changes"
	// LandMerge merges it into the branch that the main worktree is on, with a merge commit.
	LandMerge LandHow = "merge"
	// LandBranch makes a branch of it and touches no file.
	LandBranch LandHow = "branch"
)

// LandOptions say what to land, and how.
type LandOptions struct {
	Dir  string // the checkout whose work it is
	ID   string // as in ArchiveOptions
	How  LandHow
	Base OID // where its work began; what a branch is compared with
	// Label names the work in conflict markers: a branch name.
	Label string
	// Branch is the branch to make (LandBranch).
	Branch string
	// Subject is the first line of a merge commit; Uncommitted that of the commit that holds what was not committed.
	Subject, Uncommitted string
	// Keep is an empty directory of ours, for what undoing needs.
	Keep string
	// Earlier is what landed of the checkout before; the zero value for nothing.
	Earlier EarlierLanding
}

// EarlierLanding are the trees of the last landing: of the work, and of what the merge made of it.
type EarlierLanding struct{ Work, Result OID }

// landVersion is the version of the Landed record.
const landVersion = 1

// Landed is what UndoLanding needs, together with the directory LandOptions.Keep. It is plain data: the caller keeps it,
// before LandPlan.Apply.
type Landed struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	How     LandHow   `json:"how"`
	When    time.Time `json:"when"`
	Nonce   string    `json:"nonce"` // in the names of our temporary files

	Root   string `json:"root"`    // top level of the checkout that it landed in
	GitDir string `json:"git_dir"` // of that
	Head   OID    `json:"head"`    // its commit before
	At     string `json:"at,omitempty"`
	// Tree is of the landed work, Work the commit of it.
	Tree OID `json:"tree"`
	Work OID `json:"work"`
	// NewHead is the merge commit, or where the branch New was made.
	NewHead OID `json:"new_head,omitempty"`
	// Result is the tree that the merge came to. It and Tree stay in the repository, for the next landing (KeepLanded).
	Result OID    `json:"result,omitempty"`
	New    string `json:"new_branch,omitempty"`

	Conflicts []Path       `json:"conflicts,omitempty"`
	LeftOut   []Path       `json:"left_out,omitempty"` // nested repositories, sockets and the like
	Files     []LandedFile `json:"files,omitempty"`
	Dirs      []LandedDir  `json:"dirs,omitempty"` // directories above them, as they were

	// The index before: of the file, and of its entries. After is set when the landing changes it.
	IndexSum      string `json:"index_sum,omitempty"`
	IndexAfterSum string `json:"index_after_sum,omitempty"`
	Entries       string `json:"entries,omitempty"`
	EntriesAfter  string `json:"entries_after,omitempty"`
}

// LandedFile is one file that a landing changes.
type LandedFile struct {
	Path   Path      `json:"path"`
	Git    bool      `json:"git,omitempty"` // below the git directory, not the checkout
	Before FileState `json:"before"`
	After  FileState `json:"after"`
	Entry  string    `json:"entry,omitempty"` // mode and blob of its index entry before
	// EntryAfter is that of a discard afterwards.
	EntryAfter string `json:"entry_after,omitempty"`
	// Intent tells of a discard that Entry is only the intent to add it (`git add -N`), which has no contents.
	Intent bool `json:"intent,omitempty"`
}

// LandedDir is a directory that there was before.
type LandedDir struct {
	Path Path   `json:"path"`
	Mode uint32 `json:"mode"` // permission bits
}

// FileState is how a file is. The zero value is no file.
type FileState struct {
	Kind string    `json:"kind,omitempty"` // "file" or "link"
	Mode uint32    `json:"mode,omitempty"` // permission bits
	Sum  string    `json:"sum,omitempty"`  // SHA-256 of its bytes, or of a link's text
	Time time.Time `json:"time,omitzero"`  // of its last change
}

// is reports whether both are the same contents of the same kind. Other permission bits than the owner's right to
// execute are not compared: git does not know them.
func (s FileState) is(o FileState) bool {
	return s.Kind == o.Kind && s.Sum == o.Sum && (s.Kind != "file" || s.Mode&0o100 == o.Mode&0o100)
}

// Path is a path as git has it: bytes that need not be valid UTF-8. As text it is quoted where it must be.
type Path string

// MarshalText and UnmarshalText keep every byte.
func (p Path) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) && !strings.HasPrefix(string(p), `"`) {
		return []byte(p), nil
	}
	return []byte(strconv.Quote(string(p))), nil
}

func (p *Path) UnmarshalText(text []byte) error {
	s := string(text)
	if strings.HasPrefix(s, `"`) {
		var err error
		if s, err = strconv.Unquote(s); err != nil {
			return fmt.Errorf("path %s: %w", text, err)
		}
	}
	*p = Path(s)
	return nil
}

// LandPlan is a landing that has not happened: nothing in the repository differs yet, apart from objects.
type LandPlan struct {
	Landed Landed
	// Changes are the files that the landing brings.
	Changes []LandChange
	repo    *Repo
	keep    string
	mergeTo OID             // what HEAD is moved to; "" when it stays
	stats   []os.FileInfo   // of Landed.Files, as they were copied
	written []bool          // of Landed.Files: it was replaced
	remove  map[string]bool // paths that go
}

// LandChange is one changed file of a landing.
type LandChange struct {
	Path, OldMode, NewMode string // modes as git writes them; 000000 for no file
	OldOID, NewOID         OID
}

// Gitlink reports whether the change is of a submodule's commit.
func (c LandChange) Gitlink() bool { return c.OldMode == modeGitlink || c.NewMode == modeGitlink }

// What a landing can meet.
var (
	ErrUnfinished   = errors.New("a merge, rebase or the like is unfinished")
	ErrIndexChanged = errors.New("the index changed in the meantime")
	ErrIndexLocked  = errors.New("another git holds the index")
	ErrUnrelated    = errors.New("the histories have nothing in common")
	ErrNothing      = errors.New("there is nothing to land")
)

// UnfinishedError is ErrUnfinished with the checkout that is meant and the name of what is unfinished there.
type UnfinishedError struct{ Dir, Operation string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("a %s is unfinished in %s", e.Operation, e.Dir)
}

func (e *UnfinishedError) Is(target error) bool { return target == ErrUnfinished }

// finished returns *UnfinishedError while an operation of git's is in progress in the checkout: what lies in its files
// then is neither what was nor what is to be.
func (v view) finished() error {
	op, err := v.inProgress()
	if err == nil && op != "" {
		err = &UnfinishedError{Dir: v.dir, Operation: op}
	}
	return err
}

// OverlapError names files of the main worktree that a landing would overwrite and that are changed, staged or
// untracked there.
type OverlapError struct {
	Paths  []string
	Staged bool // what is staged, whatever it is, would become part of a merge
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("changes in the main worktree are in the way: %q", e.Paths[:min(len(e.Paths), 10)])
}

// LeftOutError is ErrNothing where there is something, which does not land that way.
type LeftOutError struct{ Paths []Path }

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("nothing to land but what is left out: %q", e.Paths[:min(len(e.Paths), 10)])
}

func (e *LeftOutError) Is(target error) bool { return target == ErrNothing }

// EditedError names what was changed since a landing, so that undoing would lose it.
type EditedError struct{ Paths []string }

func (e *EditedError) Error() string {
	return fmt.Sprintf("changed since it landed: %q", e.Paths[:min(len(e.Paths), 10)])
}

// HalfError is a landing, or an undoing, that failed in the middle and could not be taken back whole: somebody
// changed files meanwhile, or there was an error. UndoLanding can be called when that is put right.
type HalfError struct {
	Paths []string
	Cause error
}

func (e *HalfError) Error() string {
	return fmt.Sprintf("not taken back whole: %q: %v", e.Paths[:min(len(e.Paths), 10)], e.Cause)
}

func (e *HalfError) Unwrap() error { return e.Cause }

// landVersionNeeded has `merge-tree --write-tree`.
var landVersionNeeded = Version{Major: 2, Minor: 38}

// PlanLanding works out what landing a checkout's work would do: its commits, and what is staged, unstaged and untracked
// in it, ignored files not. It looks at contents sealed (package comment), merges by itself without any configured
// driver, and copies what undoing will need. It returns ErrNothing, *OverlapError, ErrUnfinished,
// *FilteredError, *UnkeepableError, ErrUnrelated, ErrBusy, ErrBranchExists, ErrBranchConflict, and *TooOldError below
// git 2.38.
func (r *Repo) PlanLanding(ctx context.Context, o LandOptions) (*LandPlan, error) {
	p, err := r.planLanding(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("land %s: %w", o.ID, err)
	}
	return p, nil
}

func (r *Repo) planLanding(ctx context.Context, o LandOptions) (*LandPlan, error) {
	if r.git.version.Less(landVersionNeeded) {
		return nil, &TooOldError{Found: r.git.version, Needed: landVersionNeeded}
	}
	if err := checkID(o.ID); err != nil {
		return nil, err
	}
	from, err := r.view(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	to, err := r.view(ctx, r.Root)
	switch {
	case err != nil:
		return nil, err
	case from.dir == to.dir:
		return nil, ErrMainWorktree
	case to.head.oid == "" || from.head.oid == "":
		return nil, ErrNoCommits
	}
	p := &LandPlan{repo: r, keep: o.Keep, Landed: Landed{Version: landVersion, ID: o.ID, How: o.How, Nonce: rand.Text()[:12],
		When: time.Now().UTC().Truncate(time.Second), Root: to.dir, GitDir: to.gitDir, Head: to.head.oid, At: to.head.branch}}
	ident, err := r.identity(ctx)
	if err != nil {
		return nil, err
	}
	ts, err := r.newScratch(ctx, from, asPerson)
	if err != nil {
		return nil, err
	}
	defer ts.remove()
	if err := r.copyShallow(ts); err != nil {
		return nil, err
	}
	if err := p.snapshot(ctx, ts, from, o, ident); err != nil {
		return nil, err
	}
	if o.How == LandBranch {
		return p, p.planBranch(ctx, ts, from, o)
	}
	return p, p.planFiles(ctx, ts, to, o, ident, from.head.oid)
}

// copyShallow tells a stand-in where the history of a shallow repository ends.
func (r *Repo) copyShallow(s *scratch) error {
	data, err := readSmall(filepath.Join(r.CommonDir, "shallow"), 16<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "shallow"), data, 0o600)
	}
	return err
}

// identity is who makes commits in the repository, as environment: the person, else termic.
func (r *Repo) identity(ctx context.Context) ([]string, error) {
	out, err := r.git.run(ctx, call{at: r.Root, limit: 64 << 10, args: []string{"var", "GIT_COMMITTER_IDENT"}})
	if err != nil {
		if exitCode(err) > 0 {
			return identity, nil
		}
		return nil, fmt.Errorf("ask who commits: %w", err)
	}
	name, rest, ok := strings.Cut(strings.TrimSpace(string(out)), " <")
	email, _, ok2 := strings.Cut(rest, ">")
	if !ok || !ok2 || name == "" || email == "" {
		return identity, nil
	}
	return []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}, nil
}

// Bounds in bytes of the uncommitted files of one landing, staging or discard: more is no work of an agent but a mistake.
const (
	MaxLandFile  = 1 << 30
	MaxLandTotal = 8 << 30
)

// snapshot makes one commit of everything in the checkout: the commit that it is at, when nothing is uncommitted.
func (p *LandPlan) snapshot(ctx context.Context, ts *scratch, from view, o LandOptions, ident []string) error {
	r := p.repo
	if err := from.finished(); err != nil {
		return err
	}
	// Conflicts without an operation in progress, as a stash leaves them: their markers are no work to be landed.
	if out, err := ts.run(ctx, call{args: []string{"ls-files", "--unmerged", "-z"}}); err != nil || len(out) > 0 {
		return errors.Join(err, &UnfinishedError{Dir: from.dir, Operation: "merge"})
	}
	staged, err := ts.stageAll(ctx, limits{file: MaxLandFile, total: MaxLandTotal,
		same: func(paths []string) (map[string]bool, error) { return r.lfsSame(ctx, ts, paths) }})
	if err != nil {
		return err
	}
	var lost []string
	for path, l := range staged.left {
		if l.why == nested || l.why == special {
			p.Landed.LeftOut = append(p.Landed.LeftOut, Path(path))
		} else {
			lost = append(lost, path)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		return &UnkeepableError{Paths: lost}
	}
	slices.Sort(p.Landed.LeftOut)
	out, err := ts.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, timeout: archiveTimeout})
	if err != nil {
		if stderrHas(err, "unmerged", "error building trees") {
			return errors.Join(&UnfinishedError{Dir: from.dir, Operation: "merge"}, err)
		}
		return err
	}
	p.Landed.Tree = OID(strings.TrimSpace(string(out)))
	out, err = ts.run(ctx, call{args: []string{"rev-parse", "--verify", string(from.head.oid) + "^{tree}"}})
	if err != nil {
		return err
	}
	if OID(strings.TrimSpace(string(out))) == p.Landed.Tree {
		p.Landed.Work = from.head.oid
		return nil
	}
	if o.How != LandChanges {
		if err := ts.refuseFiltered(ctx, append(staged.add, staged.remove...)); err != nil {
			return err
		}
	}
	p.Landed.Work, err = ts.commitTree(ctx, p.Landed.Tree, o.Uncommitted, ident, from.head.oid)
	return err
}

// commitTree makes a commit in the stand-in.
func (s *scratch) commitTree(ctx context.Context, tree OID, message string, ident []string, parents ...OID) (OID, error) {
	args := []string{"commit-tree", string(tree), "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", string(parent))
	}
	out, err := s.run(ctx, call{args: args, env: ident})
	if err != nil {
		return "", err
	}
	oid := OID(strings.TrimSpace(string(out)))
	if !oid.Valid() {
		return "", fmt.Errorf("unexpected answer %q of git commit-tree", clip(string(oid), 80))
	}
	return oid, nil
}

// planBranch plans a branch of the work.
func (p *LandPlan) planBranch(ctx context.Context, ts *scratch, from view, o LandOptions) error {
	r := p.repo
	if err := r.git.CheckBranchName(ctx, o.Branch); err != nil {
		return err
	}
	if err := r.checkFree(ctx, o.Branch); err != nil {
		return err
	}
	if p.Landed.Work == o.Base {
		return ErrNothing
	}
	var err error
	if p.Changes, err = ts.treeChanges(ctx, string(o.Base)+"^{tree}", p.Landed.Tree); err != nil {
		return err
	}
	p.Landed.New, p.Landed.NewHead = o.Branch, p.Landed.Work
	if p.Landed.Work == from.head.oid {
		return nil
	}
	list, err := ts.objectsOf(ctx, []string{string(p.Landed.Tree)}, from.head.oid)
	if err != nil {
		return err
	}
	return r.importObjects(ctx, ts, list+string(p.Landed.Work)+"\n")
}

// treeChanges lists the files that differ between two trees.
func (s *scratch) treeChanges(ctx context.Context, from string, to OID) ([]LandChange, error) {
	out, err := s.run(ctx, call{args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, string(to)}, timeout: diffTimeout})
	if err != nil {
		return nil, err
	}
	var list []LandChange
	fields := splitNUL(out)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("unexpected diff record %q", clip(fields[i], 80))
		}
		list = append(list, LandChange{Path: fields[i+1], OldMode: f[0], NewMode: f[1], OldOID: OID(f[2]), NewOID: OID(f[3])})
	}
	return list, nil
}

// importObjects brings listed objects of a stand-in into the repository.
func (r *Repo) importObjects(ctx context.Context, sc *scratch, list string) error {
	n := strings.Count(list, "\n")
	if n == 0 {
		return nil
	}
	pack, err := sc.pack(ctx, list)
	if err != nil {
		return err
	}
	defer pack.Close()
	args := []string{"unpack-objects", "-q"}
	if n > smallPack {
		args = []string{"index-pack", "--stdin"}
	}
	_, err = r.git.run(ctx, call{gitDir: r.CommonDir, write: true, args: args, stdin: pack, timeout: archiveTimeout})
	return err
}

// MoveKeep says that the directory LandOptions.Keep was moved.
func (p *LandPlan) MoveKeep(dir string) { p.keep = dir }

// ChangesBetween lists the files that differ between two commits.
func (r *Repo) ChangesBetween(ctx context.Context, from, to OID) ([]LandChange, error) {
	if !from.Valid() || !to.Valid() {
		return nil, fmt.Errorf("compare %q with %q: %w", clip(string(from), 80), clip(string(to), 80), ErrBadRef)
	}
	s, err := r.bareScratch(r.git.inherited["TMPDIR"], "", asPerson, config{"core.bare": "true"})
	if err != nil {
		return nil, err
	}
	defer s.remove()
	list, err := s.treeChanges(ctx, string(from)+"^{tree}", to+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	return list, nil
}
