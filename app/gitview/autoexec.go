//go:build unix

package gitview

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"termic/app/git"
	"termic/app/safefile"
)

// Exec is a place in a checkout that programs of the person run, or read for what to run, without being told to.
type Exec struct {
	Path string // relative to the checkout, bytes as the file system has them
	Kind ExecKind
}

// ExecKind says what is at the path.
type ExecKind string

const (
	NestedGit  ExecKind = "nested-git" // .git below the top level: a git that starts there takes its configuration
	NestedBare ExecKind = "bare-git"   // a directory that git takes for a repository without a checkout
	ExecNew    ExecKind = "new"
	ExecEdited ExecKind = "changed"
	ExecLink   ExecKind = "link"    // stands for something else; it was not followed
	ExecOther  ExecKind = "special" // a FIFO, socket or device, or too large to look at
)

// Executes is what a look at a checkout found, nearest to the top level first.
type Executes struct {
	Found []Exec
	// Unseen are places that were not looked at (no rights, a path longer than the system takes, limits). Where
	// there is one, Found may lack something.
	Unseen []string
}

const (
	maxScan     = 2_000_000 // names that are looked at
	maxFound    = 1000
	maxUnseen   = 20
	maxExecFile = 10 << 20 // bytes of one file that is compared
)

// execDirs and execFiles are what editors, agents, git and shells pick up by name, at any depth: a person can open
// a directory as a workspace. Names are compared without case, as on file systems that fold it.
var (
	execDirs = []string{".vscode", ".idea", ".cursor", ".codex", ".husky", ".gemini", ".opencode", ".devcontainer",
		".zed", ".fleet", ".windsurf", ".continue", ".kiro", ".amazonq"}
	execFiles = []string{".mcp.json", ".envrc", ".gitmodules", ".devcontainer.json", ".aider.conf.yml", "opencode.json", "opencode.jsonc",
		".mise.toml", "mise.toml", ".autoenv.zsh", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".dir-locals-2.el",
		".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook-local.yml"}
	// claudeDirs below .claude; beside them its settings*.json.
	claudeDirs = []string{"hooks", "commands", "agents", "skills"}
)

// executes reports whether a path is one of those. hooks is the project's own hooks directory inside the checkout,
// "" for none.
func executes(path, hooks string) bool {
	if hooks != "" && (path == hooks || strings.HasPrefix(path, hooks+"/")) {
		return true
	}
	parts := strings.Split(strings.ToLower(path), "/")
	last := len(parts) - 1
	for i, p := range parts {
		switch {
		case slices.Contains(execDirs, p):
			return true
		case i == last && slices.Contains(execFiles, p):
			return true
		case p == ".claude" && i < last && slices.Contains(claudeDirs, parts[i+1]):
			return true
		case p == ".claude" && i+1 == last && strings.HasPrefix(parts[last], "settings") && strings.HasSuffix(parts[last], ".json"):
			return true
		}
	}
	return last >= 1 && parts[0] == ".github" && parts[1] == "workflows"
}

// holdsExecutes reports whether a directory name can lead to such files, so that a link of that name counts.
func holdsExecutes(path, hooks string) bool {
	base := strings.ToLower(filepath.Base(path))
	return executes(path, hooks) || base == ".claude" || strings.EqualFold(path, ".github") ||
		hooks != "" && strings.HasPrefix(hooks, path+"/")
}

// AutoExec looks through a checkout for what would run by itself outside the cage: nested repositories, and files
// of the kinds above that are new or changed since the task's base. Show it before anything uncaged starts there.
// It follows no link, opens regular files only, and is bounded. Line endings that the person's configuration
// converts make a file count as changed.
func (t Task) AutoExec(ctx context.Context, base git.OID) (*Executes, error) {
	e, err := t.autoExec(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("look for what runs by itself in %s: %w", t.Dir, err)
	}
	return e, nil
}

func (t Task) autoExec(ctx context.Context, base git.OID) (*Executes, error) {
	w, err := t.host(ctx)
	if err != nil {
		return nil, err
	}
	s := &scan{hooks: t.hooksInside(ctx, w), wide: t.Repo.SHA256(), out: &Executes{}}
	if s.base, err = t.baseFiles(ctx, base, s.hooks); err != nil {
		return nil, err
	}
	if s.top, err = safefile.Hold(w.Dir); err != nil {
		return nil, err
	}
	defer s.top.Close()
	return s.out, s.walk(ctx)
}

// hooksInside is core.hooksPath where it leads into the checkout, relative to it.
func (t Task) hooksInside(ctx context.Context, w git.Linked) string {
	settings, err := t.Repo.Settings(ctx, w)
	if err != nil {
		return ""
	}
	hooks := ""
	for _, s := range settings {
		if s.Key == "core.hookspath" && s.Value != "/dev/null" { // ours, on each of our calls
			hooks = s.Value
		}
	}
	if rel, err := filepath.Rel(w.Dir, hooks); filepath.IsAbs(hooks) && err == nil {
		hooks = rel
	}
	if hooks = filepath.Clean(hooks); hooks == "." || !filepath.IsLocal(hooks) {
		return ""
	}
	return hooks
}

// baseFiles maps the paths of the base that run by themselves to their blobs.
func (t Task) baseFiles(ctx context.Context, base git.OID, hooks string) (map[string]git.OID, error) {
	q, err := t.Repo.Quarantine(ctx, "")
	if err != nil {
		return nil, err
	}
	defer q.Remove()
	out, err := q.Run(ctx, git.Sealed{Limit: 1 << 30, Args: []string{"ls-tree", "-r", "-z", "--full-tree", string(base)}})
	if err != nil {
		return nil, fmt.Errorf("list the base: %w", err)
	}
	files := map[string]git.OID{}
	for rec := range strings.SplitSeq(string(out), "\x00") { // "<mode> <kind> <id>\t<path>"
		meta, path, ok := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); ok && len(f) == 3 && f[1] == "blob" && f[0] != "120000" && executes(path, hooks) {
			files[path] = git.OID(f[2])
		}
	}
	return files, nil
}

// scan is one look at a checkout.
type scan struct {
	top   *safefile.Dir
	base  map[string]git.OID
	hooks string
	wide  bool // ids of 64 digits
	names int
	out   *Executes
}

// walk goes through the directories level by level, so that what is cut off by a limit is the deepest.
func (s *scan) walk(ctx context.Context) error {
	for queue := []string{"."}; len(queue) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := queue[0]
		queue = queue[1:]
		entries, err := s.list(dir)
		if err != nil {
			s.unseen(dir, err)
			continue
		}
		if dir != "." && bare(entries) {
			s.found(dir, NestedBare)
		}
		for _, e := range entries {
			path := e.Name
			if dir != "." {
				path = dir + "/" + e.Name
			}
			if strings.EqualFold(e.Name, ".git") {
				if path != ".git" {
					s.found(path, NestedGit)
				} else if !e.Type.IsRegular() {
					s.found(path, NestedGit) // it was a file when the task was made
				}
				continue
			}
			if e.Type.IsDir() {
				queue = append(queue, path)
				continue
			}
			s.file(path, e.Type)
		}
		if len(s.out.Found) >= maxFound || s.names >= maxScan {
			s.unseen(dir, errors.New("limit"))
			return nil
		}
	}
	return nil
}

func (s *scan) list(dir string) ([]safefile.Entry, error) {
	d, err := s.top.Dir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, more, err := d.List(maxScan - s.names)
	if err != nil {
		return nil, err
	}
	s.names += len(entries)
	if more {
		s.names = maxScan
	}
	slices.SortFunc(entries, func(a, b safefile.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// bare reports whether git would take a directory for a git directory (setup.c, is_git_directory).
func bare(entries []safefile.Entry) bool {
	n := 0
	for _, e := range entries {
		switch strings.ToLower(e.Name) {
		case "head", "objects", "refs":
			n++
		case "commondir":
			n += 2 // stands for objects and refs
		}
	}
	return n >= 3
}

// file judges one path that is no directory.
func (s *scan) file(path string, kind fs.FileMode) {
	if kind&fs.ModeSymlink != 0 {
		if holdsExecutes(path, s.hooks) {
			s.found(path, ExecLink)
		}
		return
	}
	if !executes(path, s.hooks) {
		return
	}
	if !kind.IsRegular() {
		s.found(path, ExecOther)
		return
	}
	want, known := s.base[path]
	if !known {
		s.found(path, ExecNew)
		return
	}
	switch got, err := s.blobID(path); {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, safefile.ErrLink):
		s.found(path, ExecLink)
	case errors.Is(err, safefile.ErrTooLarge), errors.Is(err, safefile.ErrNotRegular):
		s.found(path, ExecOther)
	case err != nil:
		s.unseen(path, err)
	case got != want:
		s.found(path, ExecEdited)
	}
}

// blobID is the id of the blob that a file's bytes make.
func (s *scan) blobID(path string) (git.OID, error) {
	data, err := s.top.Read(path, maxExecFile)
	if err != nil {
		return "", err
	}
	var h hash.Hash = sha1.New()
	if s.wide {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return git.OID(hex.EncodeToString(h.Sum(nil))), nil
}

func (s *scan) found(path string, kind ExecKind) {
	if len(s.out.Found) < maxFound {
		s.out.Found = append(s.out.Found, Exec{path, kind})
	}
}

func (s *scan) unseen(path string, err error) {
	if len(s.out.Unseen) < maxUnseen {
		s.out.Unseen = append(s.out.Unseen, fmt.Sprintf("%s: %v", clip(path), err))
	}
}
