package agentstate

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	access  = "ACCESS-marker-5f2c"
	refresh = "REFRESH-marker-9d1e"
)

// jwt is a token that ends at a time (RFC 7519), unsigned.
func jwt(end time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":` + strconv.FormatInt(end.Unix(), 10) + `}`))
	return "e30." + claims + ".c2ln"
}

// TestLogins: of each agent's login file the copy has what a request needs, and nothing that renews it or logs in
// elsewhere.
func TestLogins(t *testing.T) {
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	ms, day := strconv.FormatInt(end.UnixMilli(), 10), strconv.Quote(end.Add(-codexRenews).UTC().Format(time.RFC3339Nano))
	tests := []struct {
		name, layout, file string
		have, lack         []string // in all files of the copy
		serves             bool
		expires            time.Time
		hosts              []string
		note               string
	}{
		{"claude: the login, and not the tokens of MCP servers", "claude",
			`{"claudeAiOauth":{"accessToken":"` + access + `","refreshToken":"` + refresh + `","expiresAt":` + ms + `,"scopes":["user:inference"],"subscriptionType":"max","other":"UNKNOWN"},"mcpOAuth":{"x":{"accessToken":"MCP-TOKEN"}}}`,
			[]string{access, `"refreshToken": ""`, `"user:inference"`, `"max"`}, []string{"MCP-TOKEN", "UNKNOWN"}, true, end, nil, ""},
		{"claude: no login in the file", "claude", `{"mcpOAuth":{}}`, nil, nil, false, time.Time{}, nil, ""},
		{"codex: a person's login", "codex",
			`{"OPENAI_API_KEY":"sk-KEY","tokens":{"id_token":"id","access_token":"` + jwt(end) + `","refresh_token":"` + refresh + `","account_id":"acc"},"last_refresh":"` + time.Now().UTC().Format(time.RFC3339) + `","agent":"UNKNOWN"}`,
			[]string{jwt(end), `"refresh_token": ""`, `"acc"`, `"last_refresh"`}, []string{"sk-KEY", "UNKNOWN"}, true, end, nil, ""},
		{"codex: renews after eight days, whatever the token says", "codex",
			`{"tokens":{"access_token":"` + jwt(end.Add(1000*time.Hour)) + `","refresh_token":"` + refresh + `"},"last_refresh":` + day + `}`,
			nil, nil, true, end, nil, ""},
		{"codex: a key", "codex", `{"OPENAI_API_KEY":"sk-KEY"}`, []string{"sk-KEY"}, []string{"tokens"}, true, time.Time{}, nil, "does not expire"},
		{"gemini: without what renews", "gemini",
			`{"access_token":"` + access + `","refresh_token":"` + refresh + `","scope":"s","token_type":"Bearer","id_token":"id","expiry_date":` + ms + `}`,
			[]string{access, "Bearer"}, []string{"refresh"}, true, end, nil, ""},
		{"opencode: the only provider", "opencode",
			`{"anthropic":{"type":"oauth","refresh":"` + refresh + `","access":"` + access + `","expires":` + ms + `}}`,
			[]string{access, `"refresh": ""`}, nil, true, end, []string{"api.anthropic.com"}, ""},
		{"opencode: a key of a provider that is not known", "opencode", `{"acme":{"type":"api","key":"acme-KEY"}}`, []string{"acme-KEY"}, nil, true, time.Time{}, nil, "provider acme"},
		{"opencode: several, none chosen", "opencode", `{"acme":{"type":"api","key":"a"},"groq":{"type":"api","key":"b"}}`, nil, nil, false, time.Time{}, nil, "choose one"},
		{"opencode: a login whose only secret is what renews it", "opencode", `{"github-copilot":{"type":"oauth","refresh":"` + refresh + `","access":"","expires":0}}`,
			nil, nil, false, time.Time{}, nil, "log in with an API key"},
		{"opencode: empty", "opencode", `{}`, nil, nil, false, time.Time{}, nil, ""},
		{"an end that is over", "gemini", `{"access_token":"` + access + `","expiry_date":1}`, nil, nil, false, time.UnixMilli(1), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := homeOf(t)
			l := layouts[tt.layout].login
			put1(t, l.file(p), tt.file)
			c, err := l.of(p)
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, content := range c.files {
				all += content
				if !json.Valid([]byte(content)) {
					t.Errorf("not JSON: %s", content)
				}
			}
			for _, want := range tt.have {
				if !strings.Contains(all, want) {
					t.Errorf("the copy lacks %q:\n%s", want, all)
				}
			}
			for _, secret := range append(tt.lack, refresh) {
				if strings.Contains(all, secret) {
					t.Errorf("the copy has %q:\n%s", secret, all)
				}
			}
			if c.serves() != tt.serves || !c.expires.Equal(tt.expires) || !slices.Equal(c.hosts, tt.hosts) {
				t.Errorf("serves %v, expires %v, hosts %v", c.serves(), c.expires, c.hosts)
			}
			if notes := strings.Join(c.notes, "\n"); tt.note == "" != (notes == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}

// TestLeak: a file in which what renews the login stands where the access token should is refused, not copied. Its twin
// is the same file with another token there.
func TestLeak(t *testing.T) {
	for name, layout := range map[string]string{
		`{"claudeAiOauth":{"accessToken":"%","refreshToken":"` + refresh + `"}}`:                             "claude",
		`{"tokens":{"access_token":"%","account_id":"x","nested":{"refresh":["` + refresh + `"]}}}`:          "codex",
		`{"access_token":"x%x","refresh_token":"` + refresh + `"}`:                                           "gemini",
		`{"a":{"type":"oauth","access":"%","refreshes":{"deep":"` + refresh + `"},"refresh":"other-token"}}`: "opencode",
	} {
		p := homeOf(t)
		l := layouts[layout].login
		put1(t, l.file(p), strings.ReplaceAll(name, "%", refresh))
		if c, err := l.of(p); !errors.Is(err, errLeak) {
			t.Errorf("%s: %v, %v", layout, c.files, err)
		}
		put1(t, l.file(p), strings.ReplaceAll(name, "%", access))
		if c, err := l.of(p); err != nil || len(c.files) == 0 {
			t.Errorf("%s, the twin: %v, %v", layout, c.files, err)
		}
	}
}

// TestOddLogins: what is no login file is an error or none, and never waits.
func TestOddLogins(t *testing.T) {
	for name, l := range layouts {
		p := homeOf(t)
		if c, err := l.login.of(p); err != nil || c.serves() {
			t.Errorf("%s, none: %v, %v", name, c, err)
		}
		for _, content := range []string{"", "nonsense", "[]", "{", `"x"`} {
			put1(t, l.login.file(p), content)
			if c, err := l.login.of(p); err == nil || c.serves() {
				t.Errorf("%s, %q: %v, %v", name, content, c, err)
			}
		}
		put1(t, l.login.file(p), `{"x":"`+strings.Repeat("x", maxLogin)+`"}`)
		if c, err := l.login.of(p); err == nil || c.serves() {
			t.Errorf("%s, too large: %v", name, err)
		}
		if err := os.Remove(l.login.file(p)); err != nil {
			t.Fatal(err)
		}
		fifo(t, l.login.file(p))
		if c, err := l.login.of(p); err == nil || c.serves() {
			t.Errorf("%s, a pipe: %v", name, err)
		}
	}
}

// TestProviderInUse: of several logins of opencode the copy has that of the configured model, else of the last.
func TestProviderInUse(t *testing.T) {
	logins := `{"anthropic":{"type":"api","key":"key-a"},"groq":{"type":"api","key":"key-g"},"xai":{"type":"api","key":"key-x"}}`
	tests := []struct {
		name, config, models, want string
	}{
		{"the configured model", `{ // mine
			"model": "groq/llama", }`, `{"recent":[{"providerID":"xai","modelID":"x"}]}`, "key-g"},
		{"the last one, when the configured one has no login", `{"model":"nobody/x"}`, `{"recent":[{"providerID":"xai","modelID":"x"}]}`, "key-x"},
		{"the last one", ``, `{"recent":[{"providerID":"anthropic","modelID":"x"}]}`, "key-a"},
		{"none", ``, `{"recent":[]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := homeOf(t)
			put1(t, opencode.login.file(p), logins)
			put1(t, filepath.Join(p.home, ".config/opencode/opencode.jsonc"), tt.config)
			put1(t, filepath.Join(p.home, ".local/state/opencode/model.json"), tt.models)
			c, err := opencode.login.of(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(c.files["auth.json"], "key-"); tt.want == "" && got != 0 || tt.want != "" && (got != 1 || !strings.Contains(c.files["auth.json"], tt.want)) {
				t.Errorf("copy %q, want %q", c.files["auth.json"], tt.want)
			}
		})
	}
}

func homeOf(t *testing.T, environ ...string) person {
	t.Helper()
	p, err := newPerson(append([]string{"HOME=" + t.TempDir()}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func put1(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}
