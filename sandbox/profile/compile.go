package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"termic/sandbox/capability"
)

// Dirs is where the things are that a cage is made of. Its paths are the app's own words: unlike those of a
// capability.Set they may lead into the data directory, for that is where a task's private directories lie.
type Dirs struct {
	Home     string   // the person's home directory; in the cage a private one
	Homes    []string // more directories that hold what a home does: the one that the system's table of users names
	Checkout string   // the task's
	Data     string   // the app's data directory: does not exist in the cage
	Own      []Own    // what the app made or chose for this task
	Caches   []Cache  //
	Read     []string // toolchains and the agent's installation
	Hidden   []string // what else may not be seen: checkouts of other tasks and of the project
	Root     bool     // the cage's processes have uid 0, so the permissions of /etc do not hold them
	UID      int      // of the cage's processes
}

// Own is one path that the app gives to the task: its private git directory, an agent's state, credentials.
type Own struct {
	Path   string // in the cage
	Source string // on the host
	Write  bool
	Why    string
}

// Compile returns the cage of a task. The error is that of the declaration, an *ExposureError, a *LinkError, a
// *MissingError, or one of the disk.
func Compile(declared capability.Declared, dirs Dirs, disk Disk) (Profile, error) {
	if err := declared.Check(); err != nil {
		return Profile{}, fmt.Errorf("compile cage: %w", err)
	}
	if !declared.Mode.Caged() {
		return Profile{}, fmt.Errorf("compile cage: mode %s has none", declared.Mode)
	}
	c := &compiler{disk: disk, dirs: dirs, set: declared.Set, rules: map[string]Rule{}}
	c.profile = Profile{Mode: declared.Mode, Hosts: declared.Set.Network, Env: declared.Set.Env}
	if declared.Mode == capability.Enforce {
		c.profile.MCP = declared.Set.Control.Level() == "scoped"
		c.profile.Proxy = true // without a host on its list it refuses all of them, and what was refused is known
	}
	// Each step sees the rules of those before it. Denials come last, and replace what allows the same path.
	for _, step := range []func() error{c.places, c.system, c.personal, c.own, c.caches, c.asked, c.protect, c.hide, c.between} {
		if err := step(); err != nil {
			return Profile{}, err
		}
	}
	for _, rule := range c.rules {
		c.profile.Rules = append(c.profile.Rules, rule)
	}
	sortRules(c.profile.Rules)
	return c.profile, nil
}

type compiler struct {
	disk     Disk
	dirs     Dirs
	set      capability.Set
	profile  Profile
	rules    map[string]Rule // by path
	secrets  []string        // the built-in ones; resolved
	denied   []string        // these, the data directory and what the caller hides; resolved
	data     string          // the data directory; resolved
	shut     []string        // what of /etc only root may read, when the cage is root's
	executed []string        // what must not be written, outside the checkout; resolved
	owned    []string        // paths in the cage at which the app put something
}

// real resolves a path that must exist.
func (c *compiler) real(name, what string) (string, error) {
	real, exists, err := resolve(c.disk, name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if !exists {
		return "", &MissingError{Path: name, What: what}
	}
	return real, nil
}

// places resolves the directories that the rest is compared with.
func (c *compiler) places() (err error) {
	if c.profile.Home, err = c.real(c.dirs.Home, "home directory"); err != nil {
		return err
	}
	if c.profile.Checkout, err = c.real(c.dirs.Checkout, "checkout"); err != nil {
		return err
	}
	if c.profile.Home == "/" {
		return fmt.Errorf("compile cage: the home directory is %q: set HOME to a directory of its own", "/")
	}
	var secrets, executed []string
	for _, home := range append([]string{c.profile.Home}, c.dirs.Homes...) {
		secrets, executed = append(secrets, below(home, homeSecrets)...), append(executed, below(home, homeExecuted)...)
	}
	if c.secrets, err = c.resolved(append(secrets, systemSecrets...)); err != nil {
		return err
	}
	ours, err := c.resolved(append([]string{c.dirs.Data}, c.dirs.Hidden...))
	if err != nil {
		return err
	}
	if c.data, _, err = resolve(c.disk, c.dirs.Data); err != nil {
		return err
	}
	c.denied = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.secrets, ours))))
	c.executed, err = c.resolved(executed)
	return err
}

func below(dir string, rels []string) []string {
	out := make([]string, len(rels))
	for i, rel := range rels {
		out[i] = path.Join(dir, rel)
	}
	return out
}

// resolved returns the paths and, where they differ, where they lead: a secret that is reached through a link is
// denied under both names.
func (c *compiler) resolved(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		real, _, err := resolve(c.disk, name)
		if errors.Is(err, fs.ErrPermission) { // not ours to see, so not the cage's either
			real, err = path.Clean(name), nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, path.Clean(name))
		if real != path.Clean(name) {
			out = append(out, real)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// own binds what the app chose, the checkout first. It may lie inside what is denied to everyone, and may be no
// wider than that.
func (c *compiler) own() error {
	own := append([]Own{{Path: c.profile.Checkout, Source: c.profile.Checkout, Write: true, Why: "the task's checkout"}}, c.dirs.Own...)
	for _, o := range own {
		source, err := c.real(o.Source, "directory of the task")
		if err != nil {
			return err
		}
		if secret := c.shown(source); secret != "" {
			return &ExposureError{Rule: fmt.Sprintf("of the app for %q", o.Source), Secret: secret}
		}
		target, _, err := resolve(c.disk, o.Path)
		if err != nil {
			return err
		}
		if slices.Contains(c.owned, target) {
			return fmt.Errorf("compile cage: two things of the task at %q", target)
		}
		access := ReadOnly
		if o.Write {
			access = Writable
		}
		if err := c.add(Rule{Path: target, Source: source, Access: access, Own: true, Why: o.Why}); err != nil {
			return err
		}
		c.owned = append(c.owned, target)
	}
	return nil
}

// shown returns a denied path that binding source would show. What lies inside the data directory or inside what
// the caller hides is the app's to give, also where that is inside a secret, as on macOS; what else lies inside a secret is not, but for
// programs that agents keep there.
func (c *compiler) shown(source string) string {
	for _, denied := range c.denied {
		if at(source, denied) {
			return denied
		}
	}
	for _, secret := range c.secrets {
		if at(secret, c.data) && at(c.data, source) {
			continue
		}
		if at(secret, source) && !slices.ContainsFunc(below(c.profile.Home, programs), func(p string) bool { return at(p, source) }) {
			return secret
		}
	}
	return ""
}

func (c *compiler) caches() error {
	for _, cache := range c.dirs.Caches {
		for _, dir := range []string{cache.Lower, cache.Upper, cache.Work} {
			real, err := c.real(dir, "cache directory")
			if err != nil {
				return err
			}
			if secret := c.shown(real); secret != "" {
				return &ExposureError{Rule: fmt.Sprintf("of the app for the cache %q", dir), Secret: secret}
			}
			if real != dir {
				return fmt.Errorf("compile cage: cache directory %q leads to %q: name that", dir, real)
			}
		}
		if cache.Fallback == FallbackCold && cache.Cold == "" || cache.Fallback != FallbackCold && cache.Fallback != FallbackReadOnly {
			return fmt.Errorf("compile cage: cache %q has no fallback", cache.Path)
		}
		c.profile.Caches = append(c.profile.Caches, cache)
	}
	return nil
}

// asked adds what the person allowed beyond what every cage has.
func (c *compiler) asked() error {
	if c.set.Write.All() || c.set.Read.All() {
		return &ExposureError{Rule: "for every path", Secret: c.denied[0], Write: c.set.Write.All()}
	}
	for _, name := range c.set.Write.Items() {
		if err := c.ask(name, Writable, "asked for: write"); err != nil {
			return err
		}
	}
	for _, name := range c.set.Read.Items() {
		if err := c.ask(name, ReadOnly, "asked for: read"); err != nil {
			return err
		}
	}
	return nil
}

// ask adds one path of the person's, unless it is within reach already.
func (c *compiler) ask(name string, access Access, why string) error {
	rule := fmt.Sprintf("read %q", name)
	if access == Writable {
		rule = fmt.Sprintf("write %q", name)
	}
	real, err := c.real(name, "the path of the rule "+rule)
	if err != nil {
		return err
	}
	for _, owned := range c.owned {
		if at(owned, real) {
			return nil // the app has decided about it: the checkout is writable, the view of git in it is not
		}
	}
	for _, secret := range slices.Concat(c.denied, made) {
		if overlap(real, secret) {
			return &ExposureError{Rule: rule, Secret: secret}
		}
	}
	for _, private := range []string{"/tmp", "/var/tmp", c.profile.Home} {
		if at(real, private) {
			return &ExposureError{Rule: rule, Secret: private}
		}
	}
	if access == Writable {
		for _, kept := range slices.Concat(c.executed, systemDirs) {
			if overlap(real, kept) {
				return &ExposureError{Rule: rule, Secret: kept, Write: true}
			}
		}
	}
	if real != path.Clean(name) {
		return &RedirectError{Rule: rule}
	}
	// What is to be read stays read-only inside what may be written: asking for it by itself says so.
	if around := c.around(real); around.Access == access {
		return nil
	}
	return c.add(Rule{Path: real, Source: real, Access: access, Why: why})
}

// around returns the rule that decides so far, as Profile.Rule does, without looking at all of them.
func (c *compiler) around(name string) Rule {
	for at := path.Clean(name); ; at = path.Dir(at) {
		if rule, ok := c.rules[at]; ok || at == "/" {
			return rule
		}
	}
}

func (c *compiler) profileSoFar() Profile {
	p := Profile{}
	for _, rule := range c.rules {
		p.Rules = append(p.Rules, rule)
	}
	return p
}

// add finds out what the rule's source is, and sets the rule.
func (c *compiler) add(rule Rule) error {
	if rule.Access == ReadOnly || rule.Access == Writable {
		entry, err := c.disk.Lstat(rule.Source)
		if err != nil {
			return fmt.Errorf("compile cage: %w", err)
		}
		switch {
		case entry.Mode.IsRegular():
			rule.File = true
		case !entry.Mode.IsDir():
			return fmt.Errorf("compile cage: %q is neither a file nor a directory", rule.Source)
		}
	}
	c.rules[rule.Path] = rule
	return nil
}

func readDirIfAny(disk Disk, name string) ([]string, error) {
	names, err := disk.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}
