package registry

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"sync"
	"time"

	"termic/registry/ident"
)

const (
	// confirmFor is how long a question through a client may be answered (design: ten minutes).
	confirmFor = 10 * time.Minute
	// maxConfirms is how many questions of one grant are open, as with calls that wait: the oldest is given up for a new one, since
	// a client that drops a question never says so.
	maxConfirms = 3
	// nonceSize makes states unique: 128 random bits.
	nonceSize = 16
	stateSize = nonceSize + 8 + sha256.Size // with the time of its end, and the signature
)

type nonce [nonceSize]byte

// confirms makes and takes back the states of questions that go through a client. A state is signed over the caller's grant,
// the verb, the target and the arguments, ends after confirmFor, and counts once. The key is of this run of the app, so
// a restart forgets them all.
type confirms struct {
	key [sha256.Size]byte

	mu   sync.Mutex
	open map[nonce]openConfirm
}

type openConfirm struct {
	grant   ident.Grant
	expires time.Time
	// request is the call that was asked about.
	request ident.Request
}

func newConfirms() *confirms {
	c := &confirms{open: map[nonce]openConfirm{}}
	rand.Read(c.key[:]) // never fails since Go 1.24 (crypto/rand documentation)
	return c
}

// ask opens a question and returns its state.
func (c *confirms) ask(q Question) string {
	var n nonce
	rand.Read(n[:])
	now := time.Now()
	expires := now.Add(confirmFor)
	c.mu.Lock()
	c.makeRoom(q.Call.Caller.Grant, now)
	c.open[n] = openConfirm{q.Call.Caller.Grant, expires, q.Call.Request}
	c.mu.Unlock()
	state := binary.BigEndian.AppendUint64(n[:], uint64(expires.UnixNano()))
	return base64.RawURLEncoding.EncodeToString(append(state, c.sign(state, q)...))
}

// makeRoom forgets what is over, and the oldest question of a grant that has too many; c.mu is held.
func (c *confirms) makeRoom(grant ident.Grant, now time.Time) {
	same, oldest := 0, nonce{}
	for n, open := range c.open {
		switch {
		case now.After(open.expires):
			delete(c.open, n)
		case open.grant == grant:
			if same++; same == 1 || open.expires.Before(c.open[oldest].expires) {
				oldest = n
			}
		}
	}
	if same >= maxConfirms {
		delete(c.open, oldest)
	}
}

// Why a state is none, for the audit log: the caller is told one thing for all.
var (
	errForeignState = errors.New("the state is not of this call: altered, or for another caller, verb, target or arguments")
	errOldState     = errors.New("the state has expired")
	errUsedState    = errors.New("the state was used before, or given up for newer questions")
)

// take uses a state up and returns the call that was asked about. It counts only for the question that it was made for.
func (c *confirms) take(state string, q Question) (ident.Request, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(raw) != stateSize {
		return "", errForeignState
	}
	signed, signature := raw[:nonceSize+8], raw[nonceSize+8:]
	if !hmac.Equal(signature, c.sign(signed, q)) {
		return "", errForeignState
	}
	if time.Now().UnixNano() > int64(binary.BigEndian.Uint64(signed[nonceSize:])) {
		return "", errOldState
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := nonce(signed[:nonceSize])
	open, ok := c.open[n]
	if !ok {
		return "", errUsedState
	}
	delete(c.open, n)
	return open.request, nil
}

// sign returns the signature of a state for one question.
func (c *confirms) sign(state []byte, q Question) []byte {
	mac := hmac.New(sha256.New, c.key[:])
	s := q.Call.Subject
	for _, part := range []string{
		string(state), string(q.Call.Caller.Grant), q.Verb.Name, string(s.Project), string(s.Task), string(s.Tab), string(q.Arguments),
	} {
		field(mac, part)
	}
	return mac.Sum(nil)
}

// field adds a text with its length, so that no two lists of fields are the same bytes.
func field(mac hash.Hash, text string) {
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash takes everything (hash.Hash)
	mac.Write([]byte(text))
}
