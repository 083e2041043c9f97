package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"termic/registry"
	"termic/registry/refusal"
)

// Markdown returns the reference of all verbs, docs/verbs.md.
func Markdown(verbs []*registry.Verb) ([]byte, error) {
	forms, err := Forms(verbs)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Verbs\n\n<!-- Generated from registry/verbs. Change the verbs, then: %s -->\n\n", Regenerate)
	fmt.Fprintf(&b, "Everything that may be asked of termic, version %d of the contract. "+
		"The same verbs are behind the window, the command line and the MCP endpoint; `termic help --json` prints this page for programs.\n\n", registry.Version)
	writeOverview(&b, forms)
	for _, form := range forms {
		writeVerb(&b, form)
	}
	writeBuiltins(&b)
	writeCodes(&b)
	return []byte(b.String()), nil
}

// Regenerate is the command that writes everything rendered from the verbs.
const Regenerate = "go generate ./registry/..."

func writeOverview(b *strings.Builder, forms []*Form) {
	rows := [][]string{{"verb", "command", "class", "for", "what it does"}}
	for _, form := range forms {
		v := form.Verb
		command := ""
		if v.CLI.Path != "" {
			command = "`termic " + v.CLI.Path + "`"
		}
		rows = append(rows, []string{
			fmt.Sprintf("[`%s`](#%s)", v.Name, v.Name), command, v.Class.String(), strings.Join(v.Audience.Names(), ", "), v.Summary,
		})
	}
	writeTable(b, rows)
}

func writeVerb(b *strings.Builder, form *Form) {
	v := form.Verb
	fmt.Fprintf(b, "## %s\n\n%s\n\n", v.Name, v.Doc)
	if v.CLI.Path != "" {
		fmt.Fprintf(b, "```\ntermic %s\ntermic %s\n```\n\n", form.Usage(), v.CLI.Example)
	}
	fmt.Fprintf(b, "Class %s. For %s.%s\n\n", v.Class, strings.Join(v.Audience.Names(), ", "), traits(v))
	writeArguments(b, form)
	if len(form.Result) > 0 {
		b.WriteString("Result:\n\n")
		writeMembers(b, form.Result, "")
		b.WriteByte('\n')
	}
	if len(v.Refusals) > 0 {
		var codes []string
		for _, code := range v.Refusals {
			codes = append(codes, "`"+string(code)+"`")
		}
		fmt.Fprintf(b, "Refusals besides the [common ones](#refusals): %s.\n\n", strings.Join(codes, ", "))
	}
	if len(v.CLI.Exits) > 0 {
		var exits []string
		for _, outcome := range slices.Sorted(maps.Keys(v.CLI.Exits)) {
			exits = append(exits, fmt.Sprintf("%d for `%s`", v.CLI.Exits[outcome], outcome))
		}
		fmt.Fprintf(b, "Exit status by outcome: %s; else 0.\n\n", strings.Join(exits, ", "))
	}
}

// traits says what a verb's flags mean for a caller, as sentences with a leading space.
func traits(v *registry.Verb) string {
	s := ""
	for _, trait := range []struct {
		holds bool
		text  string
	}{
		{v.Idempotent, "Repeating it changes nothing more."},
		{v.OpenWorld, "It may reach things outside this machine, through an agent."},
		{v.Bounded, "It waits for a limited time; outcome `timeout` may be asked again."},
		{v.Always, "It takes power away, so it works without audit log and free disk."},
		{v.Undone, "When its caller goes away before it is done, it is undone."},
		{v.Stream, "Its result opens a stream on the same way in."},
	} {
		if trait.holds {
			s += " " + trait.text
		}
	}
	return s
}

func writeArguments(b *strings.Builder, form *Form) {
	if len(form.Arguments) == 0 && len(form.OwnFlags()) == 0 {
		return
	}
	rows := [][]string{{"argument", "kind", "command line", "what it is"}}
	for _, a := range form.Arguments {
		name := "`" + a.Name + "`"
		if a.Required {
			name += " (required)"
		}
		rows = append(rows, []string{name, kindText(a.Kind, a.Enum), offerText(a), form.docOf(a)})
	}
	for _, flag := range form.OwnFlags() {
		rows = append(rows, []string{"", "", "`" + strings.TrimSpace("--"+flag.Name+" "+flag.Value) + "`", flag.Doc})
	}
	writeTable(b, rows)
}

// docOf is the argument's description, and what the command line makes of it where that differs.
func (f *Form) docOf(a Argument) string {
	doc := a.Doc
	if f.Verb.Bounded && a.Duration {
		doc += ". On the command line: " + TimeoutDoc
	}
	if a.Stdin {
		doc += "; `-` on the command line reads standard input"
	}
	return doc
}

func offerText(a Argument) string {
	switch {
	case !a.Offered:
		return "not offered"
	case a.Rest:
		return "`" + Placeholder(a) + "...`"
	case a.Positional:
		return "`" + Placeholder(a) + "`"
	}
	text := "`--" + a.Flag
	if a.Kind != Boolean {
		text += " " + Placeholder(a)
	}
	text += "`"
	if a.Short != "" {
		text = "`-" + a.Short + "`, " + text
	}
	if a.Kind == Strings && !a.Split {
		text += ", repeatable"
	}
	return text
}

func kindText(kind Kind, enum []string) string {
	text := map[Kind]string{Strings: "list of strings", Objects: "list of objects"}[kind]
	if text == "" {
		text = string(kind)
	}
	if len(enum) > 0 {
		text += ": `" + strings.Join(enum, "`, `") + "`"
	}
	return text
}

func writeMembers(b *strings.Builder, members []Member, indent string) {
	for _, m := range members {
		name := "`" + m.Name + "`"
		if m.Optional {
			name += "?"
		}
		fmt.Fprintf(b, "%s- %s (%s): %s\n", indent, name, kindText(m.Kind, m.Enum), m.Doc)
		writeMembers(b, m.Members, indent+"  ")
	}
}

func writeBuiltins(b *strings.Builder) {
	b.WriteString("# Commands that are no verbs\n\n")
	rows := [][]string{{"command", "what it does"}}
	for _, builtin := range Builtins() {
		rows = append(rows, []string{"`termic " + builtin.Usage + "`", builtin.Doc})
	}
	writeTable(b, rows)
	b.WriteString("Flags of every command:\n\n")
	rows = [][]string{{"flag", "what it does"}}
	for _, flag := range CommonFlags() {
		rows = append(rows, []string{"`" + strings.TrimSpace("--"+flag.Name+" "+flag.Value) + "`", flag.Doc})
	}
	writeTable(b, rows)
}

func writeCodes(b *strings.Builder) {
	b.WriteString("# Refusals\n\nA refusal has a stable code, a reason, a remedy and a request id. Any verb may answer with those marked as common.\n\n")
	rows := [][]string{{"code", "exit status", "meaning", ""}}
	common := RouterRefusals()
	for _, info := range refusal.Codes() {
		mark := ""
		if slices.Contains(common, info.Code) {
			mark = "common"
		}
		rows = append(rows, []string{"`" + string(info.Code) + "`", fmt.Sprint(info.Exit), info.Means, mark})
	}
	writeTable(b, rows)
	b.WriteString("# Exit statuses\n\n")
	rows = [][]string{{"status", "meaning"}}
	for _, exit := range Exits() {
		rows = append(rows, []string{fmt.Sprint(exit.Status), exit.Means})
	}
	writeTable(b, rows)
}

// writeTable writes rows, the first of which is the head, and an empty line.
func writeTable(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		b.WriteByte('|')
		for _, cell := range row {
			b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		b.WriteByte('\n')
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	b.WriteByte('\n')
}
