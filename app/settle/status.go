package settle

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of OSC 7501 ("Program Status Protocol",
// https://gist.github.com/mitchellh/7acae3abd8355c1c00287d67e96c913a).
const (
	maxStatus   = 4096 // bytes of a whole report
	maxMessage  = 2048 // bytes of msg, decoded
	maxID       = 64   // bytes of a record's id; claude's have 17
	maxChildren = 256  // records with an id kept at once
)

// report is one parsed OSC 7501 report.
type report struct {
	state   string // idle working blocked done error clear
	app     string
	id      string // empty for the root record
	kind    string // permission, question, or empty
	message string
}

// parseStatus reads what follows "7501;". It returns false for a query, for anything malformed and for unknown
// states: such a report is ignored whole. Unknown keys are skipped, as the protocol asks.
func parseStatus(payload string) (report, bool) {
	if payload == "" || len(payload) > maxStatus || payload[0] == '?' {
		return report{}, false
	}
	var r report
	seen := map[string]bool{}
	for field := range strings.SplitSeq(payload, ":") {
		key, value, ok := strings.Cut(field, "=")
		if !ok || key == "" || seen[key] {
			return report{}, false
		}
		seen[key] = true
		if !r.set(key, value) {
			return report{}, false
		}
	}
	switch r.state {
	case "idle", "working", "blocked", "done", "error", "clear":
		return r, true
	}
	return report{}, false
}

func (r *report) set(key, value string) bool {
	switch key {
	case "state":
		r.state = value
	case "app":
		r.app = value
	case "id":
		r.id = value
		return value != "" && len(value) <= maxID
	case "kind":
		if value == "permission" || value == "question" {
			r.kind = value
		}
	case "progress":
		_, err := strconv.ParseFloat(value, 64)
		return err == nil
	case "msg":
		b, err := base64.StdEncoding.DecodeString(value)
		if err != nil || len(b) > maxMessage {
			return false
		}
		r.message = oneLine(string(b), 200)
	}
	return true
}

// claim maps the report's state. An error ends the turn: the agent is back at its prompt.
func (r report) claim() State {
	switch r.state {
	case "working":
		return Working
	case "blocked":
		return Waiting
	case "idle", "done", "error":
		return Idle
	}
	return Unknown
}

// oneLine returns at most limit runes of s with everything that is not printable dropped, since it is the
// agent's text on its way to a screen of ours.
func oneLine(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			continue
		}
		if n++; n > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
