package agentstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/registry/ident"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

// cacheDir is where the layers of a task's caches are, below its directory.
const cacheDir = "cache"

// cache is a directory that tools fill with what they fetch and make, and that is worth sharing. In a cage it is where
// the tool looks by default, so that no variable has to say it.
type cache struct {
	name     string
	home     string // by default, below the home directory
	variable string // of the person's that moves it, or empty
	below    string // the variable's directory, where it then is
	fallback profile.Fallback
}

// caches are shared by name: a directory of caches as a whole also holds programs (npm's _npx) and other people's
// sessions. Go's build with both of its caches read-only; the others write into theirs or do without.
var caches = []cache{
	{"go-mod", "go/pkg/mod", "GOMODCACHE", "", profile.FallbackReadOnly},
	{"go-build", ".cache/go-build", "GOCACHE", "", profile.FallbackReadOnly},
	{"npm", ".npm/_cacache", "npm_config_cache", "_cacache", profile.FallbackCold},
	{"yarn", ".cache/yarn", "YARN_CACHE_FOLDER", "", profile.FallbackCold},
	{"yarn-berry", ".yarn/berry/cache", "YARN_GLOBAL_FOLDER", "cache", profile.FallbackCold},
	{"pnpm", ".local/share/pnpm/store", "", "", profile.FallbackCold},
	{"bun", ".bun/install/cache", "BUN_INSTALL_CACHE_DIR", "", profile.FallbackCold},
	{"deno", ".cache/deno", "DENO_DIR", "", profile.FallbackCold},
	{"cargo-registry", ".cargo/registry", "CARGO_HOME", "registry", profile.FallbackCold},
	{"cargo-git", ".cargo/git", "CARGO_HOME", "git", profile.FallbackCold},
	{"pip", ".cache/pip", "PIP_CACHE_DIR", "", profile.FallbackCold},
	{"uv", ".cache/uv", "UV_CACHE_DIR", "", profile.FallbackCold},
	{"maven", ".m2/repository", "", "", profile.FallbackCold},
	{"gradle", ".gradle/caches", "GRADLE_USER_HOME", "caches", profile.FallbackCold},
	{"ccache", ".cache/ccache", "CCACHE_DIR", "", profile.FallbackCold},
	{"sccache", ".cache/sccache", "SCCACHE_DIR", "", profile.FallbackCold},
	{"composer", ".cache/composer", "COMPOSER_CACHE_DIR", "", profile.FallbackCold},
}

// place returns where the person has the cache.
func (c cache) place(p person) string {
	if dir := p.env[c.variable]; c.variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, c.below)
	}
	if c.name == "go-mod" { // the first of GOPATH holds the modules
		if first, _, _ := strings.Cut(p.env["GOPATH"], string(filepath.ListSeparator)); filepath.IsAbs(first) {
			return filepath.Join(first, "pkg/mod")
		}
	}
	if rel, ok := strings.CutPrefix(c.home, ".cache/"); ok {
		return p.xdg("XDG_CACHE_HOME", ".cache", rel)
	}
	return filepath.Join(p.home, c.home)
}

// caches plans a layer for each cache that the person has.
func (b *builder) caches() error {
	for _, c := range caches {
		lower, err := filepath.EvalSymlinks(c.place(b.person))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			b.note("cache %s is not shared: %v", c.name, err)
			continue
		}
		at := filepath.Join(b.person.real, c.home)
		if c.name == "pnpm" && lower != at {
			continue // its directory of programs is read-only around it, and nothing can be made there
		}
		if info, err := os.Stat(lower); err != nil || !info.IsDir() {
			b.note("cache %s is not shared: %s is no directory", c.name, lower)
			continue
		}
		planned, err := b.layer(c, at, lower)
		if err != nil {
			return fmt.Errorf("cache %s: %w", c.name, err)
		}
		b.plan.Caches = append(b.plan.Caches, planned)
		b.note("cache %s: %s, the task's own layer over it; where the system cannot layer it, %s", c.name, lower, inItsPlace[c.fallback])
	}
	return nil
}

var inItsPlace = map[profile.Fallback]string{
	profile.FallbackReadOnly: "read-only",
	profile.FallbackCold:     "an empty one of the task's own",
}

// layer makes the directories of a layer. One that a cage has used is kept: rebuilding it is what a cache is to save. The
// work directory is made anew, since a layer whose cage was killed may be refused with the old one.
func (b *builder) layer(c cache, at, lower string) (profile.Cache, error) {
	dir := filepath.Join(b.dir, cacheDir, c.name)
	planned := profile.Cache{Path: at, Lower: lower, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"), Fallback: c.fallback}
	if err := launch.RemoveLayer(filepath.Join(dir, "none"), planned.Work); err != nil {
		return profile.Cache{}, err
	}
	dirs := []string{planned.Upper, planned.Work}
	if c.fallback == profile.FallbackCold {
		planned.Cold = filepath.Join(dir, "cold")
		dirs = append(dirs, planned.Cold)
	}
	for i, d := range dirs {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return profile.Cache{}, err
		}
		real, err := filepath.EvalSymlinks(d)
		if err != nil {
			return profile.Cache{}, err
		}
		*[]*string{&planned.Upper, &planned.Work, &planned.Cold}[i] = real
	}
	return planned, nil
}

// CachesDir returns where the layers of a task's caches are; it may not exist.
func (k *Keeper) CachesDir(id ident.Task) string { return filepath.Join(k.dir(id), cacheDir) }

// ClearCaches deletes the layers of a task's caches: what it fetched and made, while the person's own below them stay as they
// are. A task that serves a cage is ErrInUse.
func (k *Keeper) ClearCaches(id ident.Task) error { return k.with(id, "clear caches of", removeCaches) }
