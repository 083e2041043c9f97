// Package hook carries what an agent's own hooks report over the agent's terminal: `termic hook AGENT` writes a claim, and the tab
// that reads the terminal takes it out of the stream. No port, no socket, no file and no credential is involved.
//
// A claim is the word of whatever writes to the terminal. The nonce keeps out text that comes from files and from the network, not
// the agent and what it runs, which inherit it. So a claim may move the state that is shown and say that a prompt was taken; it opens
// no guard, and a path in it is a hint that is opened beneath a directory that we chose.
package hook

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Number is that of the private OSC. It is in no public list of those in use (looked up 2026-11-29).
const Number = "7717"

// MaxCommand bounds a whole command, its frame included, in bytes: what one write to a terminal hands over in one piece
// (N_TTY_BUF_SIZE, linux/tty.h).
const MaxCommand = 4096

// The variables with which a tab tells the hooks of its agent where to report.
const (
	EnvNonce = "TERMIC_NONCE" // of the tab: it is no credential, and vouches for nothing
	EnvTTY   = "TERMIC_TTY"   // path of the terminal's device; not set in a cage, where it is found
)

// version is that of the claim's form.
const version = 1

// Claim is one report. Texts are cleaned and bounded by Parse.
type Claim struct {
	V     int    `json:"v"`
	Agent string `json:"agent"` // claude, codex, gemini, opencode: whose hooks
	Event string `json:"event"` // the agent's own word for it
	// Session is the agent's id of the session, Turn of the turn.
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	// Digest and Length are those of a prompt that was taken (Digest).
	Digest string `json:"prompt_sha,omitempty"`
	Length int    `json:"prompt_len,omitempty"`
	// Tool is the tool that is about to run, or asked about; Kind tells notifications and sources apart.
	Tool string `json:"tool,omitempty"`
	Kind string `json:"kind,omitempty"`
	// Child is the sub-agent that reports; empty when the agent itself does.
	Child string `json:"agent_id,omitempty"`
	// Background is how many background commands and sub-agents run on, where the event tells it.
	Background *int `json:"bg,omitempty"`
	// Transcript is where the agent says that it keeps the session.
	Transcript string `json:"transcript,omitempty"`
	// Nanos is when the hook ran, Unix, ns: for measuring only.
	Nanos int64 `json:"ns,omitempty"`
}

// What Parse tells apart.
var (
	ErrNonce = errors.New("another tab's nonce, or none")
	ErrClaim = errors.New("no claim")
)

// Encode returns the claim as a command for a terminal.
func (c Claim) Encode(nonce string) ([]byte, error) {
	c.V = version
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode claim: %w", err)
	}
	out := "\x1b]" + Number + ";" + nonce + ";" + base64.RawURLEncoding.EncodeToString(data) + "\x1b\\"
	if len(out) > MaxCommand {
		return nil, fmt.Errorf("encode claim: %d bytes, at most %d", len(out), MaxCommand)
	}
	return []byte(out), nil
}

// Parse reads what is between `ESC ] 7717 ;` and the end. The error wraps ErrNonce or ErrClaim.
func Parse(payload []byte, nonce string) (Claim, error) {
	given, data, ok := strings.Cut(string(payload), ";")
	if nonce == "" || !ok || subtle.ConstantTimeCompare([]byte(given), []byte(nonce)) != 1 {
		return Claim{}, ErrNonce
	}
	raw, err := base64.RawURLEncoding.DecodeString(data)
	if err != nil {
		return Claim{}, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	var c Claim
	if err := json.Unmarshal(raw, &c); err != nil {
		return Claim{}, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	if c.V != version || c.Event == "" || c.Length < 0 || c.Background != nil && *c.Background < 0 {
		return Claim{}, ErrClaim
	}
	c.bound()
	return c, nil
}

// Bounds of a claim's texts, in bytes; together they fit a command.
const (
	maxWord = 128  // ids, names of events and tools; claude's ids have 36
	maxPath = 1024 // a transcript's path has some 150
	// maxBackground is the highest number of background tasks that is counted. More are as many: only 0 says something else. Sums of
	// it and of sub-agents do not overflow.
	maxBackground = 1 << 16
)

func (c *Claim) bound() {
	for _, word := range []*string{&c.Agent, &c.Event, &c.Session, &c.Turn, &c.Digest, &c.Tool, &c.Kind, &c.Child} {
		*word = printable(*word, maxWord)
	}
	c.Transcript = printable(c.Transcript, maxPath)
	if c.Background != nil && *c.Background > maxBackground {
		most := maxBackground
		c.Background = &most
	}
}

// printable returns text of at most limit bytes without control characters; a longer one, or one with such, is dropped whole: cut off
// it would name something else.
func printable(text string, limit int) string {
	if len(text) > limit || strings.ContainsFunc(text, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return ""
	}
	return text
}

// Digest returns what stands for a prompt in a claim: SHA-256 and length in bytes of the text without the blanks around it, which
// agents drop.
func Digest(prompt string) (sha string, length int) {
	prompt = strings.TrimSpace(prompt)
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:]), len(prompt)
}
