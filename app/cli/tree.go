package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"termic/registry/render"
)

func init() {
	// Help lists commands in the order of the registry.
	cobra.EnableCommandSorting = false
}

// root returns the whole command line.
func (s *session) root() *cobra.Command {
	root := s.group("termic", "")
	root.Long = "termic runs many coding agents side by side, each in its own task."
	root.Version = s.env.Version
	root.SetVersionTemplate("termic {{.Version}}\n")
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SilenceErrors, root.SilenceUsage, root.DisableSuggestions = true, true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{command: cmd, reason: err.Error()}
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = s.write(helpText(cmd)) })
	flags := root.PersistentFlags()
	flags.SortFlags = false
	for _, flag := range render.CommonFlags() {
		if flag.Value == "" {
			flags.Bool(flag.Name, false, flag.Doc) // read by asksJSON
		} else {
			flags.Var(&common{&s.dataDir, flag.Value}, flag.Name, flag.Doc)
		}
	}
	for _, form := range s.forms {
		if form.Verb.CLI.Path != "" {
			s.add(root, form)
		}
	}
	s.addBuiltins(root)
	return root
}

// common is the value of a flag of every command.
type common struct {
	text *string
	name string
}

func (c *common) Set(text string) error { *c.text = text; return nil }
func (c *common) String() string        { return "" }
func (c *common) Type() string          { return c.name }

// add puts a verb's command where its path says, with the groups on the way.
func (s *session) add(root *cobra.Command, form *render.Form) {
	words := strings.Fields(form.Verb.CLI.Path)
	parent := root
	for _, word := range words[:len(words)-1] {
		next := child(parent, word)
		if next == nil {
			next = s.group(word, "")
			parent.AddCommand(next)
		}
		parent = next
	}
	name := words[len(words)-1]
	parent.AddCommand(s.command(form, name))
	if parent.HasParent() && parent.Use == parent.Name() { // a group: what it says of itself is what it has
		parent.Short = strings.TrimPrefix(parent.Short+", "+name, ", ")
	}
}

func child(parent *cobra.Command, name string) *cobra.Command {
	for _, cmd := range parent.Commands() {
		if cmd.Name() == name {
			return cmd
		}
	}
	return nil
}

// group returns a command that only has others: alone it prints its help, with a word that is none of them it
// is refused.
func (s *session) group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
}

func unknownCommand(cmd *cobra.Command, word string) error {
	no := &usageError{command: cmd, reason: fmt.Sprintf("no command %q", cmd.CommandPath()+" "+word)}
	for distance := 1; distance <= 2 && no.hint == ""; distance++ {
		cmd.SuggestionsMinimumDistance = distance
		if like := cmd.SuggestionsFor(word); len(like) > 0 {
			no.hint = "did you mean: " + cmd.CommandPath() + " " + like[0]
		}
	}
	return no
}

// command returns the command of a verb.
func (s *session) command(form *render.Form, name string) *cobra.Command {
	flags := map[string]*given{}
	cmd := &cobra.Command{
		Use:                   strings.TrimPrefix(form.Usage(), strings.TrimSuffix(form.Verb.CLI.Path, name)),
		Short:                 form.Verb.Summary,
		Long:                  describe(form),
		Example:               "termic " + form.Verb.CLI.Example,
		DisableFlagsInUseLine: true,
		Args:                  func(cmd *cobra.Command, words []string) error { return checkCount(cmd, form, words) },
		RunE: func(cmd *cobra.Command, words []string) error {
			arguments, err := s.collectArguments(cmd, form, words, flags)
			if err != nil {
				return err
			}
			return s.perform(cmd, form, arguments, flags)
		},
		ValidArgsFunction: func(cmd *cobra.Command, words []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if positional := form.Positional(); len(words) < len(positional) {
				return s.complete(cmd, positional[len(words)], prefix)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().SortFlags = false
	for _, a := range form.Flags() {
		flags[a.Name] = addFlag(cmd.Flags(), a, form.Describe(a))
		s.completeFlag(cmd, a)
	}
	for _, flag := range form.OwnFlags() {
		a := render.Argument{Name: flag.Name, Flag: flag.Name, Kind: render.Boolean, Offered: true}
		if flag.Value != "" {
			a.Kind, a.Duration = render.Integer, true
		}
		flags[ownFlag+flag.Name] = addFlag(cmd.Flags(), a, flag.Doc)
	}
	return cmd
}

// ownFlag keeps a command's own flags apart from arguments of the same name.
const ownFlag = "own: "

func addFlag(set *pflag.FlagSet, a render.Argument, doc string) *given {
	g := &given{argument: a}
	flag := set.VarPF(g, a.Flag, a.Short, doc)
	if a.Kind == render.Boolean {
		flag.NoOptDefVal = "true"
	}
	return g
}

// checkCount refuses too few and too many words, and names the first that is missing.
func checkCount(cmd *cobra.Command, form *render.Form, words []string) error {
	positional := form.Positional()
	for i, a := range positional {
		if a.Required && i >= len(words) {
			return &usageError{command: cmd, reason: "missing " + render.Placeholder(a)}
		}
	}
	rest := len(positional) > 0 && positional[len(positional)-1].Rest
	if len(words) <= len(positional) || rest {
		return nil
	}
	extra := words[len(positional)]
	if cmd.HasSubCommands() {
		return unknownCommand(cmd, words[0])
	}
	return &usageError{command: cmd, reason: fmt.Sprintf("unexpected argument %q", extra)}
}
