package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ArchiveOptions say what to archive, and where.
type ArchiveOptions struct {
	Dir string // the checkout
	ID  string // names the refs: refs/termic/<ID>/…; letters, digits, "-", "_", "."
	// Store is the path of a bare repository of ours, one a project, made when it
	// is missing. It borrows the project's objects.
	Store string
	// Branches are kept although HEAD may be elsewhere (a rebase in progress).
	Branches []string
	// Base is where the branch began; tags since then are named. "" for none.
	Base OID
	// Ignored tells which of the files and directories that git ignores are kept too, by path; nil for none. What is
	// below a directory that is kept is not asked about.
	Ignored func(path string) bool
	// Progress, when set, is told in a few words how far it has come. It must return at once.
	Progress func(string)
	// LeaveOut are repositories, as NestedRepositoryError names them, that the person agreed to lose.
	LeaveOut []string
}

// archiveVersion is the version of the Archived record.
const archiveVersion = 1

// Archived is what Restore needs to bring a checkout back. It is plain data: the
// caller keeps it.
type Archived struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Store   string    `json:"store"`
	When    time.Time `json:"when"`

	Branch   string         `json:"branch,omitempty"` // "" when detached
	Head     OID            `json:"head,omitempty"`   // "" when the branch had no commit
	Branches map[string]OID `json:"branches,omitempty"`

	// Gone tells that there was no checkout any more: its files are kept as they were staged.
	Gone bool `json:"gone,omitempty"`

	// Commits in the store, each with Head as its parent: the staged state, the
	// files with untracked ones, and what else git keeps for one checkout.
	Index    OID `json:"index"`
	Worktree OID `json:"worktree"`
	State    OID `json:"state"`
	// Their trees.
	IndexTree    OID `json:"index_tree"`
	WorktreeTree OID `json:"worktree_tree"`
	StateTree    OID `json:"state_tree"`
	// Commits pinned in the project as refs/termic/<ID>/keep/<oid>.
	Pins []OID `json:"pins,omitempty"`

	Unmerged   bool   `json:"unmerged,omitempty"`    // the index held conflicts
	InProgress string `json:"in_progress,omitempty"` // as in Status

	// Stashes of its branch, pinned too, and tags of its commits; both are the repository's and stay there. At most 100.
	Stashes []string `json:"stashes,omitempty"`
	Tags    []string `json:"tags,omitempty"`

	// Beside is what trees cannot hold, byte for byte: large files, repositories in the checkout, ignored files that a
	// rule keeps, FIFOs.
	Beside []Beside `json:"beside,omitempty"`
	// Nested are the repositories in the checkout that Beside holds whole.
	Nested []string `json:"nested,omitempty"`
	// Submodules are the repositories of submodules that git's record of the checkout held, kept whole beside.
	Submodules []string `json:"submodules,omitempty"`
	// Record is where git's record of the checkout was: what is kept may lead there.
	Record string `json:"record,omitempty"`
	// Pack is the name of the archive's pack in the store; Bytes is what the archive takes there.
	Pack  string `json:"pack,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`

	ignored func(path string) bool // the rule; only in the run that made it

	// Not kept: files that ignore rules name, and files that are no contents.
	IgnoredFiles        int      `json:"ignored_files"`
	IgnoredBytes        int64    `json:"ignored_bytes"`
	IgnoredMore         bool     `json:"ignored_more,omitempty"`         // counting stopped early
	IgnoredRepositories []string `json:"ignored_repositories,omitempty"` // at most 100
	Special             []string `json:"special,omitempty"`              // sockets and devices
	LeftOut             []string `json:"left_out,omitempty"`
}

// Detached reports whether HEAD was at a commit rather than on a branch.
func (a *Archived) Detached() bool { return a.Branch == "" }

// UnkeepableError names changed files that could not be kept: unreadable ones,
// and names that git refuses (".git" in any case).
type UnkeepableError struct{ Paths []string }

// ErrUnkeepable is what errors.Is finds in an *UnkeepableError.
var ErrUnkeepable = errors.New("files cannot be kept")

func (e *UnkeepableError) Error() string { return fmt.Sprintf("%v: %q", ErrUnkeepable, e.Paths) }

// Is makes errors.Is(err, ErrUnkeepable) true.
func (e *UnkeepableError) Is(target error) bool { return target == ErrUnkeepable }

func (o ArchiveOptions) say(text string) {
	if o.Progress != nil {
		o.Progress(text)
	}
}

// ErrBadID means that an id cannot be part of a ref name.
var ErrBadID = errors.New("not usable as an id")

var idRE = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]){0,99}$`)

func checkID(id string) error {
	if !idRE.MatchString(id) || strings.HasSuffix(id, ".lock") {
		return fmt.Errorf("id %q: %w", clip(id, 80), ErrBadID)
	}
	return nil
}

// Archive keeps all work of a checkout, so that it can be removed and brought
// back: HEAD, its branch, every commit that only this checkout's reflog and
// private refs reach, the staged state, and all files that are not ignored, byte
// for byte. It removes nothing and changes nothing in the checkout. Pins are
// made in the project and never overwritten; the rest is one pack in the store.
// Everything that was written has been read back when it returns.
//
// It returns *UnkeepableError, *TooDeepError, ErrBusy when the checkout changes meanwhile, ErrNoCheckout, ErrNotWorktree, ErrBadID. Empty
// directories, permissions, repositories in the checkout, submodules that are checked out, FIFOs and the state of an
// operation in progress are kept; ignored files only as o.Ignored says. Large files are copied once, with their holes.
// Stashes belong to the repository and stay there; those of its branch are pinned too.
func (r *Repo) Archive(ctx context.Context, o ArchiveOptions) (Archived, error) {
	a, err := r.archive(ctx, o)
	if err != nil {
		return Archived{}, fmt.Errorf("archive %s: %w", o.Dir, err)
	}
	return a, nil
}

func (r *Repo) archive(ctx context.Context, o ArchiveOptions) (Archived, error) {
	if err := checkID(o.ID); err != nil {
		return Archived{}, err
	}
	v, err := r.view(ctx, o.Dir)
	if err != nil {
		return Archived{}, err
	}
	st, err := r.openStore(ctx, o.Store)
	if err != nil {
		return Archived{}, err
	}
	sc, err := r.newScratchIn(ctx, st.temp(), v, exact)
	if err != nil {
		return Archived{}, err
	}
	defer sc.remove()

	a := Archived{Version: archiveVersion, ID: o.ID, Dir: v.dir, Store: st.dir, When: time.Now().UTC().Truncate(time.Second),
		Record: v.gitDir, Branch: v.head.branch, Head: v.head.oid, ignored: o.Ignored}
	if a.InProgress, err = v.inProgress(); err != nil {
		return Archived{}, err
	}
	state, err := readState(v.gitDir)
	if err != nil {
		return Archived{}, err
	}
	o.say("keeping commits")
	if err := r.pinAll(ctx, o, v, state, &a); err != nil {
		return Archived{}, err
	}
	o.say("reading the files")
	beside, err := sc.keep(ctx, o, r.ownModules(v), state, &a)
	if err != nil {
		return Archived{}, err
	}
	if len(beside) > 0 {
		o.say(fmt.Sprintf("copying large files, submodules and repositories: %d", len(beside)))
	}
	if a.Beside, err = st.keepBeside(ctx, v, a.ID, beside); err != nil {
		return Archived{}, err
	}
	o.say("packing")
	if err := st.take(ctx, sc, &a); err != nil {
		return Archived{}, err
	}
	o.say("reading back what was kept")
	if err := r.verifyArchive(ctx, st, &a); err != nil {
		return Archived{}, err
	}
	if err := r.unchanged(ctx, v, sc, beside); err != nil {
		return Archived{}, err
	}
	if err := sameBeside(v, beside, a.Beside); err != nil {
		return Archived{}, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return a, st.sweepBeside(&a)
}

// unchanged returns ErrBusy when the checkout is not, or no longer, what was
// archived: git may also pass over a path with a message and success.
func (r *Repo) unchanged(ctx context.Context, v view, sc *scratch, beside []besidePath) error {
	h, err := r.readHead(ctx, v.gitDir)
	if err != nil {
		return err
	}
	if h != v.head {
		return fmt.Errorf("HEAD moved: %w", ErrBusy)
	}
	return sc.settled(ctx, beside)
}

// settled returns ErrBusy unless the scratch index, with what is kept beside it, is the state of the checkout.
func (s *scratch) settled(ctx context.Context, besides []besidePath) error {
	var beside []string // sorted
	for _, b := range besides {
		if !b.git {
			beside = append(beside, b.path)
		}
	}
	c, err := s.changed(ctx)
	if err != nil {
		return err
	}
	var rest []string
	for _, p := range append(c.tracked, c.untracked...) {
		if !strings.HasSuffix(p, "/") && !covered(beside, p) {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%q: %w", rest[:min(len(rest), 5)], ErrBusy)
	}
	return nil
}

// keep writes index, files and state as commits into the scratch objects, and returns the paths of what is to be kept
// beside them.
func (s *scratch) keep(ctx context.Context, o ArchiveOptions, modules []string, state map[string][]byte, a *Archived) (beside []besidePath, err error) {
	found, err := s.survey(ctx, o)
	if err != nil {
		return nil, err
	}
	left := func(p string) bool { return slices.Contains(o.LeaveOut, p) }
	for _, p := range append(slices.Clone(found.nested), modules...) {
		if left(p) {
			a.LeftOut = append(a.LeftOut, p)
		}
	}
	a.Nested = slices.DeleteFunc(found.nested, left)
	a.Submodules = slices.DeleteFunc(modules, left)
	a.IgnoredFiles, a.IgnoredBytes, a.IgnoredMore, a.IgnoredRepositories = found.ignoredFiles, found.ignoredBytes, found.ignoredMore, found.ignoredRepos
	a.Special = found.special
	slices.Sort(a.Special)

	extra, err := s.keepIndex(ctx, a)
	if err != nil {
		return nil, err
	}
	extra.emptyDirs, extra.modes = found.emptyDirs, found.modes
	staged, err := s.keepFiles(ctx, a)
	if err != nil {
		return nil, err
	}
	extra.written = staged.add
	var big []string
	for path, l := range staged.left {
		if l.why == large {
			big = append(big, path)
		}
	}
	return besidePaths(a.Submodules, a.Nested, big, found.ruled, found.fifos), s.keepState(ctx, state, extra, a)
}

// covered tells whether path is one of the sorted paths, or lies below one of them.
func covered(sorted []string, path string) bool {
	for p := path; p != "."; p = filepath.Dir(p) {
		if _, ok := slices.BinarySearch(sorted, p); ok {
			return true
		}
	}
	return false
}

// indexExtra is what trees cannot say about an index and its files.
type indexExtra struct {
	unmerged  []byte   // `ls-files --unmerged -z`
	intended  []string // intent-to-add paths
	assumed   []string // paths whose changes the person told git to pass over
	emptyDirs []string
	modes     []string
	written   []string // files that were not, or not surely, as git had written them
}

// keepIndex commits the staged state. Where it holds conflicts, the tree has the
// first side that exists (ours before theirs before base), and all sides are
// returned to be kept beside it.
func (s *scratch) keepIndex(ctx context.Context, a *Archived) (indexExtra, error) {
	x := indexExtra{assumed: s.assumed}
	raw, err := s.run(ctx, call{args: []string{"diff-files", "-z", "--name-status", "--no-renames", "--diff-filter=A", "--ignore-submodules=all"}})
	if err != nil {
		return x, err
	}
	fields := splitNUL(raw)
	for i := 1; i < len(fields); i += 2 {
		x.intended = append(x.intended, fields[i])
	}
	if x.unmerged, err = s.run(ctx, call{args: []string{"ls-files", "--unmerged", "-z"}}); err != nil {
		return x, err
	}
	index := filepath.Join(s.dir, "index")
	env := []string{"GIT_INDEX_FILE=" + index}
	if len(x.unmerged) > 0 {
		a.Unmerged = true
		merged := filepath.Join(s.dir, "index-merged")
		if err := copyFile(index, merged); err != nil {
			return x, err
		}
		env = []string{"GIT_INDEX_FILE=" + merged}
		_, err := s.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, env: env, stdin: strings.NewReader(pickSides(x.unmerged, s.none))})
		if err != nil {
			return x, err
		}
	}
	a.Index, a.IndexTree, err = s.commit(ctx, env, a, "index")
	return x, err
}

// pickSides turns unmerged entries into one plain entry a path.
func pickSides(unmerged []byte, none string) string {
	rank := map[string]int{"2": 3, "3": 2, "1": 1}
	type side struct {
		entry string
		rank  int
	}
	best := map[string]side{}
	var order []string
	for _, rec := range splitNUL(unmerged) {
		meta, path, _ := strings.Cut(rec, "\t")
		f := strings.Fields(meta) // mode, oid, stage
		if len(f) != 3 {
			continue
		}
		if _, ok := best[path]; !ok {
			order = append(order, path)
		}
		if n := rank[f[2]]; n > best[path].rank {
			best[path] = side{f[0] + " " + f[1] + " 0\t" + path, n}
		}
	}
	var b strings.Builder
	for _, p := range order {
		fmt.Fprintf(&b, "0 %s\t%s\x00%s\x00", none, p, best[p].entry)
	}
	return b.String()
}

// keepFiles commits the files of the checkout. Those that were read are kept byte for byte: a checkout would not
// necessarily make the same bytes of their blobs. Large ones are left for keepBeside.
func (s *scratch) keepFiles(ctx context.Context, a *Archived) (stagePlan, error) {
	staged, err := s.stageAll(ctx, limits{file: bigFile})
	if err != nil {
		return stagePlan{}, err
	}
	var lost []string
	for path, l := range staged.left {
		switch l.why { // nested ones were surveyed, and special ones too
		case unreadable, refused:
			if !covered(a.Nested, path) {
				lost = append(lost, path)
			}
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		return stagePlan{}, &UnkeepableError{Paths: lost[:min(len(lost), 100)]}
	}
	a.Worktree, a.WorktreeTree, err = s.commit(ctx, nil, a, "worktree")
	return staged, err
}

// identity signs the commits of an archive.
var identity = []string{
	"GIT_AUTHOR_NAME=termic", "GIT_AUTHOR_EMAIL=termic@localhost",
	"GIT_COMMITTER_NAME=termic", "GIT_COMMITTER_EMAIL=termic@localhost",
}

// commit writes the index that env names as a tree, and a commit of it.
// Objects that a partial clone never fetched may be missing from the tree.
func (s *scratch) commit(ctx context.Context, env []string, a *Archived, what string) (commit, tree OID, err error) {
	out, err := s.run(ctx, call{args: []string{"write-tree", "--missing-ok"}, env: env, timeout: archiveTimeout})
	if err != nil {
		return "", "", err
	}
	tree = OID(strings.TrimSpace(string(out)))
	commit, err = s.commitOf(ctx, tree, a, what)
	return commit, tree, err
}

// commitOf makes a commit of a tree.
func (s *scratch) commitOf(ctx context.Context, tree OID, a *Archived, what string) (OID, error) {
	args := []string{"commit-tree", string(tree), "-m", fmt.Sprintf("%s of %s\n\nArchived from %s", what, a.ID, a.Dir)}
	if a.Head != "" {
		args = append(args, "-p", string(a.Head))
	}
	out, err := s.run(ctx, call{args: args, env: identity})
	if err != nil {
		return "", err
	}
	commit := OID(strings.TrimSpace(string(out)))
	if !tree.Valid() || !commit.Valid() {
		return "", fmt.Errorf("unexpected answer of git for the %s", what)
	}
	return commit, nil
}
