// Package linuxcage makes of a Profile what the stage does on Linux: a list of mounts in their order, the ports, the
// Landlock rules, and what has to be proved before anything may run. A Plan is plain data: it goes to the stage as
// JSON, and tests compare it with golden files.
package linuxcage

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// Version is that of the Plan's form. The stage refuses any other: it would overlook what it does not know.
const Version = 3

// Plan is a cage on Linux.
type Plan struct {
	Version int             `json:"version"`
	Mode    capability.Mode `json:"mode"`
	Mounts  []Mount         `json:"mounts"` // parents first
	// Ports of 127.0.0.1 in the cage on which the stage opens sockets and hands them out, in this order.
	Ports []uint16 `json:"ports"`
	// Watch is whether connect(2) is told of to the app, which lets it go on: the cage is neither wider nor narrower by it.
	Watch bool `json:"watch,omitempty"`
	// Processes is how many processes and threads the cage may have at once; 0: any number.
	Processes int    `json:"processes,omitempty"`
	Attest    Attest `json:"attest"`
}

// Mount is one path of the cage's root, which is empty at first.
type Mount struct {
	Kind   Kind   `json:"kind"`
	Path   string `json:"path"`             // in the cage
	Source string `json:"source,omitempty"` // on the host: of a bind; the lower directory of an overlay
	Write  bool   `json:"write,omitempty"`  // of a bind
	File   bool   `json:"file,omitempty"`   // of a bind or mask: not a directory
	Target string `json:"target,omitempty"` // of a link
	Size   string `json:"size,omitempty"`   // of a private directory, as tmpfs(5) writes it
	Mode   uint32 `json:"mode,omitempty"`   // of a private directory
	// Of an overlay, see profile.Cache.
	Upper    string           `json:"upper,omitempty"`
	Work     string           `json:"work,omitempty"`
	Fallback profile.Fallback `json:"fallback,omitempty"`
	Cold     string           `json:"cold,omitempty"`
}

// Kind is how a path comes about.
type Kind string

// The kinds of mounts.
const (
	Bind    Kind = "bind"    // the host's
	Private Kind = "private" // a tmpfs
	Mask    Kind = "mask"    // nothing, where a mount above shows something
	Link    Kind = "link"    // a symbolic link on the cage's own root
	Overlay Kind = "overlay" // a layer over a cache
)

// Attest is what the stage proves from inside.
type Attest struct {
	Absent     []string `json:"absent"`             // does not open, or is not the host's
	Replaced   []string `json:"replaced,omitempty"` // those of Absent where the cage has something of its own
	Unwritable []string `json:"unwritable"`         // may not be written
	Network    bool     `json:"network"`            // its own: the app's loopback does not answer
	Scoped     bool     `json:"scoped"`             // abstract sockets of the host do not answer, signals do not leave
}

// Sizes of private directories: memory and swap, which a runaway could eat. Percentages are of the machine's memory.
const (
	workSize    = "25%"
	runtimeSize = "64m"
)

// Build returns the plan of a Profile. The same Profile gives the same Plan.
func Build(p profile.Profile) (Plan, error) {
	if !p.Mode.Caged() {
		return Plan{}, fmt.Errorf("plan cage: mode %s has none", p.Mode)
	}
	enforce := p.Mode == capability.Enforce
	plan := Plan{Version: Version, Mode: p.Mode, Ports: []uint16{}, Attest: Attest{
		Absent: p.Absent, Replaced: p.Replaced, Unwritable: []string{"/"}, Network: enforce, Scoped: !enforce,
	}}
	if (p.MCP || p.Proxy) && !enforce {
		return Plan{}, fmt.Errorf("plan cage: mode %s has no ports of its own", p.Mode)
	}
	if p.MCP {
		plan.Ports = append(plan.Ports, profile.MCPPort)
	}
	if p.Proxy {
		plan.Ports = append(plan.Ports, profile.ProxyPort)
	}
	for _, rule := range p.Rules {
		m, err := mount(rule)
		if err != nil {
			return Plan{}, fmt.Errorf("plan cage: %w", err)
		}
		plan.Mounts = append(plan.Mounts, m)
		if (rule.Path == "/usr" || rule.Path == "/etc") && rule.Access == profile.ReadOnly {
			plan.Attest.Unwritable = append(plan.Attest.Unwritable, rule.Path)
		}
	}
	for _, cache := range p.Caches {
		plan.Mounts = append(plan.Mounts, Mount{Kind: Overlay, Path: cache.Path, Source: cache.Lower, Upper: cache.Upper, Work: cache.Work,
			Fallback: cache.Fallback, Cold: cache.Cold})
	}
	slices.SortStableFunc(plan.Mounts, func(a, b Mount) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	if err := plan.Check(); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

func mount(rule profile.Rule) (Mount, error) {
	switch rule.Access {
	case profile.ReadOnly, profile.Writable:
		return Mount{Kind: Bind, Path: rule.Path, Source: rule.Source, Write: rule.Access == profile.Writable, File: rule.File}, nil
	case profile.Hidden:
		return Mount{Kind: Mask, Path: rule.Path, File: rule.File}, nil
	case profile.Link:
		return Mount{Kind: Link, Path: rule.Path, Target: rule.Target}, nil
	case profile.Private:
		m := Mount{Kind: Private, Path: rule.Path, Size: workSize, Mode: 0o755}
		switch {
		case rule.Path == "/tmp" || rule.Path == "/var/tmp":
			m.Mode = 0o1777
		case strings.HasPrefix(rule.Path, "/run/user/"):
			m.Mode, m.Size = 0o700, runtimeSize
		case rule.Path == "/run":
			m.Size = runtimeSize
		}
		return m, nil
	}
	return Mount{}, fmt.Errorf("%q has the unknown access %d", rule.Path, rule.Access)
}

// MinProcesses is the lowest limit of a cage's processes: the stage itself has some threads, and a build some dozens.
const MinProcesses = 256

// own are the paths that the stage makes itself.
var own = []string{"/proc", "/dev"}

// Check returns an error for a plan that could not be carried out as it is meant: of another version, with a path
// that is not absolute and clean, with a mount that would cover one before it, or without what its mode must prove.
func (p Plan) Check() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("plan of a cage: "+format, args...) }
	if p.Version != Version {
		return bad("version %d, this is %d", p.Version, Version)
	}
	if !p.Mode.Caged() {
		return bad("mode %s has no cage", p.Mode)
	}
	if enforce := p.Mode == capability.Enforce; p.Attest.Network != enforce || p.Attest.Scoped == enforce {
		return bad("it does not prove what mode %s demands", p.Mode)
	}
	if !p.Attest.Network && len(p.Ports) > 0 {
		return bad("mode %s has no ports of its own", p.Mode)
	}
	if p.Processes != 0 && p.Processes < MinProcesses {
		return bad("%d processes are too few", p.Processes)
	}
	if len(p.Attest.Unwritable) == 0 {
		return bad("it does not prove that the root is read-only")
	}
	covered := map[string]string{} // paths at or above a mount so far, and that mount
	for _, m := range p.Mounts {
		if err := m.check(); err != nil {
			return bad("%w", err)
		}
		if before, covers := covered[m.Path]; covers {
			return bad("%q would cover %q", m.Path, before)
		}
		for dir := m.Path; dir != "/" && covered[dir] == ""; dir = path.Dir(dir) {
			covered[dir] = m.Path
		}
	}
	return nil
}

func (m Mount) check() error {
	for _, name := range []string{m.Path, m.Source, m.Upper, m.Work, m.Cold} {
		if name != "" && (!path.IsAbs(name) || path.Clean(name) != name || strings.ContainsAny(name, "\x00\n")) {
			return fmt.Errorf("path %q is not absolute and clean", name)
		}
	}
	for _, place := range own {
		if m.Path == place || strings.HasPrefix(m.Path, place+"/") {
			return fmt.Errorf("%q is the cage's own", m.Path)
		}
	}
	bind := m.Source != "" && m.Target == "" && m.Upper == ""
	overlay := m.Source != "" && m.Upper != "" && m.Work != "" && (m.Fallback == profile.FallbackReadOnly || m.Fallback == profile.FallbackCold && m.Cold != "")
	complete := map[Kind]bool{Bind: bind, Private: m.Source == "" && m.Size != "", Mask: m.Source == "", Link: m.Target != "" && m.Source == "", Overlay: overlay}
	if m.Path == "" || m.Path == "/" || !complete[m.Kind] {
		return fmt.Errorf("mount %+v is not complete", m)
	}
	return nil
}

// Writable returns the paths of the cage that may be written.
func (p Plan) Writable() []string {
	var paths []string
	for _, m := range p.Mounts {
		if m.Kind == Private || m.Kind == Overlay || m.Kind == Bind && m.Write {
			paths = append(paths, m.Path)
		}
	}
	return paths
}
