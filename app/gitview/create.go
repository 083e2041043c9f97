//go:build unix

package gitview

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"termic/app/git"
	"termic/app/safefile"
)

// Options say what a private git directory knows besides the task's own branch.
type Options struct {
	// BaseBranch is the local branch that the task started from; it and its upstream are copied. "" for none.
	BaseBranch string
	// Refs are more refs to copy, by full name; one that does not exist is an error.
	Refs []string
	// NoTags leaves the tags out. Otherwise the newest maxTags are copied.
	NoTags bool
	// Kept is what an archive kept of an earlier private directory: its refs, stashes, HEAD and staged state are made
	// again.
	Kept *Kept
}

// View is what the cage has to bind for a private git directory.
type View struct {
	Private string   // writable, at this very path
	Objects []string // read-only: the borrowed store, then each one that it borrows from in turn
	LFS     string   // read-only: the project's large files; "" when there are none, or history is isolated
	GitFile string   // the text to bind, read-only, over the checkout's .git file
	Partial bool     // the project is a partial clone: history may be incomplete
	TagsOut int      // older tags that were left out
}

const (
	maxTags = 1000 // each costs a pin in the project
	// maxIndex bounds the copied index: 100,000 files make 10 MB.
	maxIndex = 1 << 30
	maxSmall = 16 << 20 // info/exclude, shallow and the like
)

// Create writes the private git directory of a task at private, which must not exist, and pins in the project what
// it borrows. No git runs on the private directory. On any failure nothing is left. What the view cannot have is an
// *UnsupportedError; a checkout that is no locked linked worktree at its branch is ErrBadTask.
func (t Task) Create(ctx context.Context, private string, o Options) (*View, error) {
	v, err := t.create(ctx, private, o)
	if err != nil {
		return nil, fmt.Errorf("create a private git view of %s: %w", t.Dir, err)
	}
	return v, nil
}

func (t Task) create(ctx context.Context, private string, o Options) (_ *View, err error) {
	w, err := t.host(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkHost(t, w); err != nil {
		return nil, err
	}
	if err := checkPath(private); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(private); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s: %w", private, ErrExists), err)
	}
	settings, err := t.Repo.Settings(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := t.checkFilters(ctx, w, settings); err != nil {
		return nil, err
	}
	copied, out, err := t.copied(ctx, w.Head, o)
	if err != nil {
		return nil, err
	}
	start, err := t.start(ctx, w, o.Kept, copied)
	if err != nil {
		return nil, err
	}
	if t.Store != "" {
		tips := []git.OID{w.Head}
		for _, r := range start.refs {
			tips = append(tips, r.OID)
		}
		if err := t.makeStore(ctx, tips); err != nil {
			return nil, err
		}
	}
	v, err := t.view(ctx, private)
	if err != nil {
		return nil, err
	}
	v.TagsOut = out
	undo, err := t.pinCreated(ctx, w.Head, start)
	if err != nil {
		return nil, err
	}
	if err := t.write(w, private, v, privateConfig(settings, t.Branch, t.Repo.SHA256()), start); err != nil {
		// Without the caller's end, which may be why we are here.
		return nil, errors.Join(err, t.Repo.UpdateRefs(context.WithoutCancel(ctx), "termic: unpin", undo))
	}
	return v, nil
}

// Open returns what the cage has to bind for a private directory that Create made. It does not look into it.
func (t Task) Open(ctx context.Context, private string) (*View, error) {
	v, err := t.view(ctx, private)
	if err != nil {
		return nil, fmt.Errorf("open the private git view of %s: %w", t.Dir, err)
	}
	return v, nil
}

func (t Task) view(ctx context.Context, private string) (v *View, err error) {
	v = &View{Private: private, GitFile: "gitdir: " + private + "\n", Partial: t.Repo.Partial()}
	if v.Objects, err = t.stores(ctx); err != nil {
		return nil, err
	}
	if lfs := filepath.Join(t.Repo.CommonDir, "lfs", "objects"); t.Store == "" && isDir(lfs) {
		v.LFS = lfs
	}
	return v, nil
}

func checkHost(t Task, w git.Linked) error {
	switch {
	case w.Head == "":
		return &UnsupportedError{"a branch without a commit", "make a first commit"}
	case w.Branch == "":
		return &UnsupportedError{"a detached HEAD", "check out the task's branch"}
	case w.Branch != t.Branch:
		return fmt.Errorf("%s is at branch %q, not at %q: %w", t.Dir, w.Branch, t.Branch, ErrBadTask)
	case w.InProgress != "":
		return &UnsupportedError{"an unfinished " + w.InProgress, "finish or abort it in the checkout"}
	}
	return nil
}

// checkPath refuses a path that git's own line-based files cannot hold.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsAny(path, "\n\r\x00") || !utf8.ValidString(path) {
		return &UnsupportedError{"this path", fmt.Sprintf("%q is not absolute and clean, or holds a line break", path)}
	}
	return nil
}

// stores returns the object directories that the view reads, nearest first.
func (t Task) stores(ctx context.Context) ([]string, error) {
	first := t.Store
	if first == "" {
		var err error
		if first, err = t.Repo.ObjectDir(ctx); err != nil {
			return nil, err
		}
	}
	if err := checkPath(first); err != nil {
		return nil, err
	}
	list := []string{first}
	for i := 0; i < len(list); i++ {
		if len(list) > 32 { // git itself follows five in a row
			return nil, &UnsupportedError{"so many borrowed object stores", first}
		}
		d, err := safefile.Hold(list[i])
		if err != nil {
			return nil, fmt.Errorf("object store: %w", err)
		}
		text, err := d.Read("info/alternates", 1<<20)
		d.Close()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("object store %s: %w", list[i], err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case line == "" || line[0] == '#':
				continue
			case line[0] == '"':
				return nil, &UnsupportedError{"a quoted borrowed object store", line}
			case !filepath.IsAbs(line):
				line = filepath.Join(list[i], line)
			}
			if line = filepath.Clean(line); !slices.Contains(list, line) && isDir(line) {
				list = append(list, line)
			}
		}
	}
	return list, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// copied returns the refs that the private directory starts with, sorted by name, and how many tags were left out.
func (t Task) copied(ctx context.Context, head git.OID, o Options) ([]git.Ref, int, error) {
	want := append([]string(nil), o.Refs...)
	if o.BaseBranch != "" {
		want = append(want, "refs/heads/"+o.BaseBranch)
	}
	found := map[string]git.Ref{}
	for i := 0; i < len(want); i++ {
		list, err := t.Repo.Refs(ctx, want[i])
		if err != nil {
			return nil, 0, err
		}
		at := slices.IndexFunc(list, func(r git.Ref) bool { return r.Name == want[i] })
		if at < 0 {
			if i >= len(o.Refs)+1 { // an upstream that is gone
				continue
			}
			return nil, 0, fmt.Errorf("%s: %w", want[i], git.ErrRefNotFound)
		}
		found[want[i]] = list[at]
		if up := list[at].Upstream; want[i] == "refs/heads/"+o.BaseBranch && up != "" && found[up].Name == "" {
			want = append(want, up)
		}
	}
	out := 0
	if !o.NoTags {
		tags, err := t.Repo.Refs(ctx, "refs/tags")
		if err != nil {
			return nil, 0, err
		}
		slices.SortStableFunc(tags, func(a, b git.Ref) int { return int(min(max(b.Created-a.Created, -1), 1)) })
		if len(tags) > maxTags {
			out, tags = len(tags)-maxTags, tags[:maxTags]
		}
		for _, r := range tags {
			found[r.Name] = r
		}
	}
	delete(found, t.branchRef()) // it has a file of its own
	if t.Store != "" {
		if err := t.isolate(ctx, o, head, found); err != nil {
			return nil, 0, err
		}
	}
	var list []git.Ref
	for _, r := range found {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b git.Ref) int { return strings.Compare(a.Name, b.Name) })
	return list, out, nil
}

// isolate leaves out of the refs what is not in the history of head. The base branch stays, at head, when it has gone
// on: much of what agents do compares with it.
func (t Task) isolate(ctx context.Context, o Options, head git.OID, found map[string]git.Ref) error {
	if len(found) == 0 {
		return nil
	}
	within, err := t.Repo.RefsWithin(ctx, head, slices.Collect(maps.Keys(found))...)
	if err != nil {
		return err
	}
	for name, r := range found {
		switch {
		case slices.Contains(within, name):
		case name == "refs/heads/"+o.BaseBranch:
			r.OID = head
			found[name] = r
		default:
			delete(found, name)
		}
	}
	return nil
}

// pinCreated keeps in the project, in one transaction, the commit that the checkout is at and every copied ref: one
// whose object is collected there makes every gc in the cage fail. Pins of an earlier view stay. It returns what
// takes its work back.
func (t Task) pinCreated(ctx context.Context, head git.OID, start start) (undo []git.RefChange, err error) {
	base, copies, tips, last, _ := t.refs()
	have, err := t.Repo.Refs(ctx, base, copies, tips, last)
	if err != nil {
		return nil, err
	}
	pinned, names := map[git.OID]bool{}, map[string]git.OID{}
	for _, r := range have {
		names[r.Name] = r.OID
		pinned[r.OID] = pinned[r.OID] || r.Name != last
	}
	var changes []git.RefChange
	if names[base] == "" {
		changes, pinned[head] = append(changes, git.RefChange{Name: base, To: head}), true
	} else if !pinned[head] {
		changes, pinned[head] = append(changes, git.RefChange{Name: t.tipRef(head), To: head}), true
	}
	if names[last] == "" || start.branch == head && names[last] != head {
		changes = append(changes, git.RefChange{Name: last, To: head, From: names[last]})
	}
	n := 0
	for _, r := range start.refs {
		if pinned[r.OID] {
			continue
		}
		pinned[r.OID] = true
		for n++; names[fmt.Sprintf("%s/%d", copies, n)] != ""; n++ {
		}
		changes = append(changes, git.RefChange{Name: fmt.Sprintf("%s/%d", copies, n), To: r.OID})
	}
	for _, c := range changes {
		undo = append(undo, git.RefChange{Name: c.Name, To: c.From, From: c.To})
	}
	return undo, t.Repo.UpdateRefs(ctx, "termic: pin", changes)
}

// write makes the directory under another name and renames it, so that it is whole or not there.
func (t Task) write(w git.Linked, private string, v *View, config string, start start) (err error) {
	if err := os.MkdirAll(filepath.Dir(private), 0o700); err != nil {
		return err
	}
	half := private + ".half-" + rand.Text()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(half))
		}
	}()
	for _, d := range []string{"info", "hooks", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(half, d), 0o700); err != nil {
			return err
		}
	}
	var packed strings.Builder
	packed.WriteString("# pack-refs with: sorted \n") // git itself writes the space
	for _, r := range start.refs {
		fmt.Fprintf(&packed, "%s %s\n", r.OID, r.Name)
	}
	files := map[string][]byte{
		"HEAD":                    []byte(start.head + "\n"),
		t.branchRef():             []byte(string(start.branch) + "\n"),
		"packed-refs":             []byte(packed.String()),
		"config":                  []byte(config),
		"objects/info/alternates": []byte(v.Objects[0] + "\n"),
	}
	if start.stashes != "" {
		files["logs/refs/stash"] = []byte(start.stashes)
	}
	if start.index != nil {
		files["index"] = start.index
	}
	if err := readInfo(t.Repo.CommonDir, w.GitDir, files); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(half, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	if start.index == nil {
		if err := copyIndex(w.GitDir, half); err != nil {
			return fmt.Errorf("copy the index: %w", err)
		}
	}
	return os.Rename(half, private)
}

// readInfo adds what says how files are seen; all of it is data, and absent where the project has none.
func readInfo(common, record string, files map[string][]byte) error {
	for _, f := range []struct{ dir, from string }{
		{common, "info/exclude"}, {common, "info/attributes"}, {record, "info/sparse-checkout"}, {common, "shallow"},
	} {
		data, err := readIn(f.dir, f.from, maxSmall)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", f.from, err)
		}
		files[f.from] = data
	}
	return nil
}

// copyIndex copies the host's index, and the shared ones that a split index refers to, with their times: git takes
// an index that is newer than a file as proof that the file was not changed since.
func copyIndex(record, to string) error {
	d, err := safefile.Hold(record)
	if err != nil {
		return err
	}
	defer d.Close()
	entries, more, err := d.List(10_000)
	if err == nil && more {
		err = fmt.Errorf("record %s: too many files", record)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name != "index" && !strings.HasPrefix(e.Name, "sharedindex.") {
			continue
		}
		f, info, err := d.Open(e.Name)
		if err != nil {
			return err
		}
		f.Close()
		var data bytes.Buffer
		if _, err := d.Copy(&data, e.Name, maxIndex); err != nil {
			return err
		}
		path := filepath.Join(to, e.Name)
		if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

func readIn(dir, name string, limit int64) ([]byte, error) {
	d, err := safefile.Hold(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Read(name, limit)
}
