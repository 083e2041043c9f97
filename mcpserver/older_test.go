package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestRefusedOlderClientsAreRememberedWithinABound(t *testing.T) {
	var o olderClients
	note := func(info, revision string) { o.note(json.RawMessage(info), revision) }
	note(`{"name":"a","version":"1"}`, "2025-06-18")
	note(`{"name":"b","version":"2"}`, "2025-06-18")
	note(`{"name":"a","version":"1"}`, "2025-06-18") // once more, so the latest
	note(`{"name":"a\u001b[2J\u0007\nx"}`, strings.Repeat("9", 1000))
	note(`"a"`, "")
	want := []OlderClient{
		{Name: "b 2", Revision: "2025-06-18"}, {Name: "a 1", Revision: "2025-06-18"},
		{Name: "a[2Jx", Revision: strings.Repeat("9", maxShown)}, {Name: "a client without a name"},
	}
	if len(o.seen) != len(want) {
		t.Fatalf("remembered %+v", o.seen)
	}
	for i, got := range o.seen {
		if got.Name != want[i].Name || got.Revision != want[i].Revision || got.Last.IsZero() {
			t.Errorf("number %d is %+v, want %+v", i, got, want[i])
		}
	}
	for i := range 2 * maxOlder {
		note(fmt.Sprintf(`{"name":"n%d"}`, i), "")
	}
	if len(o.seen) != maxOlder || o.seen[maxOlder-1].Name != fmt.Sprintf("n%d", 2*maxOlder-1) {
		t.Errorf("remembered %+v, want the last %d", o.seen, maxOlder)
	}
}

func TestOnlyABareInitializeIsRemembered(t *testing.T) {
	f := newFixture(t, Limits{})
	bare := f.echo(fullToken).without("Mcp-Name").without("Mcp-Method").without("MCP-Protocol-Version")
	bare.body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"a","version":"1"}}}`
	f.raw(bare.with("Mcp-Method: initialize").String())
	f.raw(bare.set("Authorization: Bearer wrong").String())
	f.raw(f.echo(fullToken).String())
	if seen := f.endpoint.Server.RefusedOlder(); len(seen) != 0 {
		t.Errorf("remembered %+v", seen)
	}
	f.raw(bare.String()) // the twin
	if seen := f.endpoint.Server.RefusedOlder(); len(seen) != 1 || seen[0].Name != "a 1" {
		t.Errorf("remembered %+v", seen)
	}
}
