// Package profile compiles what a task may touch (a capability.Set) and where things are (Dirs) into a cage as
// data: the paths that exist in it and how, those that may not, the ports, the environment. It knows no kernel:
// linuxcage makes a Linux plan of a Profile, seatbelt a policy for macOS.
//
// What is not listed does not exist in the cage. Denials win over whatever allows a path, in whatever order they
// came: what is hidden inside a directory of the system is masked, and a rule of a person that would show a secret,
// or let the cage write what is executed outside, is an error that names both.
package profile

import (
	"path"
	"slices"
	"strings"

	"termic/sandbox/capability"
)

// Access is what a cage may do with a path. The zero Access is none.
type Access uint8

// The kinds of access.
const (
	Hidden   Access = iota // it is not there: masked where something around it is
	ReadOnly               // as on the host, and never written
	Writable               // as on the host
	Private                // a directory that is empty at first and gone with the cage
	Link                   // a symbolic link, made for the cage
)

// Rule is one path of a cage. It holds for everything below, up to the next rule.
type Rule struct {
	Path   string `json:"path"`             // in the cage: absolute, clean, no symbolic link in it
	Access Access `json:"access"`           //
	Source string `json:"source,omitempty"` // on the host, for ReadOnly and Writable
	Target string `json:"target,omitempty"` // of a Link, as readlink returns it
	File   bool   `json:"file,omitempty"`   // not a directory
	Own    bool   `json:"own,omitempty"`    // the app's choice, so it may lie inside what is denied to everyone else
	Why    string `json:"why"`
}

// Cache is a directory that many tasks use: each sees the person's own (Lower) and writes into its own layer.
// Where the system cannot layer directories, Fallback says what is seen in its place.
type Cache struct {
	Path     string   `json:"path"`  // in the cage
	Lower    string   `json:"lower"` // the person's; never written
	Upper    string   `json:"upper"` // of the task alone, both on one file system that can hold them
	Work     string   `json:"work"`
	Fallback Fallback `json:"fallback"`
	Cold     string   `json:"cold,omitempty"` // an empty directory of the task alone, for FallbackCold
}

// Fallback is what a cage shows of a Cache that cannot be layered. It changes speed, never what is protected.
type Fallback string

// The fallbacks.
const (
	FallbackReadOnly Fallback = "read-only" // the person's, read-only: for tools that can use such a cache
	FallbackCold     Fallback = "cold"      // an empty one of the task alone
)

// The ports that a cage of its own network finds its services at, in every task and for ever: an agent's
// configuration may name them. They are below the range that systems hand out to clients (32768 and up on Linux).
const (
	MCPPort   = 24311
	ProxyPort = 24312
)

// Profile is a cage as data.
type Profile struct {
	Mode     capability.Mode `json:"mode"` // EnforceFS or Enforce
	Rules    []Rule          `json:"rules"`
	Caches   []Cache         `json:"caches,omitempty"`
	Home     string          `json:"home"`
	Checkout string          `json:"checkout"`
	// Absent is what a cage must prove that it cannot open, Replaced those of them where the cage has something of
	// its own at the same path, which must then not be the host's.
	Absent   []string `json:"absent"`
	Replaced []string `json:"replaced,omitempty"`
	// MCP and Proxy are whether the cage has those ports. Both need a network of its own (Enforce), and every one has a proxy.
	MCP   bool             `json:"mcp"`
	Proxy bool             `json:"proxy"`
	Hosts capability.Hosts `json:"hosts"` // what the proxy lets through
	Env   capability.Names `json:"env"`   // variables passed beyond those of every cage
}

// at reports whether p is root or below it.
func at(root, p string) bool {
	return p == root || root == "/" || strings.HasPrefix(p, root+"/")
}

// overlap reports whether one of two paths is at or below the other.
func overlap(a, b string) bool { return at(a, b) || at(b, a) }

// sortRules puts parents before what is below them, which is the order in which a cage is built.
func sortRules(rules []Rule) {
	slices.SortStableFunc(rules, func(a, b Rule) int {
		if d := depth(a.Path) - depth(b.Path); d != 0 {
			return d
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}

// Rule returns the rule that decides for a path of the cage: the deepest one at or above it. What no rule covers
// has the zero Rule, which hides.
func (p Profile) Rule(name string) Rule {
	name = path.Clean(name)
	var best Rule
	for _, rule := range p.Rules {
		if at(rule.Path, name) && (best.Path == "" || depth(rule.Path) >= depth(best.Path)) {
			best = rule
		}
	}
	return best
}
