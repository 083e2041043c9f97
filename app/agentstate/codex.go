package agentstate

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// codex is OpenAI Codex. Facts: 0.171.0, tried 2026-11-29. It wants refresh_token to be a string, and takes an empty
// one; on a 401 it reads the login again and goes on if it is new by then.
var codex = &layout{
	program: "codex",
	places:  whole,
	env:     func(at paths) map[string]string { return map[string]string{"CODEX_HOME": at.at} },
	seeds: func(in seedInput) []seed {
		config := "check_for_update_on_startup = false\ncli_auth_credentials_store = \"file\"\n\n[analytics]\nenabled = false\n\n" +
			"[projects." + strconv.Quote(in.checkout) + "]\ntrust_level = \"trusted\"\n"
		return []seed{{name: "config.toml", content: config}, {name: "AGENTS.md"}}
	},
	links: map[string]string{"auth.json": "auth.json"},
	keep:  []string{"sessions"},
	login: login{
		file:  func(p person) string { return filepath.Join(p.dir("CODEX_HOME", ".codex"), "auth.json") },
		copy:  codexLogin,
		early: 10 * time.Minute,
		renew: renewal{args: []string{"app-server"}, talk: codexTalk},
	},
}

// codexAsks makes codex app-server renew the login: newline-delimited JSON-RPC without its version field.
const codexAsks = `{"method":"initialize","id":0,"params":{"clientInfo":{"name":"termic","title":"termic","version":"1"}}}
{"method":"initialized"}
{"method":"account/read","id":1,"params":{"refreshToken":true}}
`

// codexTalk asks, and waits for the answer. The server ends with its input, whatever it is doing.
func codexTalk(stdin io.Writer, stdout io.Reader) error {
	if _, err := io.WriteString(stdin, codexAsks); err != nil {
		return err
	}
	lines := json.NewDecoder(stdout)
	for {
		var answer struct {
			ID    *int64          `json:"id"`
			Error json.RawMessage `json:"error"`
		}
		if err := lines.Decode(&answer); err != nil {
			return fmt.Errorf("codex app-server: %w", err)
		}
		switch {
		case answer.ID == nil || *answer.ID != 1:
		case answer.Error != nil:
			return errors.New("codex app-server answers account/read with an error")
		default:
			return nil
		}
	}
}

// codexRenews is after how long codex renews a login whatever its end.
const codexRenews = 8 * 24 * time.Hour

func codexLogin(_ person, data []byte) (copied, error) {
	type tokens struct {
		ID      json.RawMessage `json:"id_token,omitempty"`
		Access  string          `json:"access_token"`
		Refresh string          `json:"refresh_token"`
		Account *string         `json:"account_id,omitempty"`
	}
	var in struct {
		Mode   *string `json:"auth_mode,omitempty"`
		Key    *string `json:"OPENAI_API_KEY"`
		Tokens *tokens `json:"tokens,omitempty"`
		Last   *string `json:"last_refresh,omitempty"` // RFC 3339
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return copied{}, fmt.Errorf("login of Codex: %w", err)
	}
	switch {
	case in.Tokens != nil && in.Tokens.Access != "":
		in.Key, in.Tokens.Refresh = nil, ""
	case in.Key != nil && *in.Key != "":
		in.Tokens, in.Last = nil, nil
		return copied{files: map[string]string{"auth.json": encode(in)}, notes: []string{"Codex logs in with an API key, which does not expire: every program of the cage can read it"}}, nil
	default:
		return copied{}, nil
	}
	out := copied{files: map[string]string{"auth.json": encode(in)}, expires: jwtEnd(in.Tokens.Access)}
	if in.Last != nil {
		if last, err := time.Parse(time.RFC3339Nano, *in.Last); err == nil {
			out.expires = earlier(out.expires, last.Add(codexRenews))
		}
	}
	return out, nil
}

// jwtEnd returns when a JSON Web Token ends (RFC 7519, section 4.1.4), or zero when it does not say.
func jwtEnd(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		End float64 `json:"exp"` // seconds
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.End <= 0 || claims.End > 1e12 {
		return time.Time{}
	}
	return time.Unix(int64(claims.End), 0)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
