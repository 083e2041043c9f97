package cagetest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"termic/sandbox/capability"
)

// Require ends the test on a machine that has no cages. That it can have none is not left to the code under test to
// say: where unshare(1) makes the same namespaces, a refusal is a failure, and only where that fails too is the test
// skipped, with what both say.
func Require(t testing.TB) {
	t.Helper()
	Bin(t)
	refused := programs.support.Check(capability.Enforce)
	if refused == nil {
		return
	}
	unshare := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--cgroup", "--pid", "--fork",
		"--mount-proc", "true")
	words, err := unshare.CombinedOutput()
	if err == nil {
		t.Fatalf("unshare makes the namespaces of a cage here, and no cage starts: %v", refused)
	}
	Tally(t, "nothing tried: %v", refused)
	t.Skipf("needs cages: %v; unshare: %v: %s", refused, err, strings.TrimSpace(string(words)))
}

// Tally notes a count that `make test` prints although the test passes: build/summary.mjs looks for its first word.
func Tally(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Log("tally: " + fmt.Sprintf(format, args...))
}
