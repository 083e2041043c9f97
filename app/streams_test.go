package app

import (
	"io"
	"os"
	"strings"
	"testing"

	"termic/app/agent"
	"termic/app/ctl"
	"termic/app/pty"
	"termic/app/tab"
	"termic/registry/ident"
)

// attached runs a script in a tab and returns a stream of it, as `termic attach` gets one.
func attached(t *testing.T, script string) ctl.Stream {
	t.Helper()
	s, ticket := ticketOf(t, script)
	stream, err := s.Open(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	return stream
}

// ticketOf runs a script in a tab and returns a ticket for its stream.
func ticketOf(t *testing.T, script string) (s *streams, ticket string) {
	t.Helper()
	opened, err := tab.Open(tab.Spec{
		ID: ident.NewTab(), Name: "test", Agent: agent.Definition{ID: "test", Command: []string{"sh"}}.Normalize(),
		Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(),
		Size: pty.Size{Cols: 80, Rows: 24}, Scrollback: 100,
	}, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	s = newStreams()
	return s, s.Ticket(opened)
}

// The page asks the person about a text for the clipboard, so it gets to see one; what writes files it does not.
func TestThePageSeesWhatItHasToAskAbout(t *testing.T) {
	s, ticket := ticketOf(t, `stty -echo; read x; printf 'one \033]52;c;ZXZpbA==\007two \033]1337;File=:ZXZpbA==\007three'`)
	stream, err := guiStreams{s}.Open(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := io.WriteString(stream, "\r"); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(stream)
	if text := string(out); err != nil || !strings.Contains(text, "one \x1b]52;c;ZXZpbA==\atwo ") || strings.Contains(text, "1337") || !strings.Contains(text, "three") {
		t.Errorf("%q, %v", text, err)
	}
}

// A task must not write the person's clipboard, nor have it typed into itself (daintreehq/daintree#3703).
func TestNoTaskReachesTheClipboardOfWhoAttaches(t *testing.T) {
	stream := attached(t, `stty -echo; read x; printf 'one \033]52;c;ZXZpbA==\007two \033]52;c;?\033'; read x; printf '\\three \033]1337;Copy=:ZXZpbA==\007four \033]0;title\007end'`)
	for range 2 {
		if _, err := io.WriteString(stream, "\r"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for _, bad := range []string{"]52", "]1337", "ZXZpbA"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q reaches the terminal: %q", bad, text)
		}
	}
	// The twin: what is harmless arrives.
	for _, good := range []string{"one", "two", "three", "four", "\x1b]0;title\a", "end"} {
		if !strings.Contains(text, good) {
			t.Errorf("%q does not arrive: %q", good, text)
		}
	}
}
