package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/render"
)

// addBuiltins adds the commands that are no verbs. What package render describes and what is here must be the
// same; a test compares them.
func (s *session) addBuiltins(root *cobra.Command) {
	run := map[string]func(cmd *cobra.Command, words []string) error{
		"serve": s.serve, "version": s.version, "completion": s.completion, "help": s.help,
		"mcp-headers": s.headers, "mcp-stdio": s.stdio, "agents-md": s.agentsText,
	}
	for _, builtin := range render.Builtins() {
		cmd := &cobra.Command{
			Use: builtin.Usage, Short: builtin.Summary, Long: builtin.Doc + "\n",
			DisableFlagsInUseLine: true, Args: cobra.ArbitraryArgs, RunE: run[builtin.Name],
			ValidArgsFunction: cobra.NoFileCompletions,
		}
		for _, flag := range builtin.Flags {
			cmd.Flags().Var(&common{new(string), flag.Value}, flag.Name, flag.Doc)
		}
		switch builtin.Name {
		case "completion":
			cmd.ValidArgs, cmd.ValidArgsFunction = shells, nil
			root.AddCommand(cmd)
		case "help":
			root.SetHelpCommand(cmd)
			root.AddCommand(cmd)
		default:
			root.AddCommand(cmd)
		}
	}
}

func noWords(cmd *cobra.Command, words []string) error {
	if len(words) > 0 {
		return &usageError{command: cmd, reason: fmt.Sprintf("unexpected argument %q", words[0])}
	}
	return nil
}

func (s *session) serve(cmd *cobra.Command, words []string) error {
	if err := noWords(cmd, words); err != nil {
		return err
	}
	if s.env.Serve == nil {
		return refusal.New(refusal.Unsupported, "this program cannot run the app", "")
	}
	dir, err := s.place()
	if err != nil {
		return err
	}
	return s.env.Serve(cmd.Context(), dir)
}

func (s *session) version(cmd *cobra.Command, words []string) error {
	if err := noWords(cmd, words); err != nil {
		return err
	}
	if !s.json {
		return s.write(fmt.Sprintf("termic %s (verbs %d)\n", s.env.Version, registry.Version))
	}
	return s.object(map[string]any{"version": s.env.Version, "verbs": registry.Version})
}

var shells = []string{"bash", "zsh", "fish"}

func (s *session) completion(cmd *cobra.Command, words []string) error {
	if len(words) != 1 {
		return &usageError{command: cmd, reason: "name one shell: " + strings.Join(shells, ", ")}
	}
	root := cmd.Root()
	switch words[0] {
	case "bash":
		return root.GenBashCompletionV2(s.out, true)
	case "zsh":
		return root.GenZshCompletion(s.out)
	case "fish":
		return root.GenFishCompletion(s.out, true)
	}
	return &usageError{command: cmd, reason: fmt.Sprintf("no completion for %q; there is %s", words[0], strings.Join(shells, ", "))}
}

// help explains the command that words name. With --json it is the whole command line's, whatever the words.
func (s *session) help(cmd *cobra.Command, words []string) error {
	if s.json {
		text, err := render.HelpJSON(s.verbs)
		if err != nil {
			return err
		}
		return s.write(string(text))
	}
	found := cmd.Root()
	for _, word := range words {
		next := child(found, word)
		if next == nil {
			return unknownCommand(found, word)
		}
		found = next
	}
	return found.Help()
}
