package registration

import (
	"bytes"
	"errors"

	"termic/mcpserver/clients"
	"termic/mcpserver/jsoncedit"
	"termic/mcpserver/tomledit"
	"termic/registry/refusal"
)

// plan is what would be done to one configuration.
type plan struct {
	client clients.Client
	record Record
	from   clients.File
	state  clients.State
	// wanted is the entry as it would be now, for url.
	target clients.Target
	// difference is how the entry that stands there differs from what would be written, as a diff.
	difference string
}

// look reads a client's configuration and judges its entry for the address that is held now.
func (s *Set) look(c clients.Client, r Record) (plan, error) { return s.lookFor(c, r, s.tokens.URL()) }

func (s *Set) lookFor(c clients.Client, r Record, url string) (plan, error) {
	p := plan{client: c, record: r, target: s.target(c.Name, url)}
	var err error
	if p.from, err = clients.Open(s.fileOf(c, r)); err != nil {
		return plan{}, err
	}
	if p.state, err = c.Judge(p.from.Data, p.target, r.Written); err != nil {
		return plan{}, err
	}
	if url == "" && r.Written != nil && p.state == clients.Stale {
		p.state = clients.Current // nothing is known that it could be stale against
	}
	p.difference, err = p.compareEntry()
	return p, err
}

// compareEntry shows the entry that stands there against the one that was written, or else would be.
func (p plan) compareEntry() (string, error) {
	has, err := p.client.Read(p.from.Data)
	if err != nil || has == nil {
		return "", err
	}
	want, err := p.client.Wanted(p.target)
	if p.record.Written != nil && p.state == clients.Changed {
		want = p.record.Written.Entry
	}
	if err != nil {
		return "", err
	}
	return clients.Diff("the entry "+clients.EntryName, jsoncedit.Indent(has), jsoncedit.Indent(want)), nil
}

// allowed refuses to write over what is not ours as we wrote it, unless the person said so.
func (p plan) allowed(replace bool) error {
	if replace {
		return nil
	}
	switch p.state {
	case clients.Foreign:
		return refusal.New(refusal.Conflict, "the client has an entry named "+clients.EntryName+" that this app did not write",
			"look at it with: termic client show "+p.client.Name+"; then write over it with --replace")
	case clients.Changed:
		return refusal.New(refusal.Conflict, "somebody changed the entry that this app wrote",
			"look at the difference with: termic client show "+p.client.Name+"; then write over it with --replace")
	}
	return nil
}

// write returns the configuration with the entry, and what is to be remembered of it together with what was
// written before.
func (p plan) write(extra bool) ([]byte, clients.Written, error) {
	out, written, err := p.client.Write(p.from.Data, p.target, extra)
	if err != nil {
		return nil, clients.Written{}, err
	}
	written.File, written.Created = p.from.Name, !p.from.Exists
	if before := p.record.Written; before != nil {
		written.Made = max(written.Made, before.Made)
		written.Extra = written.Extra || before.Extra
		written.Created = written.Created || before.Created
		written.Dirs, written.Backups, written.Ours = before.Dirs, before.Backups, before.Ours
	}
	return out, written, nil
}

// diff shows what writing out would change in the file.
func (p plan) diff(out []byte) string {
	return clients.Diff(p.from.Name, string(p.from.Data), string(out))
}

// gone tells whether nothing is left of a configuration that was made for the entry.
func (p plan) gone(out []byte) bool {
	return p.record.Written != nil && p.record.Written.Created && len(bytes.TrimSpace(out)) == 0
}

// placeOf returns an editor's error in words, with its line and column.
func placeOf(err error) (string, bool) {
	var inJSON *jsoncedit.Error
	var inTOML *tomledit.Error
	switch {
	case errors.As(err, &inJSON):
		return inJSON.Error(), true
	case errors.As(err, &inTOML):
		return inTOML.Error(), true
	}
	return "", false
}
