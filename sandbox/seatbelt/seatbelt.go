// Package seatbelt makes of a Profile what macOS enforces: a policy in SBPL, the language of sandbox-exec(1). Render is
// a pure function, so a policy is made and judged on every system, though only macOS runs it.
//
// What a policy stands on, from public profiles and from measurements that others have published:
//
//   - Between rules with a filter the last one that matches decides. A rule without a filter is only the default of its
//     operation, wherever it stands: so whatever must win has a filter and stands last.
//   - The kernel compares with the path that a file really has, so every path here is canonical: /private/tmp, not /tmp.
//   - A host in a network filter is "*" or "localhost". (remote ip "localhost:1") lets UDP through, (remote tcp …) does not.
//   - A file rule does not stop connect(2) to a Unix socket; that is network-outbound.
//   - A file that is denied by its path opens again when a directory above it is renamed, so none of those may be.
//
// The system has no mounts of a process's own: a cage sees the person's paths or nothing. What a Profile shows at another
// path than its source is reached through a link in the cage's own home directory (Links), or not at all.
package seatbelt

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// Places is what a cage is given on a system where it cannot have private paths of the usual names.
type Places struct {
	Home string // a directory of the task alone; HOME in the cage
	Temp string // another; TMPDIR in the cage
	// Programs is a third, with programs of the app's that come before the person's of the same name. It is not written.
	Programs string
	// MCP and Proxy are the host's loopback ports behind which the app serves this cage. Their listeners hold them
	// before a policy names them, and longer than anything runs under it.
	MCP, Proxy uint16
	// Terminal is the device of the terminal that the policy is for; empty for a process without one.
	Terminal string
}

// Link is a symbolic link that the cage's home directory needs: programs look for what is theirs below HOME.
type Link struct {
	Path   string // of the link, below Places.Home
	Target string
}

// MovedError is something that the cage should see at another path than its own, where no link can be.
type MovedError struct{ Path, Source string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("render cage: %q cannot be shown at %q: this system has no mounts of a cage's own", e.Source, e.Path)
}

// PathError is a path that a policy cannot name without a doubt about what it means.
type PathError struct{ Path, Why string }

func (e *PathError) Error() string { return fmt.Sprintf("render cage: path %q %s", e.Path, e.Why) }

// gitFile is the entry of a checkout that says where its git directory is. A cage has one of its own, which it finds
// by variables and not by this file; see docs/decisions/0027-git-in-a-mac-cage.md.
const gitFile = ".git"

// Links returns the links of the cage's home directory, parents first.
func Links(p profile.Profile, at Places) ([]Link, error) {
	var links []Link
	for _, s := range seen(p) {
		if s.path == s.source && !below(p.Home, s.path) {
			continue
		}
		if s.path == path.Join(p.Checkout, gitFile) {
			continue
		}
		if !below(p.Home, s.path) {
			return nil, &MovedError{Path: s.path, Source: s.source}
		}
		if s.path == p.Checkout || below(p.Checkout, s.path) {
			continue // it is named by its own path
		}
		links = append(links, Link{Path: path.Join(at.Home, s.path[len(p.Home):]), Target: s.source})
	}
	slices.SortStableFunc(links, func(a, b Link) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	var kept []Link
	for _, l := range links {
		i := slices.IndexFunc(kept, func(k Link) bool { return below(k.Path, l.Path) })
		switch {
		case i < 0:
			kept = append(kept, l)
		case l.Target != kept[i].Target+l.Path[len(kept[i].Path):]: // it would have to be mounted in what the other link shows
			return nil, &MovedError{Path: l.Path, Source: l.Target}
		}
	}
	return kept, nil
}

// view is something that the cage sees: a rule, or what stands for a cache.
type view struct {
	path, source string
	write, file  bool
	own          bool
}

// seen returns what of the host a cage sees, in the profile's order. A cache cannot be layered here: the cage has the
// person's, read-only, or an empty one, as the profile plans for systems that cannot.
func seen(p profile.Profile) []view {
	var views []view
	for _, r := range p.Rules {
		if r.Access == profile.ReadOnly || r.Access == profile.Writable {
			views = append(views, view{r.Path, r.Source, r.Access == profile.Writable, r.File, r.Own})
		}
	}
	for _, c := range p.Caches {
		if c.Fallback == profile.FallbackCold {
			views = append(views, view{c.Path, c.Cold, true, false, true})
		} else {
			views = append(views, view{c.Path, c.Lower, false, false, false})
		}
	}
	return views
}

// Render returns the policy of a cage: for sandbox-exec -p, never for a file that a cage could write. The same arguments
// give the same text. The error is a *MovedError, a *PathError, or says what the profile or the places lack.
func Render(p profile.Profile, at Places) (string, error) {
	if !p.Mode.Caged() {
		return "", fmt.Errorf("render cage: mode %s has none", p.Mode)
	}
	if p.Mode != capability.Enforce && (p.MCP || p.Proxy) {
		return "", fmt.Errorf("render cage: mode %s has no ports of its own", p.Mode)
	}
	if p.MCP && at.MCP == 0 || p.Proxy && at.Proxy == 0 || p.MCP && p.Proxy && at.MCP == at.Proxy {
		return "", fmt.Errorf("render cage: no listener holds the port that the policy would name (%d, %d)", at.MCP, at.Proxy)
	}
	if at.Terminal != "" && !strings.HasPrefix(at.Terminal, "/dev/ttys") {
		return "", &PathError{at.Terminal, "is no terminal"}
	}
	w := &writer{}
	w.check(p, at)
	if w.err != nil {
		return "", w.err
	}
	if _, err := Links(p, at); err != nil {
		return "", err
	}
	w.raw(base)
	w.terminal(at.Terminal)
	w.files(p, at)
	w.network(p, at)
	w.last(p, at)
	if w.err != nil {
		return "", w.err
	}
	return w.text.String(), nil
}

// writer collects the text of a policy, and the first path that cannot be in one.
type writer struct {
	text strings.Builder
	err  error
}

// check looks at every path before any of them is compared with another.
func (w *writer) check(p profile.Profile, at Places) {
	names := []string{at.Home, at.Temp, at.Programs, p.Home, p.Checkout}
	for _, r := range p.Rules {
		names = append(names, r.Path)
	}
	for _, v := range seen(p) {
		names = append(names, v.path, v.source)
	}
	for _, name := range append(names, p.Absent...) {
		w.quote(name)
		if name == "/" && w.err == nil {
			w.err = &PathError{name, "is everything"}
		}
	}
}

func (w *writer) raw(text string) { w.text.WriteString(text) }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// quote returns a path as a string of SBPL. Nothing that could end the string, or be read in two ways, passes.
func (w *writer) quote(name string) string {
	why := ""
	switch {
	case !path.IsAbs(name) || path.Clean(name) != name:
		why = "is not absolute and clean"
	case !utf8.ValidString(name):
		why = "is no UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		why = "has a control character"
	}
	if why != "" && w.err == nil {
		w.err = &PathError{name, why}
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// place returns the filter for a path: itself when it is a file, and all below it when it is a directory.
func (w *writer) place(name string, file bool) string {
	if file {
		return "(literal " + w.quote(name) + ")"
	}
	return "(subpath " + w.quote(name) + ")"
}

// below reports whether p is below root, and not root itself.
func below(root, p string) bool { return root != p && within(root, p) }

// within reports whether p is root or below it.
func within(root, p string) bool { return p == root || root == "/" || strings.HasPrefix(p, root+"/") }
