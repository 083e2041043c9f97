package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// stateFile and stateTotal bound the private files of a checkout that are
	// kept (a reflog of 100,000 entries is 20 MiB).
	stateFile  = 64 << 20
	stateTotal = 256 << 20
)

// notState are entries of a checkout's git directory that are rebuilt, belong to
// the record, or are kept otherwise. Everything else there is state: unfinished
// merges and rebases, private refs and reflogs, messages, sparse patterns.
var notState = []string{
	"HEAD", "index", "commondir", "gitdir", "locked", "AUTO_MERGE", "fsmonitor--daemon", "fsmonitor--daemon.ipc",
	// These exist in the main worktree's git directory only, where they are the
	// repository itself.
	"objects", "refs/heads", "refs/tags", "refs/remotes", "refs/stash", "refs/termic", "refs/notes", "packed-refs", "config", "description",
	"hooks", "branches", "worktrees", "modules", "lfs", "shallow", "info/exclude", "info/attributes", "info/refs", "logs/refs/heads",
	"logs/refs/remotes", "logs/refs/stash",
}

// readState reads the private files of a checkout, by path from its git directory.
func readState(gitDir string) (map[string][]byte, error) {
	state := map[string][]byte{}
	total := 0
	err := filepath.WalkDir(gitDir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git removes lock files under our eyes
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(gitDir, path)
		if err != nil {
			return err
		}
		if slices.Contains(notState, rel) || strings.HasPrefix(rel, "sharedindex.") || strings.HasSuffix(rel, ".lock") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := readSmall(path, stateFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if total += len(data); total > stateTotal {
			return fmt.Errorf("private files of the checkout: %w", ErrTooLarge)
		}
		state[rel] = data
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", gitDir, err)
	}
	return state, nil
}

// idsIn returns every object id that the private files mention.
func idsIn(state map[string][]byte, sha256 bool) []OID {
	digits := 40
	if sha256 {
		digits = 64
	}
	re := regexp.MustCompile(fmt.Sprintf(`\b[0-9a-f]{%d}\b`, digits))
	seen := map[OID]bool{}
	for _, data := range state {
		for _, m := range re.FindAll(data, -1) {
			if oid := OID(m); oid.Valid() {
				seen[oid] = true
			}
		}
	}
	ids := make([]OID, 0, len(seen))
	for oid := range seen {
		ids = append(ids, oid)
	}
	slices.Sort(ids)
	return ids
}

// Names in the tree of a state commit.
const (
	stateGit      = "git"        // the private files
	stateUnmerged = "unmerged"   // ls-files --unmerged -z
	stateStages   = "stages"     // the blobs that unmerged names
	stateIntended = "intended"   // intent-to-add paths, NUL-terminated
	stateAssumed  = "assumed"    // assume-unchanged paths, NUL-terminated; absent without any
	stateDirs     = "empty-dirs" // NUL-terminated
	stateModes    = "modes"      // as modeLine writes them, NUL-terminated
	stateWritten  = "written"    // files to write byte for byte, NUL-terminated
)

// keepState commits what is neither in the index tree nor in the files.
func (s *scratch) keepState(ctx context.Context, state map[string][]byte, x indexExtra, a *Archived) error {
	top := filepath.Join(s.dir, "state")
	files := map[string][]byte{
		stateUnmerged: x.unmerged,
		stateIntended: joinNUL(x.intended),
		stateDirs:     joinNUL(x.emptyDirs),
		stateModes:    joinNUL(x.modes),
		stateWritten:  joinNUL(x.written),
	}
	if len(x.assumed) > 0 { // without any, archives are as they were before there was this list
		files[stateAssumed] = joinNUL(x.assumed)
	}
	for rel, data := range state {
		files[stateGit+"/"+rel] = data
	}
	var list, blobs bytes.Buffer
	for rel, data := range files {
		path := filepath.Join(top, rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		list.WriteString(rel + "\x00")
	}
	for _, rec := range splitNUL(x.unmerged) {
		if f := strings.Fields(rec); len(f) >= 3 && f[0] != "160000" {
			fmt.Fprintf(&blobs, "100644 %s 0\t%s/%s\x00", f[1], stateStages, f[1])
		}
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(s.dir, "index-state")}
	t := *s
	t.work = top
	if _, err := t.run(ctx, call{args: []string{"update-index", "-z", "--add", "--stdin"}, env: env, stdin: &list}); err != nil {
		return err
	}
	if blobs.Len() > 0 {
		if _, err := t.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, env: env, stdin: &blobs}); err != nil {
			return err
		}
	}
	var err error
	a.State, a.StateTree, err = t.commit(ctx, env, a, "state")
	return err
}

func joinNUL(list []string) []byte {
	if len(list) == 0 {
		return nil
	}
	return []byte(strings.Join(list, "\x00") + "\x00")
}

// savedState is a state commit, read back.
type savedState struct {
	git       map[string][]byte // private files
	unmerged  []byte
	stages    []string
	intended  []string
	assumed   []string
	emptyDirs []string
	modes     []string
	written   map[string]bool
}

// readArchive reads the state commit of an archive from the store. It fails when
// the store does not have the archive that the record names.
func (st *store) readArchive(ctx context.Context, a *Archived) (*savedState, error) {
	if err := st.has(ctx, a); err != nil {
		return nil, err
	}
	out, err := st.run(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", string(a.State)}})
	if err != nil {
		return nil, err
	}
	s := &savedState{git: map[string][]byte{}, written: map[string]bool{}}
	var paths, ids []string
	for _, rec := range splitNUL(out) {
		meta, path, _ := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if len(f) != 3 || f[1] != "blob" {
			return nil, fmt.Errorf("unexpected entry %q", clip(rec, 80))
		}
		if stage, ok := strings.CutPrefix(path, stateStages+"/"); ok {
			s.stages = append(s.stages, stage)
			continue
		}
		paths, ids = append(paths, path), append(ids, f[2])
	}
	blobs, err := st.sealed().blobs(ctx, ids, stateTotal+outputLimit)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		switch data := blobs[i]; path {
		case stateUnmerged:
			s.unmerged = data
		case stateIntended:
			s.intended = splitNUL(data)
		case stateAssumed:
			s.assumed = splitNUL(data)
		case stateDirs:
			s.emptyDirs = splitNUL(data)
		case stateModes:
			s.modes = splitNUL(data)
		case stateWritten:
			for _, p := range splitNUL(data) {
				s.written[p] = true
			}
		default:
			if rel, ok := strings.CutPrefix(path, stateGit+"/"); ok {
				s.git[rel] = data
			}
		}
	}
	return s, nil
}

// sparse are the private files that decide what a checkout writes.
var sparse = []string{"config.worktree", "info/sparse-checkout"}

// writeBefore writes the private files that the first checkout needs.
func (s *savedState) writeBefore(record string) error {
	return s.write(record, func(rel string) bool { return slices.Contains(sparse, rel) })
}

// writeAfter writes all others; a reflog goes before what is there by now.
func (s *savedState) writeAfter(record string) error {
	return s.write(record, func(rel string) bool { return !slices.Contains(sparse, rel) })
}

func (s *savedState) write(record string, want func(rel string) bool) error {
	root, err := os.OpenRoot(record)
	if err != nil {
		return err
	}
	defer root.Close()
	for rel, data := range s.git {
		if !want(rel) || slices.Contains(notState, rel) {
			continue
		}
		if strings.HasPrefix(rel, "logs/") {
			now, err := root.ReadFile(rel)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			data = append(slices.Clone(data), now...)
		}
		if dir := filepath.Dir(rel); dir != "." {
			if err := root.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		if err := root.WriteFile(rel, data, 0o600); err != nil {
			return fmt.Errorf("restore %s: %w", rel, err)
		}
	}
	return nil
}

// setModes gives files and directories the permissions that a checkout would not: what lies deepest first, since a
// directory may be one that nobody may write in.
func (s *savedState) setModes(root *os.Root) error {
	for _, line := range slices.Backward(s.modes) {
		path, mode, ok := parseModeLine(line)
		if !ok {
			return errors.New("archive record is damaged")
		}
		err := root.Chmod(filepath.FromSlash(path), mode)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore permissions: %w", err)
		}
	}
	return nil
}
