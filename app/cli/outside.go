package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"termic/app/agentsmd"
	"termic/app/bridge"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/render"
)

// flagText returns what a builtin's flag was given.
func flagText(cmd *cobra.Command, name string) string {
	return *cmd.Flags().Lookup(name).Value.(*common).text
}

// outside returns the client that a builtin's flags name.
func (s *session) outside(cmd *cobra.Command, words []string) (bridge.Client, error) {
	if err := noWords(cmd, words); err != nil {
		return bridge.Client{}, err
	}
	name := flagText(cmd, "client")
	if name == "" {
		return bridge.Client{}, &usageError{command: cmd, reason: "missing --client NAME"}
	}
	dir, err := s.place()
	return bridge.Client{Name: name, DataDir: dir}, err
}

// headers prints the headers of a client's connection. Whoever runs it shows its standard error in a log, so what
// is wrong is one line, also for a command line that says nothing.
func (s *session) headers(cmd *cobra.Command, words []string) error {
	line, err := s.headersLine(cmd, words)
	if err == nil {
		return s.write(string(line))
	}
	no := refusal.Of(err)
	var usage *usageError
	if errors.As(err, &usage) {
		no = usage.refusal()
	}
	text := no.Reason
	if no.Remedy != "" {
		text += "; " + no.Remedy
	}
	fmt.Fprintf(s.err, "termic: %s\n", visible(text, false))
	return &outcome{no.Code.Exit()}
}

func (s *session) headersLine(cmd *cobra.Command, words []string) ([]byte, error) {
	client, err := s.outside(cmd, words)
	if err != nil {
		return nil, err
	}
	url := flagText(cmd, "url")
	if url == "" {
		return nil, &usageError{command: cmd, reason: "missing --url URL"}
	}
	// Claude Code tells its helper where it connects to (seen in 2.1.332).
	return client.Headers(cmd.Context(), url, os.Getenv("CLAUDE_CODE_MCP_SERVER_URL"))
}

// stdio is the bridge. Standard output has messages only.
func (s *session) stdio(cmd *cobra.Command, words []string) error {
	client, err := s.outside(cmd, words)
	if err != nil {
		return err
	}
	b := &bridge.Bridge{Client: client, Version: s.env.Version, Instructions: registry.Instructions}
	return b.Serve(cmd.Context(), s.env.Stdin, s.out)
}

// agentsText prints, or keeps in a file, the text that teaches agents. A task's tab without the path of this program
// is in a cage (its environment says so; the cage is enforced elsewhere).
func (s *session) agentsText(cmd *cobra.Command, words []string) error {
	if err := noWords(cmd, words); err != nil {
		return err
	}
	caged := os.Getenv("TERMIC_TASK_ID") != "" && os.Getenv("TERMIC_CLI") == ""
	text, err := render.ForAgents(s.verbs, caged)
	if err != nil {
		return err
	}
	install := flagText(cmd, "install")
	remove := flagText(cmd, "remove")
	switch {
	case install != "" && remove != "":
		return &usageError{command: cmd, reason: "both --install and --remove", hint: "give one of them"}
	case install == "" && remove == "":
		if s.json {
			return s.object(map[string]string{"text": text})
		}
		_, err := io.WriteString(s.out, text)
		return err
	}
	return s.changeAgentsFile(install, remove, text)
}

// object prints what a command that is no verb has to say as one JSON document.
func (s *session) object(members any) error {
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return s.document(raw)
}

func (s *session) changeAgentsFile(install, remove, text string) error {
	file, err := s.absolute(install + remove)
	if err != nil {
		return err
	}
	var diff, backup string
	if install != "" {
		diff, backup, err = agentsmd.Install(file, text, time.Now())
	} else {
		diff, backup, err = agentsmd.Remove(file, time.Now())
	}
	if errors.Is(err, agentsmd.ErrMarks) {
		return refusal.New(refusal.Conflict, "the marks of termic in the file are not one pair", "repair or remove them")
	}
	if err != nil {
		return refusal.New(refusal.Conflict, err.Error(), "")
	}
	if s.json {
		return s.object(map[string]string{"file": file, "diff": diff, "backup": backup})
	}
	if diff == "" {
		s.note("it was so already")
		return nil
	}
	if backup != "" {
		s.note("what it was before is in %s", backup)
	}
	return s.raw(diff, false)
}
