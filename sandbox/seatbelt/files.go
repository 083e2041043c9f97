package seatbelt

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// dataVolume is where the writable volume is seen a second time. The kernel names files without it; should it ever name
// one with it, what /System shows must not include it.
const dataVolume = "/System/Volumes/Data"

// systemFiles are read in every cage besides the profile's rules: on macOS /etc is a link, and the system keeps more
// beside it.
var systemFiles = []string{"/private/etc", "/private/var/db/timezone", "/private/var/db/dyld", "/private/var/select", "/usr/share/zoneinfo.default"}

// systemKept are secrets of the machine that only macOS has. /Library is read for its frameworks and tools.
var systemKept = []string{"/Library/Keychains", "/private/etc/master.passwd", "/private/etc/krb5.keytab", "/private/var/root", dataVolume}

// statement is what is said of one path, and of all below it until a deeper one.
type statement struct {
	path string
	file bool
	kind profile.Access
}

// files writes the rules for paths. The last one that matches decides, so parents come first, and of two for one path
// that which allows less comes last. What counts is where things are: the profile's order is that of a cage's own names.
func (w *writer) files(p profile.Profile, at Places) {
	w.line("; what the cage sees")
	var all []statement
	for _, name := range systemFiles {
		all = append(all, statement{name, false, profile.ReadOnly})
	}
	for _, r := range p.Rules {
		if r.Access != profile.ReadOnly && r.Access != profile.Writable {
			all = append(all, statement{canonical(r.Path), r.File, r.Access})
		}
	}
	views := append(seen(p), view{source: at.Home, write: true}, view{source: at.Temp, write: true}, view{source: at.Programs})
	for _, v := range views {
		if v.path == path.Join(p.Checkout, gitFile) {
			continue // last denies what the checkout has there
		}
		s := statement{canonical(v.source), v.file, profile.ReadOnly}
		if v.write {
			s.kind = profile.Writable
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b statement) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), cmp.Compare(a.path, b.path), cmp.Compare(rank(a.kind), rank(b.kind)))
	})
	w.ancestors(views)
	for _, s := range all {
		w.state(s)
	}
}

// rank orders kinds from what allows most to what allows least.
func rank(kind profile.Access) int {
	return slices.Index([]profile.Access{profile.Link, profile.Writable, profile.ReadOnly, profile.Private, profile.Hidden}, kind)
}

func (w *writer) state(s statement) {
	switch s.kind {
	case profile.Link: // the path that it leads to has a rule of its own
		w.line("(allow file-read* %s)", w.place(s.path, true))
	case profile.Writable:
		w.line("(allow file-read* file-map-executable file-write* %s)", w.place(s.path, s.file))
	case profile.ReadOnly:
		w.line("(allow file-read* file-map-executable %s)", w.place(s.path, s.file))
		w.line("(deny file-write* %s)", w.place(s.path, s.file))
	default: // nothing of the host is there
		w.line("(deny file-read* file-write* %s)", w.place(s.path, s.file))
	}
}

// canonical returns the path that the kernel knows a system path by: on macOS these are links.
func canonical(name string) string {
	for _, link := range []string{"/etc", "/tmp", "/var"} {
		if within(link, name) {
			return "/private" + name
		}
	}
	return name
}

// ancestors lets the directories above be looked at, not listed: programs follow their own path from the root.
func (w *writer) ancestors(views []view) {
	above := map[string]bool{"/etc": true, "/tmp": true, "/var": true}
	for _, v := range views {
		for dir := path.Dir(canonical(v.source)); dir != "/"; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	names := make([]string, 0, len(above))
	for dir := range above {
		names = append(names, dir)
	}
	slices.Sort(names)
	for _, dir := range names {
		w.line("(allow file-read-metadata %s)", w.place(dir, true))
	}
}

// terminal allows the terminal of the process, and what programs do to open more. The extension is what the kernel gives
// to whoever made the terminal, so those of other programs stay closed.
func (w *writer) terminal(device string) {
	if device != "" {
		w.line("(allow file-read* file-write* file-ioctl %s)", w.place(device, true))
	}
}

// network writes who may be reached.
func (w *writer) network(p profile.Profile, at Places) {
	w.line("; who it reaches")
	if p.Mode == capability.EnforceFS {
		w.raw(openNetwork)
		return
	}
	w.line("(deny network*)")
	if p.Proxy {
		w.line("(allow network-outbound (remote tcp %s))", local(at.Proxy))
	}
	if p.MCP {
		w.line("(allow network-outbound (remote tcp %s))", local(at.MCP))
	}
	w.line("(deny network-outbound (remote unix-socket))")
}

func local(port uint16) string { return `"localhost:` + strconv.Itoa(int(port)) + `"` }

// last writes the denials that win over everything before (I9): nothing above or below them that was allowed counts,
// but for what the app itself gives the task inside them.
func (w *writer) last(p profile.Profile, at Places) {
	w.line("; whatever stands above: what no cage may see, and what holds it in its place")
	own := []string{canonical(at.Home), canonical(at.Temp)}
	writable := slices.Clone(own)
	own = append(own, canonical(at.Programs))
	for _, v := range seen(p) {
		if v.path == path.Join(p.Checkout, gitFile) {
			continue
		}
		if v.own {
			own = append(own, canonical(v.source))
		}
		if v.write {
			writable = append(writable, canonical(v.source))
		}
	}
	kept := slices.Clone(systemKept)
	for _, name := range p.Absent {
		kept = append(kept, canonical(name))
	}
	if view := path.Join(p.Checkout, gitFile); slices.ContainsFunc(p.Rules, func(r profile.Rule) bool { return r.Path == view }) {
		kept = append(kept, canonical(view))
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	w.held(p, kept, writable)
	for _, name := range kept {
		w.deny(name, own)
	}
}

// deny closes a path and all below it, but for what the app gives the task in it.
func (w *writer) deny(name string, own []string) {
	var except strings.Builder
	for _, o := range own {
		if below(name, o) {
			except.WriteString(" (require-not " + w.place(o, false) + ")")
		}
	}
	if except.Len() == 0 {
		w.line("(deny file-read* file-write* %s)", w.place(name, false))
		return
	}
	w.line("(deny file-read* file-write* (require-all %s%s))", w.place(name, false), except.String())
	// Looked at, not listed: the way to what the task has in it.
	var way []string
	for _, o := range own {
		for dir := path.Dir(o); within(name, dir); dir = path.Dir(dir) {
			way = append(way, dir)
		}
	}
	slices.Sort(way)
	for _, dir := range slices.Compact(way) {
		w.line("(allow file-read-metadata %s)", w.place(dir, true))
	}
}

// held keeps in its place every directory between what may be written and what in it may not be: renamed, it would take
// a denied path out of its rule.
func (w *writer) held(p profile.Profile, kept, writable []string) {
	fixed := slices.Clone(kept)
	for _, r := range p.Rules {
		if r.Access == profile.ReadOnly {
			fixed = append(fixed, canonical(r.Source))
		}
		if r.Access == profile.Hidden {
			fixed = append(fixed, canonical(r.Path))
		}
	}
	hold := map[string]bool{}
	for _, root := range writable {
		hold[root] = true
		for _, name := range fixed {
			if !below(root, name) {
				continue
			}
			for dir := path.Dir(name); within(root, dir); dir = path.Dir(dir) {
				hold[dir] = true
			}
		}
	}
	names := make([]string, 0, len(hold))
	for dir := range hold {
		names = append(names, dir)
	}
	slices.Sort(names)
	for _, dir := range names {
		w.line("(deny file-write-unlink %s)", w.place(dir, true))
	}
}
