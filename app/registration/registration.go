// Package registration knows which outside programs the person lets in, what was written into the configuration of
// each, and how that entry stands now. Each has a token of its own with a ceiling of its own; the tokens are the
// endpoint's, minted when it binds.
package registration

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"termic/app/store"
	"termic/mcpserver/clients"
	"termic/registry"
	"termic/registry/refusal"
)

// Record is one registered client.
type Record struct {
	Name string `json:"name"`
	// Ceiling is the highest class of verb that it may call.
	Ceiling registry.Class `json:"ceiling"`
	Added   time.Time      `json:"added"`
	// Elicits: calls of it that have to be confirmed are confirmed by its own person, through it.
	Elicits bool `json:"elicits,omitempty"`
	// Written is what is in its configuration; nil for a client that is told by hand.
	Written *clients.Written `json:"written,omitempty"`
	// Own: it was written through the client's own command line.
	Own bool `json:"own,omitempty"`
	// Ended: it was removed, and its entry could not be taken out yet. It gets no token.
	Ended bool `json:"ended,omitempty"`
}

// file holds the records by name.
var file = store.Define[map[string]Record]("clients", 1)

// Tokens gives and takes the clients' tokens. The endpoint does.
type Tokens interface {
	// State returns the address that is served, or why none is.
	State() (url, why string)
	// URL returns the address that is served; while nothing is, the one that would be; "" where there was none yet.
	URL() string
	// Admit gives a client that was just registered a token, or the one that it has another ceiling, while the
	// endpoint serves; else it gets one when the endpoint starts.
	Admit(name string, ceiling registry.Class) error
	// Proof returns the SHA-256 of a client's token in hex, "" where it has none. Only the app can know it, so
	// whoever reads a token can tell that it is the app's that confirmed the address.
	Proof(name string) string
	// Expel ends a client's token at once and without a disk.
	Expel(name string)
}

// Options are what a Set needs besides its store.
type Options struct {
	// Environ is the environment in which the person's programs run, Program the path of termic that entries name.
	Environ []string
	Program string
	// Mac tells where programs keep their configuration.
	Mac bool
	// Reads are the names of the tools that change nothing.
	Reads []string
}

// Set is the registered clients of one data directory. It is safe for concurrent use.
type Set struct {
	Options
	store  *store.Store
	tokens Tokens

	changing sync.Mutex // held while one registration changes. Taken before mu.

	mu      sync.Mutex
	records map[string]Record
	seen    map[string]time.Time // since the app started
}

// Open reads the registrations.
func Open(s *store.Store, o Options) (*Set, error) {
	records, err := file.Load(s)
	if err != nil {
		return nil, fmt.Errorf("open registrations: %w", err)
	}
	if records == nil {
		records = map[string]Record{}
	}
	return &Set{Options: o, store: s, records: records, seen: map[string]time.Time{}}, nil
}

// Use names who has the tokens. Call it before anything but Admitted.
func (s *Set) Use(tokens Tokens) { s.tokens = tokens }

// Admitted returns the clients that get a token, by name.
func (s *Set) Admitted() map[string]registry.Class {
	s.mu.Lock()
	defer s.mu.Unlock()
	admitted := map[string]registry.Class{}
	for name, r := range s.records {
		if !r.Ended {
			admitted[name] = r.Ceiling
		}
	}
	return admitted
}

// Elicits tells whether a registered client asks its own person about calls that have to be confirmed.
func (s *Set) Elicits(name string) bool {
	r, there := s.record(name)
	return there && !r.Ended && r.Elicits
}

// Known returns every name that a token file may have, ended clients included.
func (s *Set) Known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.records))
}

// Saw notes that a client has called.
func (s *Set) Saw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, registered := s.records[name]; registered {
		s.seen[name] = time.Now()
	}
}

// Status is how one client stands.
type Status struct {
	Client clients.Client
	// Registered: it has, or gets, a token.
	Registered bool
	Ceiling    registry.Class
	// Elicits: its own person is asked through it.
	Elicits bool
	// File is its configuration; empty where there is none that we edit.
	File  string
	State clients.State
	// Needs is what the person has not said yes to yet, and without which it cannot connect.
	Needs string
	// Trouble says why its configuration cannot be read.
	Trouble string
	// Seen is when it last called, since the app started.
	Seen time.Time
}

// List returns every client that there is, the registered ones of the person's own last.
func (s *Set) List() []Status {
	var list []Status
	known := map[string]bool{}
	for _, c := range clients.All() {
		known[c.Name] = true
		list = append(list, s.status(c))
	}
	for _, name := range s.Known() {
		if !known[name] {
			list = append(list, s.status(clients.Another(name)))
		}
	}
	return list
}

// Find returns how the client of that name stands. One that is neither known nor registered is a refusal.
func (s *Set) Find(name string) (Status, error) {
	c, err := s.client(name)
	if err != nil {
		return Status{}, err
	}
	return s.status(c), nil
}

func (s *Set) client(name string) (clients.Client, error) {
	if c, ok := clients.Find(name); ok {
		return c, nil
	}
	if _, ok := s.record(name); ok {
		return clients.Another(name), nil
	}
	return clients.Client{}, refusal.New(refusal.NotFound, "no such client", "see: termic client list; or register another one with --other")
}

func (s *Set) record(name string) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[name]
	return r, ok
}

func (s *Set) status(c clients.Client) Status {
	r, there := s.record(c.Name)
	s.mu.Lock()
	out := Status{Client: c, Registered: there && !r.Ended, Ceiling: r.Ceiling, Elicits: r.Elicits, Seen: s.seen[c.Name], State: clients.Manual, File: s.fileOf(c, r)}
	s.mu.Unlock()
	if c.Format == clients.NoFile {
		return out
	}
	out.State = clients.Absent
	if out.File == "" {
		out.Trouble = "no home directory is known"
		return out
	}
	p, err := s.look(c, r)
	if err != nil {
		out.State, out.Trouble = "", explain(c.Name, err).Error()
		return out
	}
	out.State = p.state
	if lacks, err := c.Lacks(p.from.Data); err == nil && out.Registered {
		out.Needs = lacks
	}
	return out
}

// fileOf returns the configuration that the entry was written into, else the one that it would be.
func (s *Set) fileOf(c clients.Client, r Record) string {
	if r.Written != nil {
		return r.Written.File
	}
	return c.FileIn(clients.EnvOf(s.Environ, s.Mac), func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// target returns what an entry for the client points to when the endpoint is at url.
func (s *Set) target(name, url string) clients.Target {
	return clients.Target{Client: name, URL: url, Program: s.Program, DataDir: s.store.Dir(), Reads: s.Reads}
}

// Instructions returns how to tell a client by hand, and how its entry differs from what would be written.
func (s *Set) Instructions(name string) (text, difference string, err error) {
	c, err := s.client(name)
	if err != nil {
		return "", "", err
	}
	r, _ := s.record(name)
	url := s.tokens.URL()
	if url == "" {
		url = "http://127.0.0.1:PORT/mcp"
	}
	configuration := s.fileOf(c, r)
	if configuration == "" {
		configuration = "its configuration"
	}
	tokenFile := filepath.Join(s.store.Dir(), filepath.FromSlash(TokenFile(name)))
	if text, err = c.Instructions(s.target(name, url), configuration, tokenFile); err != nil {
		return "", "", err
	}
	if c.Format == clients.NoFile || s.fileOf(c, r) == "" {
		return text, "", nil
	}
	p, err := s.look(c, r)
	if err != nil {
		return text, "", nil // List says why
	}
	if p.state != clients.Absent && p.state != clients.Current {
		difference = p.difference
	}
	return text, difference, nil
}

// TokenFile is the name of a client's token in the data directory.
func TokenFile(name string) string { return "clients/" + name + ".token" }

var anotherName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// reserved are names that the audit log has for callers that are no clients.
var reserved = []string{"window", "cli", "mcp", "task", "client", "other"}

// choose returns the client to register: one that we know, or with other one of the person's own.
func (s *Set) choose(name string, other bool) (clients.Client, error) {
	c, known := clients.Find(name)
	switch {
	case known && other:
		return c, refusal.New(refusal.Conflict, "termic knows a client of that name", "leave --other out, or choose another name")
	case known:
		return c, nil
	case !other:
		return s.client(name)
	case !anotherName.MatchString(name) || slices.Contains(reserved, name):
		return c, refusal.New(refusal.BadInput, "that cannot be a client's name", "use up to 32 lower-case letters, digits and hyphens, the first a letter, and none of: window, cli, mcp, task, client, other")
	}
	return clients.Another(name), nil
}

// Connect returns the address at which the app holds a token for the client, and the proof of that token. A client that is not registered, an
// endpoint that does not serve, and a url (where one is given) that is not exactly the one held, are refusals.
func (s *Set) Connect(name, url string) (address, proof string, err error) {
	r, ok := s.record(name)
	serving, why := s.tokens.State()
	switch {
	case !ok || r.Ended:
		return "", "", refusal.New(refusal.NotPermitted, "no client of that name is registered", "termic client add NAME")
	case serving == "" && why == "":
		return "", "", refusal.New(refusal.Unavailable, "the endpoint is switched off", "termic settings set mcp.enabled true")
	case serving == "":
		return "", "", refusal.New(refusal.Unavailable, "the endpoint does not serve: "+why, "see: termic doctor")
	case url != "" && url != serving:
		return "", "", refusal.New(refusal.NotPermitted, "the app does not hold that address", "if its port has changed: termic client refresh")
	}
	if proof = s.tokens.Proof(name); proof == "" {
		return "", "", refusal.New(refusal.Unavailable, "the client has no token yet", "try again")
	}
	return serving, proof, nil
}

// save keeps a record, or with nil forgets the name.
func (s *Set) save(name string, r *Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(s.records)
	if r == nil {
		delete(next, name)
		delete(s.seen, name)
	} else {
		next[name] = *r
	}
	if err := file.Save(s.store, next); err != nil {
		return fmt.Errorf("save registrations: %w", err)
	}
	s.records = next
	return nil
}

// errIs is errors.Is with several targets.
func errIs(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// explain returns an error of a client's configuration as a refusal.
func explain(client string, err error) error {
	if no, ok := refusal.From(err); ok {
		return no
	}
	if place, ok := placeOf(err); ok {
		return refusal.New(refusal.Conflict, "the client's configuration cannot be edited: "+place, "put that right, or follow: termic client show "+client).Because(err)
	}
	switch {
	case errIs(err, clients.ErrChanged):
		return refusal.New(refusal.Conflict, "another program changed the client's configuration meanwhile; nothing was written", "try again").Because(err)
	case errIs(err, clients.ErrLocked):
		return refusal.New(refusal.Busy, "the client is writing its configuration", "try again").Because(err)
	case errIs(err, clients.ErrUnsafe):
		return refusal.New(refusal.Conflict, "the client's configuration is not a plain file of yours with one name, that can be replaced", "follow: termic client show "+client).Because(err)
	case errIs(err, syscall.ELOOP):
		return refusal.New(refusal.Conflict, "the client's configuration is a link that leads to itself", "put that right, or follow: termic client show "+client).Because(err)
	case errIs(err, fs.ErrPermission):
		return refusal.New(refusal.Conflict, "the client's configuration may not be read or written", "look at its permissions, or follow: termic client show "+client).Because(err)
	}
	return err
}
