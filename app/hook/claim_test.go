package hook

import (
	"encoding/base64"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"termic/app/settle"
)

const nonce = "0123456789abcdef0123456789abcdef"

// payload is what the tab's filter would hand on.
func payload(t *testing.T, command []byte) []byte {
	t.Helper()
	text, ok := strings.CutPrefix(string(command), "\x1b]"+Number+";")
	text, end := strings.CutSuffix(text, "\x1b\\")
	if !ok || !end {
		t.Fatalf("%q is no command", command)
	}
	return []byte(text)
}

func TestClaimComesThrough(t *testing.T) {
	two := 2
	want := Claim{V: 1, Agent: "claude", Event: "Stop", Session: "s", Turn: "t", Background: &two, Transcript: "/home/x/ü.jsonl", Nanos: 5}
	command, err := want.Encode(nonce)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(payload(t, command), nonce)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Background != 2 || got.Event != "Stop" || got.Transcript != want.Transcript {
		t.Errorf("%+v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	good := encode(`{"v":1,"agent":"claude","event":"Stop"}`)
	for name, row := range map[string]struct {
		payload, nonce string
		want           error // nil: it is taken
	}{
		"twin: a claim with the tab's nonce": {nonce + ";" + good, nonce, nil},
		"another nonce":                      {strings.Repeat("0", 32) + ";" + good, nonce, ErrNonce},
		"no nonce":                           {good, nonce, ErrNonce},
		"a tab that has none":                {";" + good, "", ErrNonce},
		"a nonce that begins alike":          {nonce[:31] + ";" + good, nonce, ErrNonce},
		"no base64":                          {nonce + ";====", nonce, ErrClaim},
		"no JSON":                            {nonce + ";" + encode("Stop"), nonce, ErrClaim},
		"another version":                    {nonce + ";" + encode(`{"v":2,"event":"Stop"}`), nonce, ErrClaim},
		"no event":                           {nonce + ";" + encode(`{"v":1}`), nonce, ErrClaim},
		"a negative number":                  {nonce + ";" + encode(`{"v":1,"event":"Stop","bg":-1}`), nonce, ErrClaim},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(row.payload), row.nonce); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
}

func TestTextsOfAClaimAreCleanedAndBounded(t *testing.T) {
	c := Claim{Event: "Stop", Session: "a\x1b[2Jb", Tool: strings.Repeat("x", maxWord+1), Turn: strings.Repeat("x", maxWord), Transcript: "/a\nb"}
	command, err := c.Encode(nonce)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(payload(t, command), nonce)
	if err != nil || got.Session != "" || got.Tool != "" || got.Transcript != "" || len(got.Turn) != maxWord {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestACountOfAClaimNeverOverflows: a number near the largest and one sub-agent more would be less than none, and the agent done.
func TestACountOfAClaimNeverOverflows(t *testing.T) {
	most := math.MaxInt
	command, err := Claim{Agent: "claude", Event: "Stop", Background: &most}.Encode(nonce)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := Parse(payload(t, command), nonce)
	if err != nil {
		t.Fatal(err)
	}
	var tracker Tracker
	for _, c := range []Claim{stop, {Event: "SubagentStart", Child: "a"}} {
		for _, o := range tracker.Take(c) {
			if o.Kind == settle.KindBackground && (o.Count < 1 || o.Count > maxBackground+maxChildren) {
				t.Errorf("%s: %d run in the background", c.Event, o.Count)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(nonce + ";eyJ2IjoxLCJldmVudCI6IlN0b3AifQ"))
	f.Add([]byte(";"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := Parse(in, nonce)
		if err != nil {
			return
		}
		if !strings.HasPrefix(string(in), nonce+";") {
			t.Fatalf("%q was taken", in)
		}
		for _, text := range []string{c.Agent, c.Event, c.Session, c.Turn, c.Tool, c.Kind, c.Child, c.Transcript, c.Digest} {
			if len(text) > maxPath || strings.ContainsAny(text, "\x1b\n\a") {
				t.Fatalf("%q", text)
			}
		}
	})
}

func TestWhatAgentsSay(t *testing.T) {
	sha := func(text string) string { s, _ := Digest(text); return s }
	for name, row := range map[string]struct {
		in   string
		want Claim // Event empty: nothing is claimed
	}{
		"a prompt is a digest and no text": {`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt_id":"p","prompt":" fix it\n"}`,
			Claim{Event: "UserPromptSubmit", Session: "s", Turn: "p", Digest: sha("fix it"), Length: 6}},
		"a long paste is unwrapped": {`{"hook_event_name":"UserPromptSubmit","prompt":"\n\n<pasted_content id=\"1\">\nfix\nit\n</pasted_content id=\"1\">\n"}`,
			Claim{Event: "UserPromptSubmit", Digest: sha("fix\nit"), Length: 6}},
		"gemini's prompt": {`{"hook_event_name":"BeforeAgent","prompt":"a"}`, Claim{Event: "BeforeAgent", Digest: sha("a"), Length: 1}},
		"a prompt in another event is not one that was taken": {`{"hook_event_name":"Stop","prompt":"a"}`, Claim{Event: "Stop"}},
		"a sub-agent":      {`{"hook_event_name":"PreToolUse","agent_id":"a1","tool_name":"Bash","tool_input":{"command":"secret"}}`, Claim{Event: "PreToolUse", Child: "a1", Tool: "Bash"}},
		"a source":         {`{"hook_event_name":"SessionStart","source":"resume","transcript_path":"/x"}`, Claim{Event: "SessionStart", Kind: "resume", Transcript: "/x"}},
		"not JSON":         {`hello`, Claim{}},
		"without an event": {`{"session_id":"s"}`, Claim{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := claimOf("", []byte(row.in))
			if ok != (row.want.Event != "") || got != row.want {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
	got, _ := claimOf("claude", []byte(`{"hook_event_name":"Stop","background_tasks":[{"status":"running"},{"status":"completed"},7]}`))
	if got.Background == nil || *got.Background != 2 {
		t.Errorf("background %v", got.Background)
	}
}

func TestReportWritesToTheTerminalOrNotAtAll(t *testing.T) {
	file := t.TempDir() + "/no-terminal"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(nonce string) func(string) string {
		return func(name string) string { return map[string]string{EnvNonce: nonce, EnvTTY: file}[name] }
	}
	Report("claude", strings.NewReader(`{"hook_event_name":"Stop"}`), env(nonce))
	if data, err := os.ReadFile(file); err != nil || len(data) != 0 {
		t.Errorf("a file that is no terminal was written: %q, %v", data, err)
	}
}

func TestTracker(t *testing.T) {
	one, zero := 1, 0
	var tracker Tracker
	for i, row := range []struct {
		c    Claim
		want []string
	}{
		{Claim{Event: "SessionStart", Kind: "startup", Session: "s", Transcript: "/t"}, []string{"idle", "0"}},
		{Claim{Event: "UserPromptSubmit", Digest: "d", Length: 3}, []string{"working"}},
		{Claim{Event: "SubagentStart", Child: "a"}, []string{"1"}},
		{Claim{Event: "PreToolUse", Child: "a", Session: "of the child"}, nil},
		{Claim{Event: "Stop", Background: &one}, []string{"idle", "1"}},
		{Claim{Event: "SubagentStop", Child: "a"}, []string{"1"}},
		{Claim{Event: "Stop", Background: &zero}, []string{"idle", "0"}},
		{Claim{Event: "PermissionRequest", Tool: "Bash"}, []string{"waiting permission"}},
		{Claim{Event: "PermissionRequest", Tool: "AskUserQuestion"}, []string{"waiting question"}},
		{Claim{Event: "PreToolUse", Tool: "request_user_input"}, []string{"waiting question"}},
		{Claim{Event: "Notification", Kind: "idle_prompt"}, nil},
		{Claim{Event: "SessionStart", Kind: "compact"}, []string{"0"}},
	} {
		var got []string
		for _, o := range tracker.Take(row.c) {
			switch o.Kind {
			case settle.KindHook:
				got = append(got, strings.TrimSpace(o.State.String()+" "+o.Text))
			case settle.KindBackground:
				got = append(got, string(rune('0'+o.Count)))
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("claim %d, %s: %q, want %q", i, row.c.Event, got, row.want)
		}
	}
	if id, transcript := tracker.Session(); id != "s" || transcript != "/t" {
		t.Errorf("session %q at %q", id, transcript)
	}
	if p := tracker.Prompt(); p != (Prompt{1, "d", 3}) {
		t.Errorf("prompt %+v", p)
	}
}
