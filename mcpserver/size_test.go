package mcpserver

import (
	"fmt"
	"os"
	"testing"

	"termic/registry"
	"termic/registry/verbs"
)

// TestTheSizeOfTheToolList records what the list of tools costs every session of a model that gets it, so
// that growth is a decision. After a change to the verbs: go test ./mcpserver -run Size -update.
func TestTheSizeOfTheToolList(t *testing.T) {
	const file = "testdata/tools-size.txt"
	server := &Server{Calls: registry.NewRouter(permissive{}, &memory{}, nil, verbs.All()...), Version: "1.0.0-test"}
	var got string
	for _, scope := range []registry.Scope{registry.Scoped, registry.Full} {
		caller := registry.Caller{Way: registry.MCP, Scope: scope, Ceiling: registry.Destructive}
		list, failure := server.serveMethod(t.Context(), nil, caller, request{method: methodList})
		if failure != nil {
			t.Fatal(failure)
		}
		if err := validate("ListToolsResult", string(list)); err != nil {
			t.Error(err)
		}
		got += fmt.Sprintf("%s: %d tools, %d bytes\n", scope, len(server.Calls.Verbs(caller)), len(list))
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
