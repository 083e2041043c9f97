package git

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// defaultPatch is how much of a patch is returned unless asked otherwise.
	defaultPatch = 1 << 20 // 1 MiB
	// mostPatch is the most that may be asked for.
	mostPatch = 32 << 20
	// diffTotal bounds how many bytes of changed files one Diff reads.
	diffTotal   = 256 << 20
	diffTimeout = 2 * time.Minute
	// archiveTimeout bounds one call that hashes or packs a whole checkout.
	archiveTimeout = 30 * time.Minute
)

// DiffOptions narrow a diff. The zero value means the whole checkout, 3 lines of
// context and at most 1 MiB of patch.
type DiffOptions struct {
	MaxBytes     int    // of Patch; 0 is 1 MiB, at most 32 MiB
	ContextLines int    // 0 is 3; negative is none
	Path         string // only this file or directory, relative to the top level
	Part         Part
	// Tip, when set, takes the place of the base: the diff is of what the checkout has that this commit has not. It begins where
	// both histories last were one, and files that are as the tip has them are left out.
	Tip OID
}

// Part is a part of what is in no commit.
type Part string

// Without a part everything since the base is shown.
const (
	PartStaged   Part = "staged"   // what the index has and HEAD has not
	PartUnstaged Part = "unstaged" // what the files have and the index has not, untracked ones included
)

// Kinds of changes.
const (
	Added       = "added"
	Modified    = "modified"
	Deleted     = "deleted"
	Renamed     = "renamed"
	TypeChanged = "typechanged" // a file became a link, or the like
)

// FileChange is one changed file. Paths are git's bytes, as in FileStatus.
type FileChange struct {
	Path, OldPath  string // OldPath only when renamed
	Kind           string
	Added, Removed int  // lines; 0 for binary, large and unreadable files
	Binary         bool // git sees no text
	Large          bool // more than 10 MiB, or beyond 256 MiB in all: not read
	Unreadable     bool // could not be opened, is no file (FIFO, socket), or has a name that git refuses: not read
	Nested         bool // a repository of its own: not looked into

	OldMode, NewMode string // as git writes them; 000000 for no file, empty for what was not read
	// Where it differs besides commits. A file may be staged and changed again.
	Staged, Unstaged, Untracked, Conflicted bool
}

// Submodule reports whether it is the commit of a submodule that changed.
func (f FileChange) Submodule() bool { return f.OldMode == modeGitlink || f.NewMode == modeGitlink }

// Diff is what differs between a commit and a checkout.
type Diff struct {
	Files     []FileChange // at most 20,000, by path
	Patch     string       // valid UTF-8; a byte that is none stands as \xNN, see Escaped
	Escaped   bool         // Patch holds at least one such byte
	Truncated bool         // Patch was cut at a line, or Files are not all
	FilesCut  bool         // Files are not all
	From      OID          // commit or tree that it begins at
	// Of all files, those that Files does not hold included.
	Count, Added, Removed int
}

// Diff returns everything that differs between the commit base and the files of
// the checkout at dir, committed or not, untracked files included, ignored ones
// not. It changes neither the repository nor its index, and runs no program
// that the repository or the checkout names. Where a partial clone lacks contents
// of base, nothing is fetched: the files are listed without counts and patch, and
// Truncated says so. It returns ErrNotWorktree for a directory that is no checkout
// of this repository, ErrBusy when files keep changing.
func (r *Repo) Diff(ctx context.Context, dir string, base OID, o DiffOptions) (Diff, error) {
	d, err := r.diff(ctx, dir, base, o)
	if err != nil {
		return Diff{}, fmt.Errorf("diff of %s: %w", dir, err)
	}
	return d, nil
}

func (r *Repo) diff(ctx context.Context, dir string, base OID, o DiffOptions) (Diff, error) {
	if !base.Valid() {
		return Diff{}, fmt.Errorf("base %q: %w", clip(string(base), 80), ErrBadRef)
	}
	if err := o.check(); err != nil {
		return Diff{}, err
	}
	v, err := r.view(ctx, dir)
	if err != nil {
		return Diff{}, err
	}
	for _, commit := range []OID{base, o.Tip} {
		if commit == "" {
			continue
		}
		if _, err := r.Resolve(ctx, string(commit)); err != nil {
			return Diff{}, err
		}
	}
	sc, err := r.newScratch(ctx, v, asPerson)
	if err != nil {
		return Diff{}, err
	}
	defer sc.remove()
	before, err := sc.states(ctx, v.head.oid)
	if err != nil {
		return Diff{}, err
	}
	staged, err := sc.stageAll(ctx, limits{file: bigFile, total: diffTotal,
		same: func(paths []string) (map[string]bool, error) { return r.lfsSame(ctx, sc, paths) }})
	if err != nil {
		return Diff{}, err
	}
	rg, err := r.rangeOf(ctx, sc, v, base, before.index, o)
	if err != nil {
		return Diff{}, err
	}
	d, err := r.diffRange(ctx, sc, rg, o, func(d *Diff) {
		if o.Part != PartStaged {
			d.addLeftOut(staged.left, o.Path)
		}
	})
	if err != nil {
		return Diff{}, err
	}
	return d, sc.mark(ctx, before, staged, &d)
}

// span is what a diff compares: two trees, or with an empty to the tree from with the index.
type span struct{ from, to OID }

// rangeOf returns what the options ask for. The stand-in's index is the state of the checkout; index is the tree of what was
// staged.
func (r *Repo) rangeOf(ctx context.Context, sc *scratch, v view, base, index OID, o DiffOptions) (span, error) {
	switch {
	case o.Part == PartStaged:
		head, err := sc.treeOf(ctx, v.head.oid)
		return span{from: head, to: index}, err
	case o.Part == PartUnstaged:
		return span{from: index}, nil
	case o.Tip != "":
		from, err := r.sinceTip(ctx, sc, v, o.Tip)
		return span{from: from}, err
	}
	return span{from: base}, nil
}

// diffRange lists the changes and fills in the text. add adds what git does not list.
func (r *Repo) diffRange(ctx context.Context, sc *scratch, rg span, o DiffOptions, add func(*Diff)) (Diff, error) {
	d, err := sc.listChanges(ctx, rg, o, "--raw", "--numstat", "-z")
	incomplete := r.partial && stderrHas(err, "unable to read", "missing blob", "could not fetch", "promisor")
	if incomplete {
		d, err = sc.listChanges(ctx, rg, o, "--raw", "-z", "--no-renames")
	}
	if err != nil {
		return Diff{}, err
	}
	add(&d)
	d.From, d.Count = rg.from, len(d.Files)
	for _, f := range d.Files {
		d.Added, d.Removed = d.Added+f.Added, d.Removed+f.Removed
	}
	if len(d.Files) > maxFiles {
		d.Files, d.Truncated, d.FilesCut = d.Files[:maxFiles], true, true
	}
	if incomplete {
		d.Truncated = true
		return d, nil
	}
	return d, sc.patch(ctx, rg, o, &d)
}

// diffArgs compare, running no program.
func diffArgs(rg span, o DiffOptions, format ...string) []string {
	args := append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short", "--find-renames", "-l1000"}, format...)
	if rg.to == "" {
		args = append(args, "--cached", "--end-of-options", string(rg.from), "--")
	} else {
		args = append(args, "--end-of-options", string(rg.from), string(rg.to), "--")
	}
	if o.Path != "" {
		args = append(args, o.Path)
	}
	return args
}

func (s *scratch) listChanges(ctx context.Context, rg span, o DiffOptions, format ...string) (Diff, error) {
	out, err := s.run(ctx, call{timeout: diffTimeout, args: diffArgs(rg, o, format...)})
	if err != nil {
		return Diff{}, err
	}
	files, err := parseChanges(string(out))
	return Diff{Files: files}, err
}

// patch fills in the text, cut at the limit.
func (s *scratch) patch(ctx context.Context, rg span, o DiffOptions, d *Diff) error {
	limit := o.MaxBytes
	switch {
	case limit <= 0:
		limit = defaultPatch
	case limit > mostPatch:
		limit = mostPatch
	}
	lines := o.ContextLines
	switch {
	case lines == 0:
		lines = 3
	case lines < 0:
		lines = 0
	}
	out, cut, err := s.git.runCut(ctx, call{seal: s, write: true, cut: true, limit: int64(limit), timeout: diffTimeout,
		args: diffArgs(rg, o, "--patch", "--src-prefix=a/", "--dst-prefix=b/", "--unified="+strconv.Itoa(min(lines, 1000)))})
	if err != nil {
		return err
	}
	text := string(out)
	if cut {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	d.Patch, d.Escaped = escapeInvalid(text)
	if len(d.Patch) > limit { // escapes are longer than what they stand for
		d.Patch, cut = d.Patch[:strings.LastIndexByte(d.Patch[:limit], '\n')+1], true
	}
	d.Truncated = d.Truncated || cut
	return nil
}

// escapeInvalid writes each byte that is part of no UTF-8 character as \xNN.
func escapeInvalid(s string) (string, bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if c == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02X`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String(), true
}

// parseChanges reads `diff --raw --numstat -z`: all raw records, then the line
// counts of the same files. It takes any input: what it does not know is an error.
func parseChanges(out string) ([]FileChange, error) {
	var files []FileChange
	at := map[string]int{}
	next := func() (string, bool) {
		rec, rest, ok := strings.Cut(out, "\x00")
		out = rest
		return rec, ok
	}
	for out != "" {
		rec, _ := next()
		bad := fmt.Errorf("unexpected diff record %q", clip(rec, 80))
		if strings.HasPrefix(rec, ":") {
			f, renamed, ok := rawChange(rec)
			if !ok {
				return nil, bad
			}
			if renamed {
				if f.OldPath, ok = next(); !ok {
					return nil, bad
				}
			}
			if f.Path, ok = next(); !ok || f.Path == "" {
				return nil, bad
			}
			at[f.Path] = len(files)
			files = append(files, f)
			continue
		}
		parts := strings.SplitN(rec, "\t", 3)
		if len(parts) != 3 {
			return nil, bad
		}
		path := parts[2]
		if path == "" { // renamed: old and new path follow
			next()
			path, _ = next()
		}
		i, ok := at[path]
		if !ok {
			return nil, bad
		}
		if err := files[i].count(parts[0], parts[1]); err != nil {
			return nil, bad
		}
	}
	return files, nil
}

// rawChange reads ":oldmode newmode old new X[score]".
func rawChange(rec string) (f FileChange, renamed, ok bool) {
	parts := strings.Split(rec, " ")
	if len(parts) != 5 || parts[4] == "" {
		return f, false, false
	}
	f.OldMode, f.NewMode = strings.TrimPrefix(parts[0], ":"), parts[1]
	switch parts[4][0] {
	case 'A':
		f.Kind = Added
	case 'D':
		f.Kind = Deleted
	case 'M', 'U':
		f.Kind = Modified
	case 'T':
		f.Kind = TypeChanged
	case 'R', 'C':
		f.Kind, renamed = Renamed, true
	default:
		return f, false, false
	}
	return f, renamed, true
}

func (f *FileChange) count(added, removed string) (err error) {
	if added == "-" && removed == "-" {
		f.Binary = true
		return nil
	}
	if f.Added, err = strconv.Atoi(added); err == nil {
		f.Removed, err = strconv.Atoi(removed)
	}
	return err
}

// addLeftOut adds the files that were not read. One that git lists already (it
// also changed in a commit) is marked.
func (d *Diff) addLeftOut(left map[string]leftOut, only string) {
	at := map[string]int{}
	for i, f := range d.Files {
		at[f.Path] = i
	}
	only = strings.TrimSuffix(only, "/")
	for path, l := range left {
		if only != "" && path != only && !strings.HasPrefix(path, only+"/") {
			continue
		}
		i, ok := at[path]
		if !ok {
			i = len(d.Files)
			kind := Added
			if l.tracked {
				kind = Modified
			}
			d.Files = append(d.Files, FileChange{Path: path, Kind: kind})
		}
		f := &d.Files[i]
		f.Large = f.Large || l.why == large
		f.Unreadable = f.Unreadable || l.why == unreadable || l.why == special || l.why == refused
		f.Nested = f.Nested || l.why == nested
	}
	sort.Slice(d.Files, func(i, j int) bool { return d.Files[i].Path < d.Files[j].Path })
}
