package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// maxProtected is how many entries the protected directories of a checkout may hold together. Each is looked at.
const maxProtected = 100_000

// inode is a file, whatever it is called.
type inode struct{ dev, ino uint64 }

// guard looks through what protect has made read-only for ways to change it by another name: a symbolic link in it that
// leads to what the cage may write, and a second name (hard link) of one of its files there. An earlier run can have
// planted either, before anything of that name was protected. Where a link leads becomes read-only too; what can not be
// made so is a *LinkError.
func (c *compiler) guard(protected []string) error {
	many := map[inode]string{} // files with several names
	for seen := 0; len(protected) > 0; seen++ {
		name := protected[0]
		protected = protected[1:]
		if seen > maxProtected {
			return fmt.Errorf("compile cage: more than %d files that programs outside obey, at %q", maxProtected, name)
		}
		entry, err := c.disk.Lstat(name)
		switch {
		case err != nil:
			return fmt.Errorf("compile cage: %w", err)
		case entry.Mode&fs.ModeSymlink != 0:
			target, err := c.follow(name)
			if err != nil {
				return err
			}
			if target != "" {
				protected = append(protected, target)
			}
		case entry.Mode.IsDir():
			names, err := c.disk.ReadDir(name)
			if err != nil {
				return fmt.Errorf("compile cage: %w", err)
			}
			slices.Sort(names)
			protected = append(protected, below(name, names)...)
		case entry.Mode.IsRegular() && entry.Links > 1:
			many[inode{entry.Dev, entry.Ino}] = name
		}
	}
	if len(many) == 0 {
		return nil
	}
	return c.otherNames(many)
}

// follow makes read-only what a link in a protected directory leads to, if the cage could write it, and returns it. On
// the host the link leads to a path of the host: what counts is whether that is written from the cage, wherever it is
// shown there.
func (c *compiler) follow(link string) (string, error) {
	target, exists, err := resolve(c.disk, link)
	if errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	inside, written := c.written(target)
	switch {
	case !written:
		return "", nil
	case !exists, at(target, link), inside != target, !at(c.profile.Checkout, target) && slices.ContainsFunc(c.owned, func(o string) bool { return at(o, inside) }):
		// It could be made; holds the link itself; is shown elsewhere; is a private directory of the task.
		return "", &LinkError{Path: link}
	}
	return target, c.add(Rule{Path: target, Source: target, Access: ReadOnly, Why: "programs outside the cage obey it, through " + path.Base(link)})
}

// written reports whether a path of the host is written from the cage, and where it is shown in it.
func (c *compiler) written(target string) (inside string, written bool) {
	for _, cache := range c.profile.Caches {
		if at(cache.Upper, target) || at(cache.Cold, target) && cache.Cold != "" {
			return cache.Path, true
		}
	}
	soFar := c.profileSoFar()
	for _, rule := range soFar.Rules {
		if rule.Access != Writable || !at(rule.Source, target) {
			continue
		}
		if inside = path.Join(rule.Path, target[len(rule.Source):]); soFar.Rule(inside).Access == Writable {
			return inside, true
		}
	}
	return "", false
}

// otherNames looks for another name of one of the files where the cage may write.
func (c *compiler) otherNames(of map[inode]string) error {
	soFar := c.profileSoFar()
	for _, rule := range soFar.Rules {
		if rule.Access != Writable || rule.File {
			continue
		}
		if err := c.search(soFar, rule, rule.Path, of); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) search(soFar Profile, root Rule, name string, of map[inode]string) error {
	if soFar.Rule(name).Path != root.Path {
		return nil // another rule's
	}
	on := path.Join(root.Source, name[len(root.Path):])
	entry, err := c.disk.Lstat(on)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	if err != nil {
		return fmt.Errorf("compile cage: %w", err)
	}
	if first, ok := of[inode{entry.Dev, entry.Ino}]; ok && entry.Mode.IsRegular() {
		return &LinkError{Path: first, Other: on}
	}
	if !entry.Mode.IsDir() {
		return nil
	}
	names, err := c.disk.ReadDir(on)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // the cage can look no further either
	}
	if err != nil {
		return fmt.Errorf("compile cage: %w", err)
	}
	for _, below := range names {
		if err := c.search(soFar, root, path.Join(name, below), of); err != nil {
			return err
		}
	}
	return nil
}
