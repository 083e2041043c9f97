package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"termic/registry"
	"termic/registry/render"
)

// completeTimeout bounds how long a person waits for a completion.
const completeTimeout = 2 * time.Second

// complete returns the values that an argument may have: those of its enumeration, or the names that the app
// has for it.
func (s *session) complete(cmd *cobra.Command, a render.Argument, prefix string) ([]string, cobra.ShellCompDirective) {
	switch {
	case a.Absolute:
		return nil, cobra.ShellCompDirectiveDefault
	case len(a.Enum) > 0:
		return withPrefix(a.Enum, prefix), cobra.ShellCompDirectiveNoFileComp
	}
	return withPrefix(s.names(cmd.Context(), a.Name), prefix), cobra.ShellCompDirectiveNoFileComp
}

func (s *session) completeFlag(cmd *cobra.Command, a render.Argument) {
	if a.Kind == render.Boolean {
		return
	}
	// It fails only for a flag that is not there or has a completion, which is a mistake in this package.
	if err := cmd.RegisterFlagCompletionFunc(a.Flag, func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return s.complete(cmd, a, prefix)
	}); err != nil {
		panic(err)
	}
}

// names asks the app for the names of what an argument stands for: an argument NAME is completed by the verb
// that reads a list NAMEs and needs no arguments. What goes wrong completes nothing.
func (s *session) names(ctx context.Context, argument string) []string {
	form, list, key := s.lister(argument)
	if form == nil {
		return nil
	}
	client, err := s.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	result, err := client.Call(ctx, form.Verb.Name, []byte("{}"))
	if err != nil {
		return nil
	}
	values, err := decode(result)
	if err != nil {
		return nil
	}
	var names []string
	items, _ := values[list].([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		if name, _ := object[key].(string); name != "" {
			names = append(names, visible(name, false))
		}
	}
	return names
}

// lister finds the verb that lists what an argument stands for, the list in its result, and the member by
// which one of them is named.
func (s *session) lister(argument string) (form *render.Form, list, key string) {
	for _, form := range s.forms {
		m := render.Find(form.Result, argument+"s")
		if m == nil || m.Kind != render.Objects || form.Verb.CLI.Path == "" || form.Verb.Class != registry.Read || needsArguments(form) {
			continue
		}
		for _, key := range []string{"name", "id"} {
			if render.Find(m.Members, key) != nil {
				return form, m.Name, key
			}
		}
	}
	return nil, "", ""
}

func needsArguments(form *render.Form) bool {
	for _, a := range form.Arguments {
		if a.Required {
			return true
		}
	}
	return false
}

func withPrefix(values []string, prefix string) []string {
	var fitting []string
	for _, value := range values {
		if strings.HasPrefix(value, prefix) {
			fitting = append(fitting, value)
		}
	}
	return fitting
}
