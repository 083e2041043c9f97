package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"termic/sandbox/capability"
)

// systemDirs are what every cage reads of the system. Nothing is written below them.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix/store", "/System", "/Library"}

// made are the places that a cage has of its own, which no rule of a person can replace.
var made = []string{"/proc", "/dev", "/sys", "/run", "/var/run"}

// system adds the base system: read-only directories, and links as they are on the host.
func (c *compiler) system() error {
	for _, dir := range systemDirs {
		entry, err := c.disk.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("compile cage: %w", err)
		case entry.Mode&fs.ModeSymlink != 0:
			c.rules[dir] = Rule{Path: dir, Access: Link, Target: entry.Target, Why: "the system"}
		case dir == "/etc" && c.dirs.Root:
			if err := c.open(dir); err != nil {
				return err
			}
		default:
			if err := c.add(Rule{Path: dir, Source: dir, Access: ReadOnly, Why: "the system"}); err != nil {
				return err
			}
		}
	}
	if entry, err := c.disk.Lstat("/var/run"); err == nil && entry.Mode&fs.ModeSymlink != 0 {
		c.rules["/var/run"] = Rule{Path: "/var/run", Access: Link, Target: entry.Target, Why: "the system"}
	}
	return nil
}

// open adds what of a directory anyone may read, each by itself where something in it is closed. A cage of root could
// read the rest, and masking it does not do: when a program outside replaces a file (passwd does so with /etc/shadow)
// the kernel takes off what is mounted on it. What is not there at all stays so.
func (c *compiler) open(dir string) error {
	shut, err := closed(c.disk, dir)
	if err != nil {
		return fmt.Errorf("compile cage: %w", err)
	}
	c.shut = append(c.shut, shut...)
	for _, secret := range c.secrets {
		if at(dir, secret) {
			shut = append(shut, secret)
		}
	}
	return c.openParts(dir, shut)
}

func (c *compiler) openParts(name string, shut []string) error {
	entry, err := c.disk.Lstat(name)
	if err != nil {
		return fmt.Errorf("compile cage: %w", err)
	}
	switch {
	case slices.Contains(shut, name):
		return nil
	case entry.Mode&fs.ModeSymlink != 0:
		c.rules[name] = Rule{Path: name, Access: Link, Target: entry.Target, Why: "the system"}
		return nil
	case entry.Mode.IsRegular(), entry.Mode.IsDir() && !slices.ContainsFunc(shut, func(s string) bool { return at(name, s) }):
		return c.add(Rule{Path: name, Source: name, Access: ReadOnly, Why: "the system"})
	case !entry.Mode.IsDir():
		return nil // a socket or a pipe of the system
	}
	names, err := c.disk.ReadDir(name)
	if err != nil {
		return fmt.Errorf("compile cage: %w", err)
	}
	for _, below := range names {
		if err := c.openParts(path.Join(name, below), shut); err != nil {
			return err
		}
	}
	return nil
}

// personal adds the private directories, the toolchains, and what an open network needs.
func (c *compiler) personal() error {
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", c.profile.Home} {
		c.rules[dir] = Rule{Path: dir, Access: Private, Why: "private to the task"}
	}
	runtime := path.Join("/run/user", strconv.Itoa(c.dirs.UID))
	c.rules[runtime] = Rule{Path: runtime, Access: Private, Why: "XDG_RUNTIME_DIR"}
	for _, dir := range c.dirs.Read {
		real, err := c.real(dir, "toolchain")
		if err != nil {
			return err
		}
		if secret := c.shown(real); secret != "" {
			return &ExposureError{Rule: fmt.Sprintf("of the app for the toolchain %q", dir), Secret: secret}
		}
		// Programs find their toolchain by the name that the person uses, which may be a link. Below a directory that
		// is there, or a link that is (/bin), the name is there with it.
		clean := path.Clean(dir)
		if around := c.around(clean).Access; clean != real && around != ReadOnly && around != Link {
			c.rules[clean] = Rule{Path: clean, Access: Link, Target: real, Why: "a toolchain"}
		}
		if c.around(real).Access == ReadOnly {
			continue
		}
		if err := c.add(Rule{Path: real, Source: real, Access: ReadOnly, Why: "a toolchain"}); err != nil {
			return err
		}
	}
	return c.names()
}

// names adds the files that say which name servers to ask, when they lie outside /etc: systemd-resolved and others
// keep them in /run. A cage with a network of its own asks none.
func (c *compiler) names() error {
	if c.profile.Mode == capability.Enforce {
		return nil
	}
	real, exists, err := resolve(c.disk, "/etc/resolv.conf")
	if err != nil {
		return err
	}
	if exists && !at("/etc", real) {
		return c.add(Rule{Path: real, Source: real, Access: ReadOnly, Why: "name servers"})
	}
	return nil
}

// protect makes what the checkout's tools execute by themselves read-only, unless the app put something of its own
// there (the cage's view of .git).
func (c *compiler) protect() error {
	paths, err := executedIn(c.disk, c.profile.Checkout)
	if err != nil {
		return err
	}
	var protected []string
	for _, name := range paths {
		if slices.Contains(c.owned, name) {
			continue
		}
		exists, err := c.unlinked(name)
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		if err := c.add(Rule{Path: name, Source: name, Access: ReadOnly, Why: "programs outside the cage obey it"}); err != nil {
			return err
		}
		protected = append(protected, name)
	}
	return c.guard(protected)
}

// unlinked reports whether a path of the checkout exists. A symbolic link in it, or at its end, is a *LinkError.
func (c *compiler) unlinked(name string) (bool, error) {
	for _, p := range append(dirsBetween(c.profile.Checkout, name), name) {
		entry, err := c.disk.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("compile cage: %w", err)
		case entry.Mode&fs.ModeSymlink != 0:
			return false, &LinkError{Path: p}
		}
	}
	return true, nil
}

// hide masks what is denied and lies inside something that the cage shows, and lists everything that must not open.
func (c *compiler) hide() error {
	hidden := slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.denied, c.shut))))
	soFar := c.profileSoFar()
	for _, secret := range hidden {
		c.profile.Absent = append(c.profile.Absent, secret)
		around := soFar.Rule(secret)
		if slices.Contains(c.owned, around.Path) {
			c.profile.Replaced = append(c.profile.Replaced, secret)
			continue
		}
		if around.Access != ReadOnly && around.Access != Writable {
			continue // nothing of the host is there
		}
		real, exists, err := resolve(c.disk, secret)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if !exists || real != secret { // where a link leads is in the list itself
			continue
		}
		entry, err := c.disk.Lstat(secret)
		if err != nil {
			return fmt.Errorf("compile cage: %w", err)
		}
		c.rules[secret] = Rule{Path: secret, Access: Hidden, File: !entry.Mode.IsDir(), Why: "secret"}
	}
	return nil
}

// between makes every directory between a writable one and what is read-only or hidden inside it a mount of its own:
// a directory that is none can be renamed away, and the path made anew.
func (c *compiler) between() error {
	soFar := c.profileSoFar()
	for _, rule := range soFar.Rules {
		if rule.Access != ReadOnly && rule.Access != Hidden {
			continue
		}
		around := soFar.Rule(path.Dir(rule.Path))
		if around.Access != Writable {
			continue
		}
		for _, dir := range dirsBetween(around.Path, rule.Path) {
			source := path.Join(around.Source, dir[len(around.Path):])
			if err := c.add(Rule{Path: dir, Source: source, Access: Writable, Why: "keeps " + path.Base(rule.Path) + " in its place"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// dirsBetween returns the directories between root and name, both left out, from the top.
func dirsBetween(root, name string) []string {
	var dirs []string
	for dir := path.Dir(name); len(dir) > len(root) && at(root, dir); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}
