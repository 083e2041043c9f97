package registry

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"termic/registry/refusal"
)

// TestRemediesNameWhatTheCallerHas: tools and their arguments over MCP, commands and flags at the command line and in the window.
func TestRemediesNameWhatTheCallerHas(t *testing.T) {
	diff := testVerb("thing_diff", Read)
	diff.CLI.Path = "diff"
	list := testVerb("thing_list", Read)
	list.CLI.Path, list.Scope, list.Audience = "thing list", Full, ForCLI|ForFull
	attach := testVerb("thing_attach", Read)
	attach.CLI.Path, attach.Scope, attach.Audience = "attach", Full, ForCLI
	var remedy string
	shown, listed, attached := Define[echoIn, echoOut](diff), Define[echoIn, echoOut](list), Define[echoIn, echoOut](attach)
	r := NewRouter(allow, &memorySink{}, slog.New(slog.DiscardHandler), shown.Verb(), listed.Verb(), attached.Verb())
	Bind(r, shown, func(context.Context, Call, echoIn) (echoOut, error) {
		return echoOut{}, refusal.New(refusal.Conflict, "no", remedy)
	})
	full := Caller{Way: MCP, Scope: Full, Ceiling: Destructive, Grant: "g-full"}
	scoped := Caller{Way: MCP, Scope: Scoped, Ceiling: Destructive, Grant: "g-scoped"}
	for _, row := range []struct{ cli, full, scoped string }{
		{"look (termic diff), then add --key WORD", "look (thing_diff), then add key WORD", "look (thing_diff), then add key WORD"},
		{"see: termic thing list", "see: thing_list", "see: ask the person (termic thing list)"},
		{"termic thing list NAME; or termic diff fix", "thing_list NAME; or thing_diff fix", "ask the person (termic thing list NAME); or thing_diff fix"},
		{"answer it: termic attach fix", "answer it: ask the person (termic attach fix)", "answer it: ask the person (termic attach fix)"},
		{"start termic again", "start termic again", "start termic again"},
		{"git config --global --add safe.directory DIR", "git config --global --add safe.directory DIR", "git config --global --add safe.directory DIR"},
		{"take another name", "take another name", "take another name"},
		{"", "", ""},
	} {
		remedy = row.cli
		for caller, want := range map[*Caller]string{&person: row.cli, &full: row.full, &scoped: row.scoped} {
			_, err := r.Dispatch(t.Context(), *caller, "thing_diff", json.RawMessage(`{"text":"hi"}`))
			if no, ok := refusal.From(err); !ok || no.Remedy != want || no.Request == "" {
				t.Errorf("%s %s: %q becomes %v, want %q", caller.Way, caller.Scope, row.cli, err, want)
			}
		}
	}
}
