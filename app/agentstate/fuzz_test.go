package agentstate

import (
	"encoding/json"
	"testing"
)

// FuzzLogins: whatever a login file holds, its copy is JSON, has none of the strings that stand under a name with
// "refresh" in it, and copies to itself: there is nothing more to take out.
func FuzzLogins(f *testing.F) {
	for _, seed := range []string{
		`{"claudeAiOauth":{"accessToken":"access-token","refreshToken":"refresh-token","expiresAt":1,"scopes":["a"]}}`,
		`{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"e30.eyJleHAiOjF9.x","refresh_token":"refresh-token","account_id":"a"},"last_refresh":"2026-11-29T00:00:00Z"}`,
		`{"OPENAI_API_KEY":"sk-key"}`, `{"access_token":"access-token","refresh_token":"refresh-token","expiry_date":1}`,
		`{"anthropic":{"type":"oauth","refresh":"refresh-token","access":"access-token","expires":1}}`, `{"x":{"type":"api","key":"k"}}`, `{}`, `[]`, ``,
	} {
		f.Add(seed)
	}
	p := person{home: "/nonexistent", real: "/nonexistent", env: map[string]string{}}
	f.Fuzz(func(t *testing.T, data string) {
		for name, l := range layouts {
			c, err := l.login.taken(p, []byte(data))
			if err != nil && len(c.files) > 0 {
				t.Fatalf("%s: a copy and an error: %v", name, err)
			}
			for file, content := range c.files {
				if !json.Valid([]byte(content)) {
					t.Fatalf("%s: %s is not JSON:\n%s", name, file, content)
				}
				for _, secret := range renewing([]byte(data)) {
					if holds(content, secret) {
						t.Fatalf("%s: %s has %q", name, file, secret)
					}
				}
				again, err := l.login.taken(p, []byte(content))
				if err != nil || again.files[file] != content {
					t.Fatalf("%s: %s copies to %q, %v", name, file, again.files[file], err)
				}
			}
		}
	})
}
