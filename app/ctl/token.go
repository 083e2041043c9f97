package ctl

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

const bearer = "Bearer "

// newToken returns 256 random bits in hex.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails since Go 1.24 (crypto/rand documentation)
	return hex.EncodeToString(b[:])
}

// carries tells whether a request has exactly one Authorization header and that is the token. Digests are
// compared, so that neither length nor common prefix shows in the time.
func carries(r *http.Request, token string) bool {
	values := r.Header["Authorization"]
	if len(values) != 1 || token == "" {
		return false
	}
	given, ok := strings.CutPrefix(values[0], bearer)
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok
}
