package agentstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termic/app/agent"
	"termic/app/safefile"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// builder makes one Plan.
type builder struct {
	keeper *Keeper
	person person
	task   Task
	dir    string // of the task
	plan   Plan
	hosts  []string
	built  []string // layouts that the plan has
}

// hook gives the cage the program that agents' hooks run, by itself, where nothing else is. It writes to the terminal that it is
// started on and needs nothing of ours.
func (b *builder) hook() {
	program, err := filepath.EvalSymlinks(b.task.Hook)
	if err != nil {
		return
	}
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return
	}
	b.plan.Hook = filepath.Join(b.person.real, ownDir, "hook")
	if b.keeper.inPlace {
		b.plan.Hook = program
	}
	b.plan.Own = append(b.plan.Own, profile.Own{Path: b.plan.Hook, Source: program, Why: "reports what the agent does"})
}

// agent adds what one agent gets.
func (b *builder) agent(ctx context.Context, h *held, definition agent.Definition) error {
	if err := definition.Validate(); err != nil {
		return err
	}
	b.hosts = append(b.hosts, definition.Cage.Hosts...)
	for _, name := range definition.Cage.Pass {
		b.pass(name)
	}
	b.install(definition)
	name := definition.Cage.State
	if name == "" {
		if keyed := b.key(definition); keyed != "" {
			b.pass(keyed)
		}
		return nil
	}
	if slices.Contains(b.built, name) {
		return nil
	}
	b.built = append(b.built, name)
	l, at := layouts[name], pathsFor(b.person, b.dir, b.task.Checkout, name, b.keeper.inPlace)
	if err := errors.Join(os.MkdirAll(at.cred, 0o700), emptyDir(at.cred)); err != nil {
		return err
	}
	in, err := b.login(ctx, h, l, at, definition)
	if err != nil {
		return err
	}
	if err := b.rebuild(l, at, in); err != nil {
		return err
	}
	b.own(l, at, in)
	return nil
}

// login chooses how the agent logs in: by a copy of the person's login, or by a key of their environment. Only one of
// them is in the cage.
func (b *builder) login(ctx context.Context, h *held, l *layout, at paths, definition agent.Definition) (seedInput, error) {
	in := seedInput{checkout: b.task.Checkout, hook: b.plan.Hook}
	if b.task.MCPURL != "" && (b.task.OlderMCP || !definition.MCP.Older) {
		in.mcpURL = b.task.MCPURL
	}
	keyed, title := b.key(definition), definition.Normalize().Title
	if keyed == "" || !l.keysFirst {
		c, err := b.keeper.vault(definition.Cage.State).join(ctx, at.cred, definition)
		h.creds = append(h.creds, cred{definition.Cage.State, at.cred})
		switch {
		case err != nil:
			b.note("%s has no login in this cage: %v", title, err)
		case c.serves():
			in.hasLogin = true
			b.hosts = append(b.hosts, c.hosts...)
			b.plan.Notes = append(b.plan.Notes, c.notes...)
			b.note("%s is logged in by a copy that cannot be renewed inside%s", title, until(c.expires, len(l.login.renew.args) > 0))
			return in, nil
		default:
			b.plan.Notes = append(b.plan.Notes, c.notes...)
		}
	}
	if keyed == "" {
		b.note("%s is not logged in: log in outside the cage. A login made inside is lost with it", title)
		return in, nil
	}
	in.keyed, in.key = keyed, b.person.env[keyed]
	b.pass(keyed)
	b.note("%s logs in with the key in %s, which every program of the cage can read", title, keyed)
	return in, nil
}

// noteTime is how notes write a time.
const noteTime = "2 Jan 2006 15:04"

func until(end time.Time, renewed bool) string {
	switch {
	case end.IsZero():
		return ""
	case renewed:
		return "; it is renewed outside before " + end.Local().Format(noteTime)
	}
	return "; it ends " + end.Local().Format(noteTime) + ", log in again outside then"
}

// key returns the first variable that logs the agent in and that the person has.
func (b *builder) key(definition agent.Definition) string {
	for _, name := range definition.Cage.Keys {
		if b.person.env[name] != "" {
			return name
		}
	}
	return ""
}

// pass gives a variable of the person's to the cage. An address in it is one that the agent must reach.
func (b *builder) pass(name string) {
	value := b.person.env[name]
	if value == "" {
		return
	}
	b.plan.Env[name] = value
	host, err := addressed(value)
	switch {
	case err != nil:
		b.note("%s names a host that no cage reaches: %v", name, err)
	case host != "":
		b.hosts = append(b.hosts, host)
	}
}

// addressed returns the host pattern of an address, or nothing when the value is none.
func addressed(value string) (string, error) {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", nil
	}
	_, err = capability.HostsOf(u.Host)
	return u.Host, err
}

// Hosts returns what an agent must reach to work as the person has set it up: its own hosts, those that its variables
// name, and those of the provider that it is logged in with. A Plan has the same ones.
func (k *Keeper) Hosts(definition agent.Definition) (capability.Hosts, error) {
	hosts := definition.Cage.Hosts
	p, err := k.person()
	if err != nil { // no cage starts then
		return capability.HostsOf(hosts...)
	}
	for _, name := range definition.Cage.Pass {
		if host, err := addressed(p.env[name]); err == nil && host != "" {
			hosts = append(slices.Clip(hosts), host)
		}
	}
	if l := layouts[definition.Cage.State]; l != nil {
		if c, err := l.login.of(p); err == nil && c.serves() {
			hosts = append(slices.Clip(hosts), c.hosts...)
		}
	}
	return capability.HostsOf(hosts...)
}

// own binds the state, what of it is read-only, and the login.
func (b *builder) own(l *layout, at paths, in seedInput) {
	b.plan.Own = append(b.plan.Own, profile.Own{Path: at.credAt, Source: at.cred, Why: "copy of the login of " + l.program})
	places := l.places(at)
	for _, p := range places {
		b.plan.Own = append(b.plan.Own, profile.Own{Path: p.at, Source: filepath.Join(at.state, p.name), Write: true, Why: "state of " + l.program})
	}
	for _, s := range l.seeds(in) {
		if s.write {
			continue
		}
		for _, p := range places {
			rel, err := filepath.Rel(p.name, s.name)
			if err == nil && filepath.IsLocal(rel) {
				b.plan.Own = append(b.plan.Own, profile.Own{Path: filepath.Join(p.at, rel), Source: filepath.Join(at.state, s.name), Why: "settings of " + l.program})
			}
		}
	}
	maps.Copy(b.plan.Env, l.env(at))
}

// rebuild makes the state anew. What is kept is moved aside first, and back last; each is one rename, so that a crash
// loses none of it.
func (b *builder) rebuild(l *layout, at paths, in seedInput) error {
	base := filepath.Dir(at.state)
	kept := filepath.Join(base, keptDir)
	for _, dir := range []string{at.state, kept} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := move(at.state, kept, l.keep); err != nil {
		return fmt.Errorf("keep state: %w", err)
	}
	wider, limit, err := widens(base, b.task.Limit)
	if err == nil && wider {
		err = drop(base, kept, l.drop)
	}
	if err == nil {
		err = noteLimit(base, limit)
	}
	if err != nil {
		return fmt.Errorf("drop instructions: %w", err)
	}
	if err := removeTree(at.state); err != nil {
		return fmt.Errorf("remove state: %w", err)
	}
	if err := fresh(l, at, in); err != nil {
		return fmt.Errorf("make state: %w", err)
	}
	if err := move(kept, at.state, l.keep); err != nil {
		return fmt.Errorf("keep state: %w", err)
	}
	return nil
}

// fresh writes a state as an agent finds it at its first start.
func fresh(l *layout, at paths, in seedInput) error {
	dirs := []string{"."}
	for _, p := range l.places(at) {
		dirs = append(dirs, p.name)
	}
	for _, pattern := range l.keep {
		dirs = append(dirs, filepath.Dir(pattern))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(at.state, dir), 0o700); err != nil {
			return err
		}
	}
	for _, s := range l.seeds(in) {
		file := filepath.Join(at.state, s.name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(s.content), 0o600)); err != nil {
			return err
		}
	}
	if !in.hasLogin {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.links)) {
		if err := os.Symlink(filepath.Join(at.credAt, l.links[name]), filepath.Join(at.state, name)); err != nil {
			return err
		}
	}
	return nil
}

// move renames what matches the patterns from one directory to the same place in another. Only directories and regular
// files are moved, and none over another: what a cage put there in their place is left to be deleted.
func move(from, to string, patterns []string) error {
	source, err := safefile.Hold(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := safefile.Hold(to)
	if err != nil {
		return err
	}
	defer target.Close()
	for _, pattern := range patterns {
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(pattern)), 0o700); err != nil {
			return err
		}
		names, err := match(source, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, _, err := target.Lstat(name); err == nil {
				continue
			}
			if err := source.Rename(name, target, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop deletes what of the kept matches the patterns. It is renamed out first, through no link, and deleted there.
func drop(base, kept string, patterns []string) error {
	outside, err := safefile.Hold(base)
	if err != nil {
		return err
	}
	defer outside.Close()
	dir, err := safefile.Hold(kept)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, pattern := range patterns {
		names, err := match(dir, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := errors.Join(removeTree(filepath.Join(base, "dropped")), dir.Rename(name, outside, "dropped")); err != nil {
				return err
			}
		}
	}
	return removeTree(filepath.Join(base, "dropped"))
}

// maxEntries bounds what is looked at in one directory that a cage wrote.
const maxEntries = 100_000

// match returns the directories and regular files beneath a directory whose names match a pattern, component by
// component. It goes through no link, and what it may not enter is not looked into.
func match(dir *safefile.Dir, pattern string) ([]string, error) {
	first, rest, deep := strings.Cut(pattern, "/")
	entries, _, err := dir.List(maxEntries)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if ok, err := filepath.Match(first, entry.Name); err != nil || !ok {
			continue
		}
		mode, _, err := dir.Lstat(entry.Name)
		if err != nil || !mode.IsDir() && (deep || !mode.IsRegular()) {
			continue
		}
		if !deep {
			found = append(found, entry.Name)
			continue
		}
		sub, err := dir.Dir(entry.Name)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, safefile.ErrLink) {
			continue
		}
		if err != nil {
			return nil, err
		}
		below, err := match(sub, rest)
		sub.Close()
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			found = append(found, entry.Name+"/"+name)
		}
	}
	return found, nil
}

func (b *builder) note(format string, args ...any) {
	b.plan.Notes = append(b.plan.Notes, fmt.Sprintf(format, args...))
}

// finish puts the plan in its final form.
func (b *builder) finish() (Plan, error) {
	hosts, err := capability.HostsOf(b.hosts...)
	if err != nil {
		return Plan{}, err
	}
	b.plan.Hosts = hosts
	for _, host := range hosts.Items() {
		if !b.task.Limit.Network.Covers(host) {
			b.note("the task does not reach %s, which its agent needs: add it to its hosts", host)
		}
	}
	slices.Sort(b.plan.Read)
	b.plan.Read = slices.Compact(b.plan.Read)
	return b.plan, nil
}
