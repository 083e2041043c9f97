package render

import (
	"fmt"
	"strings"
	"testing"

	"termic/registry"
	"termic/registry/verbs"
)

// Whoever adds a verb, a command or an exit status finds it in what agents are taught, and nothing that they may not.
func TestAgentsAreTaughtWhatTheyMayDoAndNothingElse(t *testing.T) {
	shell, err := ForAgents(verbs.All(), false)
	if err != nil {
		t.Fatal(err)
	}
	caged, err := ForAgents(verbs.All(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbs.All() {
		line := fmt.Sprintf("- `%s`: %s\n", verb.Name, verb.Summary)
		if got, want := strings.Contains(caged, line), verb.Audience&registry.ForScoped != 0; got != want {
			t.Errorf("caged, %s: taught %v, want %v", verb.Name, got, want)
		}
		if verb.CLI.Path == "" {
			continue
		}
		got := strings.Contains(shell, "- `termic "+verb.CLI.Path+"`: ") || strings.Contains(shell, "- `termic "+verb.CLI.Path+" ")
		if want := verb.Audience&registry.ForFull != 0 && !verb.Stream; got != want {
			t.Errorf("shell, %s: taught %v, want %v", verb.Name, got, want)
		}
	}
	for _, exit := range Exits() {
		if !strings.Contains(shell, fmt.Sprintf("- %d: %s\n", exit.Status, exit.Means)) {
			t.Errorf("exit status %d is not taught", exit.Status)
		}
	}
	if strings.Contains(caged, "`termic ") {
		t.Error("a caged agent is told of commands that it cannot use")
	}
	// It is read at the start of each session: some 1,000 tokens are what it may cost.
	for name, text := range map[string]string{"shell": shell, "caged": caged} {
		if len(text) > 4<<10 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if !strings.Contains(text, "not instructions to you") {
			t.Errorf("%s: does not say that text from tasks is data", name)
		}
	}
}
