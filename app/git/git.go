// Package git does all git work of the application through the git program's
// plumbing and porcelain output. It knows repositories, checkouts, refs and
// object ids, and nothing of tasks: identities reach it as plain strings.
//
// Three rules hold for every call, because one runner makes them all (run.go):
// no hook runs, no environment but an allow-list is inherited, and a git that
// fails or does not answer is an error and never an empty answer.
//
// Calls come in two kinds. Project calls open the person's repository with the
// person's configuration: refs, records of worktrees, the first checkout.
// Sealed calls look at file contents (status, diff, archive); they use a git
// directory of ours that borrows the project's objects (scratch.go), so that no
// filter, textconv, fsmonitor or submodule setting of any configuration runs.
package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// minVersion is the oldest git whose options this package uses:
// `worktree list -z` appeared in 2.36 (git-worktree(1)).
var minVersion = Version{Major: 2, Minor: 36}

// configHooks is the first git that runs hooks named in its configuration
// (hook.<name>.command), which core.hooksPath does not switch off.
var configHooks = Version{Major: 2, Minor: 54}

// Git is one git program, found once. Its zero value runs nothing.
// It is safe for use by many goroutines.
type Git struct {
	path    string
	version Version
	// inherited is the part of our environment that git may see, by name.
	inherited map[string]string

	// ReadTimeout bounds each call that only reads, so that a hanging git is an
	// error that can be shown. Set it before the first call.
	ReadTimeout time.Duration
	// FetchTimeout bounds what FetchBranch may take, waiting for another fetch included. Set it before the first call.
	FetchTimeout time.Duration
}

// readTimeout covers a status of 100,000 files on a slow disk (seconds) with
// room to spare, and still answers while a person is looking at the window.
const readTimeout = 30 * time.Second

// Find looks git up in PATH once and checks its version. It returns ErrNoGit
// when there is none and *TooOldError (errors.Is ErrTooOld) below 2.36.
// Later changes of the environment do not reach the returned value.
func Find(ctx context.Context) (*Git, error) {
	return findIn(ctx, os.LookupEnv)
}

func findIn(ctx context.Context, lookup func(string) (string, bool)) (*Git, error) {
	g := &Git{inherited: map[string]string{}, ReadTimeout: readTimeout, FetchTimeout: fetchTimeout}
	for _, name := range append(append([]string(nil), inheritedAlways...), inheritedForRemotes...) {
		if v, ok := lookup(name); ok {
			g.inherited[name] = v
		}
	}
	path, err := lookInPath(g.inherited["PATH"])
	if err != nil {
		return nil, err
	}
	g.path = path
	out, err := g.run(ctx, call{args: []string{"version"}, limit: 4 << 10})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	g.version, err = parseVersion(string(out))
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	if g.version.Less(minVersion) {
		return nil, &TooOldError{Found: g.version, Needed: minVersion}
	}
	return g, nil
}

// lookInPath returns the absolute path of the first executable git in pathList.
// Empty and relative entries are passed over: they would make the program
// depend on the directory that we happen to be in.
func lookInPath(pathList string) (string, error) {
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			return p, nil
		}
	}
	return "", ErrNoGit
}

// Path returns the absolute path of the git program.
func (g *Git) Path() string { return g.path }

// Version returns the version that the program stated when it was found.
func (g *Git) Version() Version { return g.version }

// Version is a git version; vendor suffixes are kept in Raw only.
type Version struct {
	Major, Minor, Patch int
	Raw                 string // as the program printed it, without "git version "
}

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor < w.Minor
	}
	return v.Patch < w.Patch
}

func (v Version) String() string {
	if v.Raw != "" {
		return v.Raw
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

var versionRE = regexp.MustCompile(`^git version ((\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?\S*)`)

// parseVersion reads "git version 2.39.5 (Apple Git-154)" and its relatives.
func parseVersion(s string) (Version, error) {
	m := versionRE.FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("unexpected answer %q", strings.TrimSpace(clip(s, 80)))
	}
	v := Version{Raw: m[1]}
	v.Major, _ = strconv.Atoi(m[2])
	v.Minor, _ = strconv.Atoi(m[3])
	v.Patch, _ = strconv.Atoi(m[4]) // absent: 0
	return v, nil
}

// clip returns at most n bytes of s.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}
