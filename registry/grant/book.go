// Package grant keeps what tokens stand for and decides what their holders may do.
package grant

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termic/registry"
	"termic/registry/ident"
	"termic/sandbox/capability"
)

// Channel is where a token is valid. The zero value is nowhere.
type Channel uint8

const (
	ChannelNone Channel = iota
	// HostPort is the endpoint's listener on the host.
	HostPort
	// OwnCage is the listener inside the grant's own task's cage, and no other.
	OwnCage
)

func (c Channel) String() string {
	switch c {
	case HostPort:
		return "host port"
	case OwnCage:
		return "own cage"
	}
	return "none"
}

// Grant is what a token stands for. The zero value reaches nothing.
type Grant struct {
	ID ident.Grant
	// Task is the task whose agents hold the token; empty for an outside client.
	Task ident.Task
	// Projects are those that a scoped grant may act on. A full grant is not limited by it.
	Projects []ident.Project
	Scope    registry.Scope
	// Limit is the task's effective capability when the token was minted.
	Limit capability.Set
	// Ceiling is the highest class of verb that the holder may call.
	Ceiling registry.Class
	Channel Channel
	// Parents are the tasks from which Task descends, the nearest first. Fixed at creation.
	Parents []ident.Task
	// Name is what the audit log and the window show.
	Name string
}

// tokenPrefix makes a token recognisable wherever it turns up, so that it can be taken out again.
const tokenPrefix = "termic_"

// tokenBytes is 256 bits.
const tokenBytes = 32

var tokenPattern = regexp.MustCompile(tokenPrefix + `[A-Za-z0-9_-]{43}`)

// NewToken returns a fresh token: 256 random bits in text that needs no quoting anywhere.
func NewToken() string {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails since Go 1.24 (crypto/rand documentation)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

type digest [sha256.Size]byte

// Book keeps the live grants. It keeps digests of tokens, never tokens, so that nothing in the app's memory
// dumps or mistakes can show one.
type Book struct {
	mu      sync.RWMutex
	grants  map[digest]*entry
	byID    map[ident.Grant]*entry
	secrets map[digest]bool
	// sum and same are what Caller works with: SHA-256, and a comparison in constant time. Tests count them.
	sum  func([]byte) [sha256.Size]byte
	same func(x, y []byte) int
}

type entry struct {
	grant  Grant
	digest digest
	ended  chan struct{}
	issued time.Time
	used   atomic.Int64 // when a call last came with its token, in nanoseconds of the Unix epoch; 0: never
}

// NewBook returns an empty book.
func NewBook() *Book {
	return &Book{
		grants: map[digest]*entry{}, byID: map[ident.Grant]*entry{}, secrets: map[digest]bool{},
		sum: sha256.Sum256, same: subtle.ConstantTimeCompare,
	}
}

// Issue mints a token for g under a new id, and returns both. The token is not kept.
func (b *Book) Issue(g Grant) (token string, id ident.Grant) {
	token = NewToken()
	g.ID = ident.NewGrant()
	g.Projects = slices.Clone(g.Projects)
	g.Parents = slices.Clone(g.Parents)
	e := &entry{grant: g, digest: sha256.Sum256([]byte(token)), ended: make(chan struct{}), issued: time.Now()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grants[e.digest], b.byID[g.ID] = e, e
	return token, g.ID
}

// Caller returns the caller behind a token that came in over channel. An absent, malformed, unknown or
// revoked token, and one that is not valid on the channel, all get the same answer after the same work: one
// digest, one look-up, one comparison.
func (b *Book) Caller(channel Channel, token string) (registry.Caller, bool) {
	sum := digest(b.sum([]byte(token)))
	b.mu.RLock()
	e := b.grants[sum]
	b.mu.RUnlock()
	if e == nil {
		e = &nobody
	}
	same := b.same(sum[:], e.digest[:]) == 1
	if !same || channel == ChannelNone || e.grant.Channel != channel || e.grant.Scope == registry.ScopeNone {
		return registry.Caller{}, false
	}
	e.used.Store(time.Now().UnixNano())
	return registry.Caller{
		Way: registry.MCP, Scope: e.grant.Scope, Ceiling: e.grant.Ceiling,
		Grant: e.grant.ID, Task: e.grant.Task, Name: e.grant.Name,
	}, true
}

// nobody stands in for a token that is not in the book. No text has its digest.
var nobody entry

// Get returns a live grant and the channel that is closed when it ends, or its ceiling is lowered.
func (b *Book) Get(id ident.Grant) (Grant, <-chan struct{}, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if e := b.byID[id]; e != nil {
		return e.grant, e.ended, true
	}
	return Grant{}, nil, false
}

// Live is a grant that is valid now.
type Live struct {
	Grant
	Issued time.Time
	// Used is when a call last came with its token; zero when none did.
	Used time.Time
}

// List returns the live grants, oldest first.
func (b *Book) List() []Live {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := make([]Live, 0, len(b.grants))
	for _, e := range b.grants {
		l := Live{Grant: e.grant, Issued: e.issued}
		if at := e.used.Load(); at != 0 {
			l.Used = time.Unix(0, at)
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(x, y Live) int { return cmp.Or(x.Issued.Compare(y.Issued), cmp.Compare(x.ID, y.ID)) })
	return list
}

// Revoke ends every grant that matches, at once: its token is unknown from now on and its calls end.
// It returns how many ended.
func (b *Book) Revoke(match func(Grant) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for sum, e := range b.grants {
		if match(e.grant) {
			delete(b.grants, sum)
			delete(b.byID, e.grant.ID)
			close(e.ended)
			n++
		}
	}
	return n
}

// Cap sets the ceiling of every grant that matches, and returns how many did. Their tokens stay. Where the ceiling is lower
// than it was, what is under way ends as if the grant had: it began under more than its caller holds now.
func (b *Book) Cap(match func(Grant) bool, ceiling registry.Class) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for sum, e := range b.grants {
		if !match(e.grant) {
			continue
		}
		next := &entry{grant: e.grant, digest: e.digest, ended: e.ended, issued: e.issued} // Caller may be reading e
		next.grant.Ceiling = ceiling
		next.used.Store(e.used.Load())
		b.grants[sum], b.byID[e.grant.ID] = next, next
		if ceiling < e.grant.Ceiling {
			next.ended = make(chan struct{})
			close(e.ended)
		}
		n++
	}
	return n
}

// Keep makes Redact take out a secret that is no grant's token, such as the CLI's.
func (b *Book) Keep(secret string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets[sha256.Sum256([]byte(secret))] = true
}

// Redacted stands where a token was.
const Redacted = "termic_[redacted]"

// Blank returns text without anything of the form of a token, live or not: for what is kept on disk, where it may outlive the tokens
// of today and be read by nobody knows whom.
func Blank(text string) string { return tokenPattern.ReplaceAllString(text, Redacted) }

// Redact returns text with every live token replaced (I12). Other text that merely looks like one stays.
func (b *Book) Redact(text []byte) []byte {
	if !bytes.Contains(text, []byte(tokenPrefix)) || !tokenPattern.Match(text) { // the first look costs nothing, and almost always ends it
		return text
	}
	return tokenPattern.ReplaceAllFunc(text, func(found []byte) []byte {
		sum := digest(sha256.Sum256(found))
		b.mu.RLock()
		defer b.mu.RUnlock()
		if b.grants[sum] == nil && !b.secrets[sum] {
			return found
		}
		return []byte(Redacted)
	})
}
