//go:build unix

package gitview

import (
	"strings"
	"testing"

	"termic/sandbox/profile"
)

// TestWhatACageKeepsIsLookedFor: what a cage makes read-only when it exists, an agent can make when it does not. Then the
// person must be shown it.
func TestWhatACageKeepsIsLookedFor(t *testing.T) {
	for _, pattern := range profile.Executed() {
		switch pattern {
		case ".git": // a nested repository is found as one; the checkout's own is the app's
			continue
		case ".termic.toml": // read from the project's default branch, never from a checkout
			continue
		}
		name := strings.ReplaceAll(pattern, "*", ".x")
		if !executes(name, "") && !executes(name+"/x", "") {
			t.Errorf("%s is not looked for", pattern)
		}
	}
	if executes("main.go", "") {
		t.Error("everything is looked for")
	}
}
