//go:build unix

package gitview

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"termic/app/git"
)

// Note is something remarkable in new commits that is no reason to refuse them.
type Note struct {
	Rule Rule
	Path string // git's bytes, of the first place where it was seen
}

const (
	maxNotes   = 200
	maxModules = 1 << 20 // bytes of a .gitmodules that is looked at
)

// walker looks at directories, each once, however often it stands in a tree: a tree bomb has few of them.
type walker struct {
	objects *objects
	lim     Limits
	idLen   int
	trees   map[git.OID]*summary
	pairs   map[[2]git.OID]bool // directories compared already, new and old
	known   bool                // what is being looked at is known: no notes
	notes   []Note
}

// summary is what a directory holds, with everything below it.
type summary struct {
	entries  int64 // files and directories; saturated
	depth    int   // directories below each other, itself included
	gitlinks bool
	modules  git.OID // its .gitmodules, "" for none
	list     []entry // kept only where gitlinks are below: they are looked for again
}

// walk refuses what would hurt whoever lists or checks out a new commit, and notes what is odd. What strict git
// lets through was measured: gitlinks, clashing names, links that git reads, tree bombs.
func (in *incoming) walk(ctx context.Context) error {
	if len(in.commits) == 0 {
		return nil
	}
	w := &walker{lim: in.lim, idLen: 20, trees: map[git.OID]*summary{}, pairs: map[[2]git.OID]bool{}, objects: in.objects(ctx)}
	defer w.objects.close() //nolint:errcheck // it is ended in the middle
	if in.Repo.SHA256() {
		w.idLen = 32
	}
	before, err := in.lastTree(ctx)
	if err != nil {
		return err
	}
	if err := w.measure(in, before); err != nil {
		return refuse(ctx, RuleTree, "a tree cannot be read", err)
	}
	in.notes = w.notes
	return nil
}

// lastTree is the tree of the commit at which both views last were the same.
func (in *incoming) lastTree(ctx context.Context) (git.OID, error) {
	out, err := in.run(ctx, git.Sealed{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", string(in.pins.last) + "^{tree}"}})
	if err != nil {
		return "", fmt.Errorf("tree of %s: %w", in.pins.last, err)
	}
	return git.OID(strings.TrimSpace(string(out))), nil
}

func (w *walker) measure(in *incoming, before git.OID) error {
	w.known = true
	// A person's own tree may be larger than any limit; ours is the number of directories only.
	lim := w.lim
	w.lim.Entries, w.lim.Depth = math.MaxInt64, math.MaxInt32
	old, err := w.look(before, "", 1)
	if err != nil {
		return err
	}
	w.lim, w.known = lim, false
	w.lim.Entries = max(lim.Entries, 10*min(old.entries, math.MaxInt64/10))
	w.lim.Depth = max(lim.Depth, old.depth)
	w.lim.Trees += len(w.trees)
	for i := len(in.commits) - 1; i >= 0; i-- { // oldest first: a note names where it began
		c := in.commits[i]
		s, err := w.look(c.tree, "", 1)
		if err != nil {
			return err
		}
		if s.entries > w.lim.Entries {
			return &RefusedError{Rule: RuleEntries, Detail: fmt.Sprintf("commit %s has more than %d files and directories", c.oid, w.lim.Entries)}
		}
		if !w.lim.Gitlinks {
			if err := w.newGitlinks(c.tree, before, ""); err != nil {
				return err
			}
		}
	}
	return w.modules(in, before)
}

// look returns what a directory holds. Each one is read once; path is where it was seen first.
func (w *walker) look(oid git.OID, path string, depth int) (*summary, error) {
	if s := w.trees[oid]; s != nil {
		if depth-1+s.depth > w.lim.Depth {
			return nil, &RefusedError{Rule: RuleDepth, Detail: fmt.Sprintf("more than %d directories below each other", w.lim.Depth)}
		}
		return s, nil
	}
	if depth > w.lim.Depth {
		return nil, &RefusedError{Rule: RuleDepth, Detail: fmt.Sprintf("more than %d directories below each other", w.lim.Depth)}
	}
	if len(w.trees) >= w.lim.Trees && !w.known {
		return nil, &RefusedError{Rule: RuleTrees, Detail: fmt.Sprintf("more than %d different directories", w.lim.Trees)}
	}
	data, err := w.objects.get(oid, "tree", maxTree)
	if err != nil {
		return nil, err
	}
	list, err := parseTree(data, w.idLen)
	if err != nil {
		return nil, &RefusedError{Rule: RuleTree, Detail: fmt.Sprintf("directory %s (%q)", oid, clip(path)), Err: err}
	}
	if !w.known {
		if err := w.judge(list, path); err != nil {
			return nil, err
		}
	}
	s := &summary{depth: 1}
	for _, e := range list {
		s.entries = add(s.entries, 1)
		switch e.kind {
		case blob:
			if e.name == ".gitmodules" {
				s.modules = e.oid
			}
		case gitlink:
			s.gitlinks = true
		case tree:
			below, err := w.look(e.oid, join(path, e.name), depth+1)
			if err != nil {
				return nil, err
			}
			s.entries = add(s.entries, below.entries)
			s.depth = max(s.depth, below.depth+1)
			s.gitlinks = s.gitlinks || below.gitlinks
		}
	}
	if s.gitlinks {
		s.list = list
	}
	w.trees[oid] = s
	return s, nil
}

// judge looks at the names and modes of one new directory.
func (w *walker) judge(list []entry, path string) error {
	for _, e := range list {
		if why := badName(e.name); why != "" {
			return &RefusedError{Rule: RuleTree, Detail: fmt.Sprintf("%s: %q", why, clip(join(path, e.name)))}
		}
		switch {
		case oddName(e.name):
			w.note(NoteName, join(path, e.name))
		case !writtenModes[e.mode]:
			w.note(NoteMode, join(path, e.name))
		case e.kind == link && linkedFiles[fold(e.name)]:
			w.note(NoteLinkedFile, join(path, e.name))
		}
	}
	for _, name := range clashes(list) {
		w.note(NoteCaseClash, join(path, name))
	}
	return nil
}

func (w *walker) note(rule Rule, path string) {
	if len(w.notes) < maxNotes {
		w.notes = append(w.notes, Note{rule, path})
	}
}

// newGitlinks refuses a gitlink at a path where the old tree has none. It goes only where gitlinks are, and compares
// two directories once.
func (w *walker) newGitlinks(now, old git.OID, path string) error {
	s := w.trees[now]
	if now == old || s == nil || !s.gitlinks || w.pairs[[2]git.OID{now, old}] {
		return nil
	}
	w.pairs[[2]git.OID{now, old}] = true
	was := map[string]entry{}
	if old != "" {
		before := w.trees[old]
		for _, e := range before.list { // nil when no gitlink is below: then every one is new
			was[e.name] = e
		}
	}
	for _, e := range s.list {
		b, had := was[e.name]
		switch {
		case e.kind == gitlink && !(had && b.kind == gitlink):
			return &RefusedError{Rule: RuleGitlink, Detail: fmt.Sprintf("new gitlink %q", clip(join(path, e.name)))}
		case e.kind == tree:
			below := git.OID("")
			if had && b.kind == tree {
				below = b.oid
			}
			if err := w.newGitlinks(e.oid, below, join(path, e.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

var moduleURL = regexp.MustCompile(`(?im)^\s*url\s*=\s*"?(.*)$`)

// modules notes a .gitmodules of a claimed commit that the old tree does not have, and addresses in it that are
// not plainly remote. Nothing of ours ever fetches one.
func (w *walker) modules(in *incoming, before git.OID) error {
	seen := map[git.OID]bool{w.trees[before].modules: true, "": true}
	for _, c := range in.commits {
		oid := w.trees[c.tree].modules
		if seen[oid] {
			continue
		}
		seen[oid] = true
		w.note(NoteModules, ".gitmodules")
		data, err := w.objects.get(oid, "blob", maxModules)
		if err != nil {
			return err
		}
		for _, m := range moduleURL.FindAllStringSubmatch(string(data), 100) {
			if url := strings.TrimSpace(m[1]); helperRE.MatchString(url) || strings.HasPrefix(url, "-") || strings.HasPrefix(url, "/") || strings.HasPrefix(strings.ToLower(url), "file:") {
				w.note(NoteModulesURL, ".gitmodules")
			}
		}
	}
	return nil
}

func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func clip(s string) string { return s[:min(len(s), 200)] }
