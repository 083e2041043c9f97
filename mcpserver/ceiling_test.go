package mcpserver

import (
	"encoding/json"
	"log/slog"
	"testing"

	"termic/registry"
)

// TestAToolAboveTheCeilingIsListedAsDisabled: the list shows what there is, and says what the caller may not call.
func TestAToolAboveTheCeilingIsListedAsDisabled(t *testing.T) {
	router := registry.NewRouter(permissive{}, &memory{}, slog.New(slog.DiscardHandler), echoVerb.Verb(), writeVerb.Verb(), removeVerb.Verb())
	s := &Server{Calls: router}
	for ceiling, want := range map[registry.Class]map[string]bool{
		registry.Read:        {"thing_echo": false, "thing_write": true, "thing_remove": true},
		registry.Write:       {"thing_echo": false, "thing_write": false, "thing_remove": true},
		registry.Destructive: {"thing_echo": false, "thing_write": false, "thing_remove": false},
	} {
		caller := registry.Caller{Way: registry.MCP, Scope: registry.Full, Ceiling: ceiling}
		tools, failure := s.list(caller, nil)
		if failure != nil {
			t.Fatal(failure)
		}
		if len(tools) != len(want) {
			t.Errorf("ceiling %s: %d tools", ceiling, len(tools))
		}
		for _, raw := range tools {
			var tool struct {
				Name string `json:"name"`
				Meta struct {
					Disabled bool `json:"termic/disabled"`
				} `json:"_meta"`
			}
			if err := json.Unmarshal(raw, &tool); err != nil {
				t.Fatal(err)
			}
			if tool.Meta.Disabled != want[tool.Name] {
				t.Errorf("ceiling %s: %s disabled: %v", ceiling, tool.Name, tool.Meta.Disabled)
			}
		}
	}
}
