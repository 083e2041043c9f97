package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// surveyMost bounds how many ignored entries are counted: dependency folders
	// hold hundreds of thousands.
	surveyMost = 1_000_000
	// surveyRepos bounds the list of repositories in ignored folders.
	surveyRepos = 100
)

// found is what a walk over a checkout saw beside the files that git lists.
type found struct {
	nested       []string // directories with a .git of their own, outside ignored ones
	emptyDirs    []string
	ignoredFiles int
	ignoredBytes int64
	ignoredMore  bool
	ignoredRepos []string
	ruled        []string // ignored ones that a rule keeps
	fifos        []string
	special      []string // sockets and devices
	modes        []string // "0640 path", of what has other permissions than a checkout gives
}

// survey walks the checkout without following links. Every .git below the top
// is a repository that a commit would lose, submodules included.
func (s *scratch) survey(ctx context.Context, o ArchiveOptions) (found, error) {
	usual, err := usualModes(s.dir)
	if err != nil {
		return found{}, err
	}
	out, err := s.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}})
	if err != nil {
		return found{}, err
	}
	w := &walker{ctx: ctx, root: s.work, ignored: map[string]bool{}, usual: usual, rule: o.Ignored}
	list := splitNUL(out)
	slices.Sort(list)
	for i, p := range list {
		// A directory in which git sees ignored files alone is listed with them, and is itself not ignored: it may hold more.
		if i+1 < len(list) && strings.HasSuffix(p, "/") && strings.HasPrefix(list[i+1], p) {
			continue
		}
		w.ignored[strings.TrimSuffix(p, "/")] = true
	}
	if err := w.walk("", false); err != nil {
		return found{}, err
	}
	slices.Sort(w.nested)
	return w.found, nil
}

// TooDeepError is a path that, with that of the checkout, is longer than the system takes (path_resolution(7)): git passes over
// it in silence. Below is a directory that it is below of.
type TooDeepError struct{ Below string }

func (e *TooDeepError) Error() string {
	return fmt.Sprintf("a path below %q is too long", e.Below)
}

// tooDeep returns a *TooDeepError for an error that says so, else the error.
func tooDeep(err error, path string) error {
	const shown = 200 // bytes; the whole of it fills a screen
	if !errors.Is(err, unix.ENAMETOOLONG) {
		return err
	}
	below := filepath.ToSlash(path)
	if len(below) > shown {
		first, _, _ := strings.Cut(below, "/")
		below = below[:max(strings.LastIndexByte(below[:shown], '/'), len(first))]
	}
	return errors.Join(&TooDeepError{Below: below}, err)
}

type walker struct {
	found
	ctx     context.Context
	root    string
	ignored map[string]bool
	seen    int // ignored entries
	usual   modes
	rule    func(path string) bool
}

// modes are the permissions that a file, an executable one and a directory get from a checkout here.
type modes struct{ file, exec, dir fs.FileMode }

// usualModes finds them out in a directory of ours: the umask cannot be read without being set.
func usualModes(dir string) (modes, error) {
	probe := filepath.Join(dir, "umask")
	f, err := os.OpenFile(probe, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o777)
	if err != nil {
		return modes{}, err
	}
	info, err := f.Stat()
	f.Close()
	if e := os.Remove(probe); err == nil {
		err = e
	}
	if err != nil {
		return modes{}, err
	}
	perm := info.Mode().Perm()
	return modes{file: perm & 0o666, exec: perm, dir: perm}, nil
}

// note notes the permissions of an entry that git would not bring back.
func (w *walker) note(path string, mode fs.FileMode) {
	has := mode & (fs.ModePerm | fs.ModeSticky)
	switch mode.Type() {
	case 0:
		if has != w.usual.file && has != w.usual.exec {
			w.modes = append(w.modes, modeLine(path, has))
		}
	case fs.ModeDir:
		if has != w.usual.dir {
			w.modes = append(w.modes, modeLine(path, has))
		}
	}
}

// modeLine is how permissions are kept: four octal digits, the sticky bit as in chmod(1), and the path.
func modeLine(path string, mode fs.FileMode) string {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return fmt.Sprintf("%04o %s", bits, filepath.ToSlash(path))
}

// parseModeLine undoes modeLine; ok is false for what it never made.
func parseModeLine(line string) (path string, mode fs.FileMode, ok bool) {
	digits, path, ok := strings.Cut(line, " ")
	bits, err := strconv.ParseUint(digits, 8, 16)
	if !ok || err != nil || len(digits) != 4 || bits > 0o1777 || !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", 0, false
	}
	mode = fs.FileMode(bits & 0o777)
	if bits&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return path, mode, true
}

// walk visits one directory; rel is its path from the top, "" for the top.
func (w *walker) walk(rel string, ignored bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(w.root, rel))
	if err != nil {
		if ignored {
			w.ignoredMore = true
			return nil
		}
		if errors.Is(err, fs.ErrPermission) { // git passes over it in silence
			return &UnkeepableError{Paths: []string{rel}}
		}
		return tooDeep(err, rel)
	}
	if rel != "" && !ignored && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !w.ignored[filepath.Join(rel, e.Name())] }) {
		w.emptyDirs = append(w.emptyDirs, rel) // or what is in it is not kept
	}
	if rel != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		if !ignored {
			w.nested = append(w.nested, rel)
			return nil
		}
		if len(w.ignoredRepos) < surveyRepos {
			w.ignoredRepos = append(w.ignoredRepos, rel)
		}
	}
	for _, e := range entries {
		if rel == "" && e.Name() == ".git" {
			continue
		}
		if err := w.entry(filepath.Join(rel, e.Name()), e, ignored); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(path string, e fs.DirEntry, ignored bool) error {
	ignored = ignored || w.ignored[path]
	if ignored {
		if w.seen++; w.seen > surveyMost {
			w.ignoredMore = true
			return nil
		}
	}
	if ignored && w.rule != nil && w.rule(filepath.ToSlash(path)) {
		w.ruled = append(w.ruled, path)
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && ignored { // it goes with the checkout, and is not looked into
		w.ignoredMore = true
		return nil
	}
	if err != nil {
		return tooDeep(err, path)
	}
	if !ignored {
		w.note(path, info.Mode())
	}
	switch kind := info.Mode().Type(); {
	case kind == fs.ModeDir:
		return w.walk(path, ignored)
	case ignored:
		w.ignoredFiles++
		w.ignoredBytes += info.Size()
	case kind == fs.ModeNamedPipe:
		w.fifos = append(w.fifos, path)
	case kind != 0 && kind != fs.ModeSymlink:
		w.special = append(w.special, path)
	}
	return nil
}

// ownModules names the submodule repositories that a linked worktree holds in
// its record, and that would go with it, checked out or not.
func (r *Repo) ownModules(v view) []string {
	if v.gitDir == r.CommonDir {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(v.gitDir, "modules"))
	if err != nil { // there is none
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, ".git/modules/"+e.Name())
	}
	return names
}
