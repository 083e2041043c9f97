package registration

import (
	"bytes"
	"context"
	"errors"
	"time"

	"termic/mcpserver/clients"
	"termic/registry"
	"termic/registry/refusal"
)

// Add is how a client is registered.
type Add struct {
	Name string
	// Other: it is none that we know.
	Other   bool
	Ceiling registry.Class
	// Elicits: its own person is asked, through it, about calls that have to be confirmed.
	Elicits bool
	// Replace writes over an entry that is not ours, or that somebody changed.
	Replace bool
	// Extra is the person's yes to the client's further key.
	Extra bool
	// DryRun changes nothing.
	DryRun bool
}

// Change is what was done, or would be.
type Change struct {
	Status Status
	// Diff is the change of the client's configuration; empty where there was none.
	Diff string
	// Backup is the copy of the configuration from before.
	Backup string
	// Notes say what else the person has to know.
	Notes []string
}

// Add registers a client: it gets a token, and its configuration an entry that says how to read that.
func (s *Set) Add(ctx context.Context, in Add) (Change, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	c, err := s.choose(in.Name, in.Other)
	if err != nil {
		return Change{}, err
	}
	before, there := s.record(c.Name)
	next := before
	if !there {
		next = Record{Name: c.Name, Added: time.Now().UTC()}
	}
	next.Ceiling, next.Elicits, next.Ended = in.Ceiling, in.Elicits, false
	change := Change{}
	if c.Format == clients.NoFile {
		change.Notes = []string{c.After}
		if in.DryRun {
			change.Status = s.status(c)
			return change, nil
		}
		return s.admit(c, there && !before.Ended, before, next, change)
	}
	if s.tokens.URL() == "" {
		return Change{}, refusal.New(refusal.Unavailable, "the endpoint has no address yet", "termic settings set mcp.enabled true")
	}
	if s.fileOf(c, before) == "" {
		return Change{}, refusal.New(refusal.Unsupported, "no home directory is known, so no configuration", "follow: termic client show "+c.Name)
	}
	p, err := s.look(c, before)
	if err != nil {
		return Change{}, explain(c.Name, err)
	}
	if err := p.allowed(in.Replace); err != nil {
		return Change{}, err
	}
	out, written, err := p.write(in.Extra)
	if err != nil {
		return Change{}, explain(c.Name, err)
	}
	change.Diff = p.diff(out)
	if in.DryRun {
		change.Status = s.status(c)
		return change, nil
	}
	next.Written = &written
	if err := s.save(c.Name, &next); err != nil {
		return Change{}, err
	}
	if change.Backup, err = s.apply(ctx, p, out, &next); err != nil {
		return Change{}, errors.Join(explain(c.Name, err), s.restore(c.Name, before, there))
	}
	change.Notes = []string{c.After}
	return s.admit(c, there && !before.Ended, before, next, change)
}

// restore puts the record back that a failed change replaced.
func (s *Set) restore(name string, before Record, there bool) error {
	if !there {
		return s.save(name, nil)
	}
	return s.save(name, &before)
}

// admit keeps the record and sees to it that the client has a token of the right ceiling.
func (s *Set) admit(c clients.Client, had bool, before, next Record, change Change) (Change, error) {
	if err := s.save(c.Name, &next); err != nil {
		return Change{}, err
	}
	if !had || before.Ceiling != next.Ceiling {
		if err := s.tokens.Admit(c.Name, next.Ceiling); err != nil {
			return Change{}, err
		}
	}
	change.Status = s.status(c)
	return change, nil
}

// apply writes a planned configuration and completes the record's account of it.
func (s *Set) apply(ctx context.Context, p plan, out []byte, next *Record) (backup string, err error) {
	if string(out) == string(p.from.Data) && p.from.Exists {
		return "", nil
	}
	next.Own = false
	if program := s.ownProgram(p.client); program != "" {
		next.Own = true
		return "", s.writeOwn(ctx, program, p)
	}
	unlock, err := s.lock(ctx, p.client, p.from.Name)
	if err != nil {
		return "", err
	}
	done, err := p.from.Replace(out, time.Now())
	if err = errors.Join(err, unlock()); err != nil {
		return "", err
	}
	switch {
	case done.Backup == "":
	case p.state == clients.Stale:
		next.Written.Ours = append(next.Written.Ours, done.Backup)
	default:
		next.Written.Backups = append(next.Written.Backups, done.Backup)
	}
	if len(done.Dirs) > 0 {
		next.Written.Dirs = done.Dirs
	}
	return done.Backup, nil
}

// Remove is how a client is unregistered.
type Remove struct {
	Name string
	// Force takes the entry out although somebody changed it.
	Force  bool
	DryRun bool
}

// Remove ends a client's token first and in any case, then takes its entry out without a trace. When that cannot
// be done, the refusal says so, the token is gone all the same, and removing can be tried again.
func (s *Set) Remove(ctx context.Context, in Remove) (Change, error) {
	if !in.DryRun {
		s.tokens.Expel(in.Name) // needs no lock, no disk and no configuration (I14)
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	r, there := s.record(in.Name)
	if !there {
		return Change{}, refusal.New(refusal.NotFound, "that client is not registered", "see: termic client list")
	}
	c, err := s.client(in.Name)
	if err != nil {
		return Change{}, err
	}
	change := Change{}
	if !in.DryRun {
		ended := r
		ended.Ended = true
		if err := s.save(in.Name, &ended); err != nil {
			return Change{}, err
		}
		s.tokens.Expel(in.Name) // of a registration that came in between
	}
	if r.Written != nil {
		if err := s.takeOut(ctx, c, r, in, &change); err != nil {
			return Change{}, endedAllTheSame(explain(c.Name, err), in.DryRun)
		}
	}
	if !in.DryRun {
		if err := s.save(in.Name, nil); err != nil {
			return Change{}, err
		}
	}
	change.Status = s.status(c)
	return change, nil
}

// endedAllTheSame adds to a refusal what was done before it.
func endedAllTheSame(err error, dryRun bool) error {
	no, ok := refusal.From(err)
	if !ok || dryRun {
		return err
	}
	return refusal.New(no.Code, no.Reason+"; the client's token has ended all the same", no.Remedy).Because(err)
}

// takeOut removes the entry from the client's configuration.
func (s *Set) takeOut(ctx context.Context, c clients.Client, r Record, in Remove, change *Change) error {
	p, err := s.look(c, r)
	if err != nil {
		return err
	}
	if p.state == clients.Changed && !in.Force {
		return refusal.New(refusal.Conflict, "somebody changed the entry that this app wrote",
			"look at the difference with: termic client show "+c.Name+"; then take it out with --force")
	}
	out, err := c.Drop(p.from.Data, *r.Written)
	if err != nil {
		return err
	}
	change.Diff = p.diff(out)
	if in.DryRun || change.Diff == "" && !p.gone(out) {
		return nil
	}
	if program := s.ownProgram(c); program != "" && r.Own {
		return s.dropOwn(ctx, program, p)
	}
	unlock, err := s.lock(ctx, c, p.from.Name)
	if err != nil {
		return err
	}
	return errors.Join(s.put(p, out, change), unlock())
}

// put writes a configuration without its entry, removes one that was made for it, and tidies up backups that hold
// nothing of their own any more.
func (s *Set) put(p plan, out []byte, change *Change) error {
	if p.gone(out) {
		if !p.from.Exists {
			return nil
		}
		if err := p.from.Remove(p.record.Written.Dirs); err != nil {
			return err
		}
		p.tidy(p.from.Data, out)
		return nil
	}
	done, err := p.from.Replace(out, time.Now())
	if err != nil {
		return err
	}
	if p.tidy(out, out) {
		// The file is what it was before it was registered: the copy with our entry is of no use to anyone.
		clients.Tidy([]string{done.Backup}, holds(p.from.Data))
		done.Backup = ""
	}
	change.Backup = done.Backup
	return nil
}

// tidy removes the copies of a configuration that hold what it holds now, and those that hold an entry of ours beside what is left
// without it. It tells whether one of the former was there.
func (p plan) tidy(now, without []byte) bool {
	written := *p.record.Written
	clients.Tidy(written.Ours, func(data []byte) bool {
		rest, err := p.client.Drop(data, written)
		return err == nil && bytes.Equal(rest, without)
	})
	return len(clients.Tidy(written.Backups, holds(now))) < len(written.Backups)
}

func holds(now []byte) func([]byte) bool {
	return func(data []byte) bool { return bytes.Equal(data, now) }
}

// Refresh rewrites every entry that is ours and stale, for the address url, and returns what it did, and the
// clients whose entry could not be rewritten with the reason.
func (s *Set) Refresh(ctx context.Context, url string, dryRun bool) (done []Change, failed map[string]error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	failed = map[string]error{}
	for _, name := range s.Known() {
		r, there := s.record(name)
		c, known := clients.Find(name)
		if !there || !known || r.Ended || r.Written == nil {
			continue
		}
		change, err := s.refresh(ctx, c, r, url, dryRun)
		switch {
		case err != nil:
			failed[name] = explain(name, err)
		case change.Diff != "":
			done = append(done, change)
		}
	}
	return done, failed
}

func (s *Set) refresh(ctx context.Context, c clients.Client, r Record, url string, dryRun bool) (Change, error) {
	p, err := s.lookFor(c, r, url)
	if err == nil && p.state == clients.Changed {
		err = p.allowed(false) // it may name the old address, and is not ours to write over
	}
	if err != nil || p.state != clients.Stale {
		return Change{}, err
	}
	out, written, err := p.write(false)
	if err != nil {
		return Change{}, err
	}
	change := Change{Diff: p.diff(out), Status: s.status(c)}
	if dryRun {
		return change, nil
	}
	next := r
	next.Written = &written
	if err := s.save(c.Name, &next); err != nil {
		return Change{}, err
	}
	if change.Backup, err = s.apply(ctx, p, out, &next); err != nil {
		return Change{}, errors.Join(err, s.save(c.Name, &r))
	}
	if err := s.save(c.Name, &next); err != nil {
		return Change{}, err
	}
	change.Status = s.status(c)
	return change, nil
}
