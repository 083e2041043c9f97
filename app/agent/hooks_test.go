package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestCodexTrust pins the form whose digest codex 0.171.0 knows a hook by (tried 2026-11-29). A change of it would bring the
// review dialog back at every start.
func TestCodexTrust(t *testing.T) {
	const form = `{"event_name":"stop","hooks":[{"async":false,"command":"'/opt/<x>/termic' hook codex","timeout":3,"type":"command"}]}`
	if got, want := codexTrust("stop", HookCommand("/opt/<x>/termic", HooksCodex)), sum(form); got != want {
		t.Errorf("%s, want %s of %s", got, want, form)
	}
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}
