package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"termic/mcpserver/jsoncedit"
	"termic/mcpserver/tomledit"
)

// Written is what was written into a client's configuration, so that it can be told from what others wrote and
// be taken out without a trace.
type Written struct {
	// File is the configuration as the client names it, before any link.
	File string `json:"file"`
	// Entry is what was written, as JSON.
	Entry json.RawMessage `json:"entry"`
	// Made counts the objects around the entry that were not there.
	Made int `json:"made,omitempty"`
	// Extra: the further key was put in.
	Extra bool `json:"extra,omitempty"`
	// Created: the file was not there. Dirs are the directories that were not there, the outermost first.
	Created bool     `json:"created,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
	// Backups are the copies that were made beside the file; Ours are those that were made while an entry of ours stood in it.
	Backups []string `json:"backups,omitempty"`
	Ours    []string `json:"ours,omitempty"`
}

// State is how an entry stands.
type State string

const (
	// Absent: there is no entry and none was written.
	Absent State = "none"
	// Current: the entry is what would be written now.
	Current State = "current"
	// Stale: the entry is ours and points to what is no longer so, a port or a program.
	Stale State = "stale"
	// Changed: somebody changed the entry that we wrote.
	Changed State = "changed"
	// Missing: somebody took our entry out.
	Missing State = "missing"
	// Foreign: there is an entry of our name that is not ours.
	Foreign State = "foreign"
	// Manual: the client has no configuration that we edit.
	Manual State = "manual"
)

// Wanted returns the entry for a target as JSON in canonical form.
func (c Client) Wanted(t Target) (json.RawMessage, error) {
	root := map[string]any{}
	for _, m := range c.Entry(t) {
		table := root
		for _, part := range m.Key[:len(m.Key)-1] {
			inner, ok := table[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				table[part] = inner
			}
			table = inner
		}
		table[m.Key[len(m.Key)-1]] = m.Value
	}
	return canonical(root)
}

func canonical(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode an entry: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Read returns the entry that a configuration has, as JSON in canonical form; nil where it has none.
func (c Client) Read(src []byte) (json.RawMessage, error) {
	var value any
	var found bool
	var err error
	if c.Format == TOML {
		value, found, err = tomledit.Get(src, c.Path...)
	} else {
		var raw json.RawMessage
		if raw, found, err = jsoncedit.Get(src, c.Path...); found {
			err = json.Unmarshal(raw, &value)
		}
	}
	if err != nil || !found {
		return nil, err
	}
	return canonical(value)
}

// Judge returns how the entry in a configuration stands. written is what we wrote there, nil if nothing.
func (c Client) Judge(src []byte, t Target, written *Written) (State, error) {
	has, err := c.Read(src)
	if err != nil {
		return "", err
	}
	wanted, err := c.Wanted(t)
	if err != nil {
		return "", err
	}
	switch {
	case has == nil && written == nil:
		return Absent, nil
	case has == nil:
		return Missing, nil
	case bytes.Equal(has, wanted):
		return Current, nil
	case written == nil:
		return Foreign, nil
	case sameJSON(has, written.Entry):
		return Stale, nil
	}
	return Changed, nil
}

// sameJSON compares an entry in canonical form with one that was kept: the file it was kept in is laid out for people to read.
func sameJSON(has, kept json.RawMessage) bool {
	var value any
	if json.Unmarshal(kept, &value) != nil {
		return false
	}
	text, err := canonical(value)
	return err == nil && bytes.Equal(has, text)
}

// Write returns a configuration with the entry for a target, and what is to be remembered: Entry, Made and Extra
// of Written. extra says that the person allowed the further key; one that stands there already is left alone.
func (c Client) Write(src []byte, t Target, extra bool) ([]byte, Written, error) {
	wanted, err := c.Wanted(t)
	if err != nil {
		return nil, Written{}, err
	}
	written := Written{Entry: wanted}
	if c.Format == TOML {
		out, err := tomledit.SetTable(src, c.Path, tomlEntries(c.Entry(t)))
		if err != nil {
			return nil, Written{}, err
		}
		if _, there, err := tomledit.Get(out, c.extraPath()...); err != nil || there || !extra || c.Extra == nil {
			return out, written, err
		}
		written.Extra = true
		out, err = tomledit.SetKey(out, c.Extra.Path, true)
		return out, written, err
	}
	out, made, err := jsoncedit.Set(src, c.Path, orderedJSON(c.Entry(t)))
	written.Made = made
	return out, written, err
}

func (c Client) extraPath() []string {
	if c.Extra == nil {
		return c.Path
	}
	return c.Extra.Path
}

// HasExtra tells whether the further key is set to true; a client without one has it.
func (c Client) HasExtra(src []byte) (bool, error) {
	if c.Extra == nil {
		return true, nil
	}
	value, _, err := tomledit.Get(src, c.Extra.Path...)
	return value == true, err
}

// Lacks says what the client needs besides its entry and does not have, "" when that is nothing. A further key that the person
// has set to something else is theirs to change.
func (c Client) Lacks(src []byte) (string, error) {
	if c.Extra == nil {
		return "", nil
	}
	value, there, err := tomledit.Get(src, c.Extra.Path...)
	switch {
	case err != nil || value == true:
		return "", err
	case there:
		return fmt.Sprintf("%s; %s stands in the file as %v and is left so: set it to true there yourself", c.Extra.Asks, strings.Join(c.Extra.Path, "."), value), nil
	}
	return c.Extra.Asks, nil
}

// Drop returns a configuration without what was written. The further key goes only when we put it in and it is
// still as it was.
func (c Client) Drop(src []byte, written Written) ([]byte, error) {
	if c.Format != TOML {
		return jsoncedit.Drop(src, c.Path, written.Made)
	}
	out, err := tomledit.DropTable(src, c.Path)
	if err != nil || !written.Extra || c.Extra == nil {
		return out, err
	}
	if on, err := c.HasExtra(out); err != nil || !on {
		return out, err
	}
	return tomledit.DropKey(out, c.Extra.Path)
}

func tomlEntries(members []Member) []tomledit.Entry {
	entries := make([]tomledit.Entry, len(members))
	for i, m := range members {
		entries[i] = tomledit.Entry(m)
	}
	return entries
}

// orderedJSON returns the members as an object, in their order. Entries of JSON clients are flat.
func orderedJSON(members []Member) json.RawMessage {
	var parts []string
	for _, m := range members {
		name, _ := canonical(strings.Join(m.Key, "."))
		value, _ := canonical(m.Value) // strings, bools and lists of strings always encode
		parts = append(parts, string(slices.Concat(name, []byte(":"), value)))
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// OwnValue is the entry as the client's own command line takes it.
func (c Client) OwnValue(t Target) string { return string(orderedJSON(c.Entry(t))) }
