package ctl

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

const bearer = "Bearer "

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
