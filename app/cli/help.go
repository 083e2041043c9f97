package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"termic/registry/render"
)

// helpCols is the width of help, in cells: that of the narrowest usual terminal.
const helpCols = 80

// describe returns what help says of a verb before its flags: the description, its positional arguments, and
// the exit statuses of its outcomes.
func describe(form *render.Form) string {
	text := form.Verb.Doc + "\n"
	positional := form.Positional()
	width := 0
	for _, a := range positional {
		width = max(width, len(render.Placeholder(a)))
	}
	if len(positional) > 0 {
		text += "\nArguments:\n"
	}
	for _, a := range positional {
		head := fmt.Sprintf("  %-*s   ", width, render.Placeholder(a))
		text += hang(head, form.Describe(a))
	}
	waits := form
	if form.Then != nil {
		waits = form.Then
	}
	exits := waits.Verb.CLI.Exits
	if len(exits) == 0 {
		return text
	}
	if text += "\nExit status by outcome"; waits != form {
		text += ", with --wait"
	}
	text += ":\n"
	for _, outcome := range slices.Sorted(maps.Keys(exits)) {
		text += fmt.Sprintf("  %-3d %s\n", exits[outcome], outcome)
	}
	return text
}

// hang returns head and text, wrapped, with further lines under the text's first.
func hang(head, text string) string {
	room := max(helpCols-len(head), 20)
	return head + strings.Join(wrap(text, room), "\n"+strings.Repeat(" ", len(head))) + "\n"
}

// helpText returns a command's help. It leaves the flag --help out, which whoever reads this has found.
func helpText(cmd *cobra.Command) string {
	var b strings.Builder
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true
	if cmd.Long != "" {
		first, rest, _ := strings.Cut(cmd.Long, "\n")
		b.WriteString(strings.Join(wrap(first, helpCols), "\n") + "\n" + rest + "\n")
	}
	fmt.Fprintf(&b, "Usage:\n")
	if !cmd.HasSubCommands() || cmd.Use != cmd.Name() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExample:\n  %s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	if cmd.HasAvailableLocalFlags() && cmd.HasParent() {
		b.WriteString("\nFlags:\n" + cmd.LocalFlags().FlagUsagesWrapped(helpCols))
	}
	common := cmd.InheritedFlags()
	if !cmd.HasParent() {
		common = cmd.PersistentFlags()
	}
	b.WriteString("\nFlags of every command:\n" + common.FlagUsagesWrapped(helpCols))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	return b.String()
}

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	width := 0
	for _, sub := range cmd.Commands() {
		width = max(width, len(sub.Name()))
	}
	for i, sub := range cmd.Commands() {
		if i == 0 {
			b.WriteString("\nCommands:\n")
		}
		if !sub.Hidden {
			b.WriteString(hang(fmt.Sprintf("  %-*s   ", width, sub.Name()), sub.Short))
		}
	}
}
