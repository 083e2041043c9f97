package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// scratch is a temporary git directory of ours that stands in for a checkout's
// own: same HEAD commit, a copy of its index, the project's objects borrowed,
// new objects kept apart, and a configuration that we wrote. What looks at file
// contents goes through it, so that nothing that a repository or a person
// configured as a program can run, and neither index nor objects change.
type scratch struct {
	git  *Git
	dir  string // the git directory
	work string // the checkout that it looks at; "" for none
	none string // all zeros, as many as an object id has digits
	// assumed are the paths whose assume-unchanged bit the copied index had.
	assumed []string
}

// conversion says how file contents and blobs relate.
type conversion int

const (
	// asPerson converts line endings as the person's configuration and the
	// attributes say, as git itself does it; filters that are programs do not run.
	asPerson conversion = iota
	// exact makes each blob the bytes of the file.
	exact
)

// exactAttributes stand in info/attributes, which outranks every other source.
const exactAttributes = "* -text -eol -filter -ident -working-tree-encoding -diff -merge\n"

// newScratch makes the stand-in for v in the temporary directory. The caller removes it.
func (r *Repo) newScratch(ctx context.Context, v view, conv conversion) (*scratch, error) {
	return r.newScratchIn(ctx, r.git.inherited["TMPDIR"], v, conv)
}

// newScratchIn makes the stand-in for v below parent.
func (r *Repo) newScratchIn(ctx context.Context, parent string, v view, conv conversion) (_ *scratch, err error) {
	cfg, err := r.effectiveConfig(ctx, v)
	if err != nil {
		return nil, err
	}
	s, err := r.bareScratch(parent, v.head.oid, conv, cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	s.work = v.dir
	if err := copyIndex(v.gitDir, s.dir); err != nil {
		return nil, err
	}
	for _, f := range []struct{ from, to string }{
		{filepath.Join(r.CommonDir, "info", "exclude"), "info/exclude"},
		{filepath.Join(r.CommonDir, "info", "attributes"), "info/attributes"},
		{filepath.Join(v.gitDir, "info", "sparse-checkout"), "info/sparse-checkout"},
	} {
		if f.to == "info/attributes" && conv == exact {
			continue
		}
		data, err := readSmall(f.from, 16<<20)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir, f.to), data, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", f.to, err)
		}
	}
	if err := s.clearAssumed(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// bareScratch makes the directory without an index or a checkout.
func (r *Repo) bareScratch(parent string, at OID, conv conversion, cfg config) (_ *scratch, err error) {
	dir, err := os.MkdirTemp(parent, "termic-git-")
	if err != nil {
		return nil, err
	}
	s := &scratch{git: r.git, dir: dir, none: r.none()}
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	if s.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	for _, d := range []string{"info", "refs", "objects/info", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	headFile := string(at) + "\n"
	if at == "" {
		headFile = "ref: refs/heads/none\n"
	}
	files := map[string]string{
		"HEAD":                    headFile,
		"config":                  cfg.text(r.sha256),
		"objects/info/alternates": filepath.Join(r.CommonDir, "objects") + "\n",
	}
	if conv == exact {
		files["info/attributes"] = exactAttributes
		// Names that would be dangerous on other systems are still somebody's work.
		files["config"] += "[core] protecthfs = false\n[core] protectntfs = false\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scratch) remove() { os.RemoveAll(s.dir) } //nolint:errcheck // a temporary directory

// run runs git on the scratch directory.
func (s *scratch) run(ctx context.Context, c call) ([]byte, error) {
	c.seal, c.write = s, true // writing: its index and its objects are ours
	return s.git.run(ctx, c)
}

// copyIndex copies the index and, for a split one, the shared indexes that it
// may refer to. A checkout without an index has nothing staged.
func copyIndex(from, to string) error {
	shared, err := filepath.Glob(globEscape(from) + "/sharedindex.*")
	if err != nil {
		return err
	}
	for _, path := range append(shared, filepath.Join(from, "index")) {
		err := copyFile(path, filepath.Join(to, filepath.Base(path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copy index: %w", err)
		}
	}
	return nil
}

// globEscape makes path match itself only.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// copyFile copies a regular file's bytes and its modification time: git takes an
// index that is newer than a file as proof that the file was not changed since.
func copyFile(from, to string) error {
	src, err := openRegular(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if e := dst.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// clearAssumed drops the assume-unchanged bits of the copied index: whoever set
// them may be hiding a change. (Skip-worktree bits of files that are present are
// dropped by git itself, since our configuration says core.sparseCheckout.)
func (s *scratch) clearAssumed(ctx context.Context) error {
	out, err := s.run(ctx, call{args: []string{"ls-files", "-v", "-z"}})
	if err != nil {
		return err
	}
	var paths strings.Builder
	for _, rec := range splitNUL(out) {
		if len(rec) > 2 && 'a' <= rec[0] && rec[0] <= 'z' {
			paths.WriteString(rec[2:] + "\x00")
			s.assumed = append(s.assumed, rec[2:])
		}
	}
	if paths.Len() == 0 {
		return nil
	}
	_, err = s.run(ctx, call{args: []string{"update-index", "-z", "--no-assume-unchanged", "--stdin"}, stdin: strings.NewReader(paths.String())})
	return err
}

// blobs returns the contents of the blobs, in order; together at most limit bytes.
func (s *scratch) blobs(ctx context.Context, ids []string, limit int64) ([][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := s.run(ctx, call{args: []string{"cat-file", "--batch=%(objecttype) %(objectsize)", "--buffer"}, limit: limit,
		stdin: strings.NewReader(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	var blobs [][]byte
	for range ids { // "blob <size>\n<contents>\n"
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		kind, digits, _ := strings.Cut(string(line), " ")
		size, err := strconv.Atoi(digits)
		if kind != "blob" || err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("unexpected answer %q", clip(string(line), 80))
		}
		blobs, out = append(blobs, rest[:size]), rest[size+1:]
	}
	return blobs, nil
}

// config is what we take over from the effective configuration: data only,
// nothing that names a program. Keys are in git's lower-case form.
type config map[string]string

// takenKeys are the keys that decide how files and blobs relate. Paths are here
// because ignore and attribute files are data too.
var takenKeys = []string{
	"core.filemode", "core.autocrlf", "core.eol", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"core.trustctime", "core.checkstat", "core.checkroundtripencoding", "core.excludesfile", "core.attributesfile",
}

// effectiveConfig asks git for the taken keys at v.
func (r *Repo) effectiveConfig(ctx context.Context, v view) (config, error) {
	out, err := r.git.run(ctx, call{gitDir: v.gitDir, limit: 1 << 20, args: []string{"config", "-z", "--get-regexp", `^core\.`}})
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	cfg := config{}
	for _, rec := range splitNUL(out) { // later ones win
		key, value, ok := strings.Cut(rec, "\n")
		if !slices.Contains(takenKeys, key) {
			continue
		}
		if !ok {
			value = "true" // git-config(1): a key without a value
		}
		cfg[key] = value
	}
	for key, fallback := range map[string]string{"core.excludesfile": "ignore", "core.attributesfile": "attributes"} {
		path, err := r.git.configPath(ctx, v, key, cfg[key], fallback)
		if err != nil {
			return nil, err
		}
		cfg[key] = path
	}
	return cfg, nil
}

// configPath expands a path value as git does, or returns git's own default for
// it below the person's configuration directory.
func (g *Git) configPath(ctx context.Context, v view, key, value, fallback string) (string, error) {
	switch {
	case value == "":
		base := g.inherited["XDG_CONFIG_HOME"]
		if base == "" {
			base = filepath.Join(g.inherited["HOME"], ".config")
		}
		return filepath.Join(base, "git", fallback), nil
	case filepath.IsAbs(value):
		return value, nil
	}
	out, err := g.run(ctx, call{gitDir: v.gitDir, at: v.dir, limit: 64 << 10, args: []string{"config", "--type=path", "--get", key}})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	path := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(path) { // relative to where git runs: the top level
		path = filepath.Join(v.dir, path)
	}
	return path, nil
}

// bigFile is the size from which git treats contents as binary and streams
// them; also the size from which Diff does not read a file of the checkout.
const bigFile = 10 << 20 // 10 MiB; a tracked file of 3 GB cost 11–20 s in a diff

// text renders the configuration file of a scratch directory.
func (c config) text(sha256 bool) string {
	lines := map[string]string{
		"core.bare":                    "false",
		"core.hookspath":               "/dev/null",
		"core.fsmonitor":               "false",
		"core.untrackedcache":          "false",
		"core.splitindex":              "false",
		"core.safecrlf":                "false",
		"core.sparsecheckout":          "true",
		"core.quotepath":               "false",
		"core.bigfilethreshold":        fmt.Sprint(bigFile),
		"core.logallrefupdates":        "false",
		"core.repositoryformatversion": "0",
		"gc.auto":                      "0",
		"maintenance.auto":             "false",
		"protocol.allow":               "never",
		"diff.renames":                 "true",
		"index.sparse":                 "false",
		"feature.manyfiles":            "false",
	}
	for key, value := range c {
		lines[key] = value
	}
	if sha256 {
		lines["core.repositoryformatversion"] = "1"
		lines["extensions.objectformat"] = "sha256"
	}
	keys := make([]string, 0, len(lines))
	for k := range lines {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		section, name, _ := strings.Cut(k, ".")
		fmt.Fprintf(&b, "[%s] %s = %s\n", section, name, quoteConfig(lines[k]))
	}
	return b.String()
}

// quoteConfig quotes a value of a configuration file (git-config(1), "Values").
func quoteConfig(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s) + `"`
}
