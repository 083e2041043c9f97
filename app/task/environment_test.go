package task

import (
	"net"
	"slices"
	"strings"
	"testing"

	"termic/app/store"
	"termic/registry/ident"
	"termic/sandbox/capability"
)

// everybody gives each task a token.
type everybody struct{ Credentials }

func (everybody) Task(Record, capability.Set, net.Listener) (url, token string, ok bool) {
	return "http://127.0.0.1:1/mcp", "termic_full", true
}

// A full token is in an environment only where nobody else reads that.
func TestWhereAFullTokenIsInTheEnvironment(t *testing.T) {
	kept, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	s := &Tasks{Tools: Tools{Store: kept, Credentials: everybody{}, CLI: "/bin/termic", Environ: func() []string { return []string{"HOME=/home/u", "TERMIC_MCP_TOKEN=old"} }}}
	record := Record{ID: ident.Task("t-1"), Name: "fix", Mode: capability.Off}
	for system, want := range map[string]bool{"linux": true, "darwin": false} {
		env, url := s.environmentOn(system, record)
		got := slices.ContainsFunc(env, func(e string) bool { return strings.Contains(e, "termic_full") })
		if got != want || (url != "") != want {
			t.Errorf("%s: token %v, address %q", system, got, url)
		}
		for _, name := range []string{"HOME=/home/u", "TERMIC_CLI=/bin/termic", "TERMIC_DATA_DIR=" + kept.Dir()} {
			if !slices.Contains(env, name) {
				t.Errorf("%s: no %s in %q", system, name, env)
			}
		}
		if slices.Contains(env, "TERMIC_MCP_TOKEN=old") {
			t.Errorf("%s: the app's own variable is passed on", system)
		}
	}
}
