package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Carried is an ignored file or directory of the project's checkout that another checkout got a copy of.
type Carried struct {
	Path string `json:"path"` // from the top, with slashes
	// Print stands for what was copied: names, kinds, permissions, sizes, times of files and where links lead.
	Print string `json:"print"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// NotCarried is a name that was asked for and not copied, and why, in words. Missing tells that there is no such file.
type NotCarried struct {
	Name, Why string
	Missing   bool
}

// CarryOptions say what is copied from the project's checkout.
type CarryOptions struct {
	// Names are paths from the top, or patterns of ignored files and of directories that are ignored whole: * and ? within a
	// name, ** for any number of directories.
	Names []string
	// Dir is the checkout to copy into, in which nobody works yet; empty to only look what there is.
	Dir string
	// May says whether an entry is copied; nil: each is. What it refuses is left out without a word.
	May func(Carried) bool
	// Progress, when set, is told in a few words how far it has come.
	Progress func(string)
}

const (
	// carryBytes bounds what is copied into one checkout: more is no set of files that a task needs at its start.
	carryBytes = 32 << 30
	// carryPaths bounds the entries that patterns find.
	carryPaths = 2000
)

// Carry copies files that git ignores from the project's checkout into another one: never links to them, and never over
// what is there. An entry must be ignored in both checkouts, so that no copy is ever taken for work of the task, and no
// directory on its way may be a link. What cannot be copied is returned with its reason; an error is for a repository
// that cannot be asked, and for the end of ctx.
func (r *Repo) Carry(ctx context.Context, o CarryOptions) (carried []Carried, left []NotCarried, err error) {
	found, left, err := r.carriable(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("look for files to copy: %w", err)
	}
	if o.Dir == "" || len(found) == 0 {
		return carriedOf(found), left, nil
	}
	c, err := newCarrier(r.Root, o)
	if err != nil {
		return nil, nil, fmt.Errorf("copy files into %s: %w", o.Dir, err)
	}
	defer c.close()
	for _, tree := range found {
		if err := c.copy(ctx, tree); err != nil {
			if ctx.Err() != nil {
				return nil, nil, fmt.Errorf("copy %s into %s: %w", tree.Path, o.Dir, err)
			}
			left = append(left, NotCarried{Name: tree.Path, Why: whyNotCopied(err)})
			continue
		}
		carried = append(carried, tree.Carried)
	}
	return carried, left, nil
}

// Carriable returns which of what the names stand for would be copied into a checkout that ignores the same, and what not.
// What is in directories is not looked at.
func (r *Repo) Carriable(ctx context.Context, names []string) (paths []string, left []NotCarried, err error) {
	root, err := os.OpenRoot(r.Root)
	if err == nil {
		defer root.Close()
		paths, left, err = r.carryPathsIgnored(ctx, root, CarryOptions{Names: names})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look for files to copy: %w", err)
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, "/")
	}
	return paths, left, nil
}

// carryTree is an entry with all that is in it.
type carryTree struct {
	Carried
	all []Beside
}

func carriedOf(trees []carryTree) (list []Carried) {
	for _, t := range trees {
		list = append(list, t.Carried)
	}
	return list
}

const notThere = "it is not there"

// carriable finds what the names stand for and may be copied.
func (r *Repo) carriable(ctx context.Context, o CarryOptions) (trees []carryTree, left []NotCarried, err error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	paths, left, err := r.carryPathsIgnored(ctx, root, o)
	if err != nil {
		return nil, nil, err
	}
	var bytes int64
	for _, p := range paths {
		tree, why, err := carryTreeOf(root, strings.TrimSuffix(p, "/"))
		if err != nil {
			return nil, nil, err
		}
		switch {
		case why != "":
			left = append(left, NotCarried{Name: tree.Path, Why: why})
		case bytes+tree.Bytes > carryBytes:
			left = append(left, NotCarried{Name: tree.Path, Why: fmt.Sprintf("it is too large: %d GiB are copied at most", carryBytes>>30)})
		case o.May == nil || o.May(tree.Carried):
			bytes += tree.Bytes
			trees = append(trees, tree)
		}
	}
	return trees, left, nil
}

// carryPathsIgnored returns those of the paths that names stand for which are ignored where they are, and where they are to go.
func (r *Repo) carryPathsIgnored(ctx context.Context, root *os.Root, o CarryOptions) (paths []string, left []NotCarried, err error) {
	paths, left, err = r.carryPaths(ctx, root, o.Names)
	if err != nil || len(paths) == 0 {
		return nil, left, err
	}
	v, err := r.view(ctx, r.Root)
	if err != nil {
		return nil, nil, err
	}
	views := []view{v}
	if o.Dir != "" {
		to, err := r.view(ctx, o.Dir)
		if err != nil {
			return nil, nil, err
		}
		views = append(views, to)
	}
	for _, v := range views {
		kept := paths[:0:0]
		ignored, err := r.ignored(ctx, v, paths)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range paths {
			if ignored[p] {
				kept = append(kept, p)
				continue
			}
			where := "git does not ignore it"
			if v.dir != views[0].dir {
				where += " in the task, where it would be taken for work"
			}
			left = append(left, NotCarried{Name: strings.TrimSuffix(p, "/"), Why: where})
		}
		paths = kept
	}
	return paths, left, nil
}

// carryPaths returns the paths that names stand for, each once, none within another; directories end in a slash.
func (r *Repo) carryPaths(ctx context.Context, root *os.Root, names []string) (paths []string, left []NotCarried, err error) {
	var entries []string
	for _, name := range names {
		matched := []string{name}
		if strings.ContainsAny(name, "*?[") {
			if entries == nil {
				if entries, err = r.ignoredEntries(ctx); err != nil {
					return nil, nil, err
				}
			}
			matched = slices.DeleteFunc(slices.Clone(entries), func(e string) bool { return !matchPath(name, strings.TrimSuffix(e, "/")) })
			if len(matched) > carryPaths {
				left = append(left, NotCarried{Name: name, Why: fmt.Sprintf("it stands for more than %d entries", carryPaths)})
				continue
			}
		}
		for _, m := range matched {
			p, why := carryPath(root, m)
			if why != "" {
				left = append(left, NotCarried{strings.TrimSuffix(m, "/"), why, why == notThere})
				continue
			}
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	outer := paths[:0:0]
	for _, p := range paths { // a directory comes before what is in it
		if n := len(outer); n == 0 || !strings.HasSuffix(outer[n-1], "/") || !strings.HasPrefix(p, outer[n-1]) {
			outer = append(outer, p)
		}
	}
	return outer, left, nil
}

// carryPath looks a path up: a regular file, or a directory, to which no link leads.
func carryPath(root *os.Root, name string) (p, why string) {
	p = path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(p)) || p == "." || slices.ContainsFunc(strings.Split(p, "/"), func(n string) bool { return strings.EqualFold(n, ".git") }) {
		return "", "it is no path within the checkout"
	}
	names := strings.Split(p, "/")
	for i := range names {
		info, err := root.Lstat(filepath.FromSlash(strings.Join(names[:i+1], "/")))
		last := i == len(names)-1
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", notThere
		case err != nil:
			return "", "it cannot be looked at"
		case info.Mode()&fs.ModeSymlink != 0:
			return "", "it is a link, or leads through one"
		case info.IsDir() && last:
			return p + "/", ""
		case !info.IsDir() && !last:
			return "", notThere
		case last && !info.Mode().IsRegular():
			return "", "it is neither a file nor a directory"
		}
	}
	return p, ""
}

// carryTreeOf lists an entry, or says why it is not copied.
func carryTreeOf(root *os.Root, p string) (t carryTree, why string, err error) {
	t.Path = p
	err = besideOf(root, filepath.FromSlash(p), &t.all)
	switch {
	case errors.Is(err, ErrTooLarge):
		return t, fmt.Sprintf("it has more than %d files", besideMost), nil
	case errors.Is(err, fs.ErrPermission):
		return t, "it cannot be read", nil
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(t.all) == 0:
		return t, notThere, nil
	case err != nil:
		return t, "", err
	}
	h := sha256.New()
	for _, b := range t.all {
		changed := int64(0)
		if b.Mode.IsRegular() {
			t.Files++
			t.Bytes += b.Size
			changed = b.Changed.UnixNano()
		}
		fmt.Fprintf(h, "%q %o %d %d %q\n", b.Path, b.Mode, b.Size, changed, b.Link)
	}
	t.Print = hex.EncodeToString(h.Sum(nil))
	return t, "", nil
}

// ignoredEntries lists what git ignores in the project's checkout: files, and directories of which nothing else is in.
func (r *Repo) ignoredEntries(ctx context.Context) ([]string, error) {
	out, err := r.git.run(ctx, call{at: r.Root, args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}})
	if err != nil {
		return nil, err
	}
	return splitNUL(out), nil
}

// ignored returns which of the paths git ignores in a checkout; those of directories end in a slash.
func (r *Repo) ignored(ctx context.Context, v view, paths []string) (map[string]bool, error) {
	ask := func(paths ...string) (map[string]bool, error) {
		// Names are no patterns there, but one that begins with a colon would be magic (gitglossary(7), "pathspec").
		in := "./" + strings.Join(paths, "\x00./") + "\x00"
		out, err := r.git.run(ctx, call{gitDir: v.gitDir, workTree: v.dir, stdin: strings.NewReader(in), env: []string{"GIT_LITERAL_PATHSPECS=0"},
			args: []string{"check-ignore", "-z", "--stdin"}})
		if err != nil && exitCode(err) != 1 { // 1: none is
			return nil, err
		}
		found := map[string]bool{}
		for _, p := range splitNUL(out) {
			found[strings.TrimPrefix(p, "./")] = true
		}
		return found, nil
	}
	found, err := ask(paths...)
	unanswered := func(err error) bool { return stderrHas(err, "in submodule", "beyond a symbolic link") }
	if !unanswered(err) {
		return found, err
	}
	found = map[string]bool{}
	for _, p := range paths {
		one, err := ask(p)
		if err != nil && !unanswered(err) {
			return nil, err
		}
		found[p] = one[p]
	}
	return found, nil
}

// matchPath tells whether a pattern matches a path: name by name as path.Match does, and ** any number of names.
func matchPath(pattern, p string) bool {
	return matchNames(strings.Split(pattern, "/"), strings.Split(p, "/"))
}

func matchNames(patterns, names []string) bool {
	if len(patterns) == 0 {
		return len(names) == 0
	}
	if patterns[0] == "**" {
		return matchNames(patterns[1:], names) || len(names) > 0 && matchNames(patterns, names[1:])
	}
	if len(names) == 0 {
		return false
	}
	ok, err := path.Match(patterns[0], names[0])
	return err == nil && ok && matchNames(patterns[1:], names[1:])
}
