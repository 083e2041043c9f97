package profile

import (
	"errors"
	"slices"

	"termic/sandbox/capability"
)

// Ask is a path that a person could allow a cage.
type Ask struct {
	Path  string
	Write bool
}

// Sift tells which of many paths a cage of the task cannot be given, and why; the others it can be given together. A path is
// looked at as long as it is deep, however many there are.
func Sift(asks []Ask, dirs Dirs, disk Disk) (map[Ask]error, error) {
	refused := map[Ask]error{}
	c := &compiler{disk: disk, dirs: dirs, rules: map[string]Rule{}}
	c.profile = Profile{Mode: capability.Enforce}
	for _, step := range []func() error{c.places, c.system, c.personal, c.own, c.caches} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var left []Ask
	for _, one := range asks {
		if err := c.wouldAsk(one); err != nil {
			refused[one] = err
		} else {
			left = append(left, one)
		}
	}
	all := together{dirs: dirs, disk: disk, refused: refused, tries: maxTogether}
	if err := all.add(nil); err != nil {
		return nil, err
	}
	return refused, all.add(left)
}

// wouldAsk is ask without its effect: what one path brings does not count for the next.
func (c *compiler) wouldAsk(one Ask) error {
	paths, err := capability.PathsOf(one.Path)
	if err != nil {
		return err
	}
	name := paths.Items()[0]
	before, had := c.rules[name]
	access := ReadOnly
	if one.Write {
		access = Writable
	}
	err = c.ask(name, access, "seen")
	if had {
		c.rules[name] = before
	} else {
		delete(c.rules, name)
	}
	return err
}

// maxTogether bounds how many cages are compiled to find the paths of which one makes something else of the cage
// impossible, such as a link in the checkout that leads to it. There are hardly any.
const maxTogether = 64

// together finds out which of the paths, each of which a cage could be given by itself, cannot be added to those before them,
// by halves. What is left when its tries are used up is refused for the last reason.
type together struct {
	dirs    Dirs
	disk    Disk
	taken   []Ask
	refused map[Ask]error
	tries   int
}

// add takes those that can be added. The error is of a cage that no path of the person's keeps from being made.
func (g *together) add(asks []Ask) error {
	all := slices.Concat(g.taken, asks)
	declared, err := declaring(all)
	if err != nil {
		return err
	}
	_, why := Compile(declared, g.dirs, g.disk)
	g.tries--
	switch {
	case why == nil:
		g.taken = all
		return nil
	case len(all) == 0:
		return why
	case len(asks) == 1 || g.tries <= 0:
		for _, one := range asks {
			g.refused[one] = why
		}
		return nil
	}
	half := len(asks) / 2
	return errors.Join(g.add(asks[:half]), g.add(asks[half:]))
}

func declaring(asks []Ask) (capability.Declared, error) {
	var read, write []string
	for _, one := range asks {
		if one.Write {
			write = append(write, one.Path)
		} else {
			read = append(read, one.Path)
		}
	}
	d := capability.Declared{Mode: capability.Enforce}
	var errs [2]error
	d.Set.Read, errs[0] = capability.PathsOf(read...)
	d.Set.Write, errs[1] = capability.PathsOf(write...)
	return d, errors.Join(errs[:]...)
}
