package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"termic/registry/render"
)

// maxStdin bounds what is read from standard input: the longest text that a verb takes is 1 MiB.
const maxStdin = 1 << 20

// given is the value of one flag as it was typed, once or several times. It implements pflag.Value.
type given struct {
	argument render.Argument
	values   []string
}

// Set implements pflag.Value. It refuses what is no value of the argument's kind.
func (g *given) Set(text string) error {
	var err error
	switch {
	case g.argument.Duration:
		_, err = milliseconds(text)
	case g.argument.Kind == render.Integer:
		if _, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("not a whole number")
		}
	case g.argument.Kind == render.Boolean:
		if _, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("neither true nor false")
		}
	}
	if err == nil {
		g.values = append(g.values, text)
	}
	return err
}

// String implements pflag.Value; it is the default that help would show, and there is none.
func (g *given) String() string { return "" }

// Type implements pflag.Value; help shows it as the value's name.
func (g *given) Type() string {
	if g.argument.Kind == render.Boolean {
		return "bool"
	}
	return render.Placeholder(g.argument)
}

// IsBoolFlag tells pflag that the flag needs no value.
func (g *given) IsBoolFlag() bool { return g.argument.Kind == render.Boolean }

// milliseconds reads a duration of at least 0. One that is shorter than a millisecond, 0 included, is one
// millisecond, since 0 stands for the default in JSON.
func milliseconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("not a duration, as 90s or 10m")
	case d < 0:
		return 0, fmt.Errorf("a negative duration")
	}
	return max(d.Milliseconds(), 1), nil
}

// collectArguments returns the verb's arguments as JSON members, from positional words and flags.
func (s *session) collectArguments(cmd *cobra.Command, form *render.Form, words []string, flags map[string]*given) (map[string]any, error) {
	arguments := map[string]any{}
	positional := form.Positional()
	for i, a := range positional {
		if i >= len(words) {
			break
		}
		values := []string{words[i]}
		switch {
		case a.Rest && a.Kind == render.Strings:
			values = slices.Clone(words[i:])
		case a.Rest:
			values = []string{strings.Join(words[i:], " ")}
		}
		if err := s.take(cmd, arguments, a, values); err != nil {
			return nil, err
		}
	}
	for _, a := range form.Flags() {
		values := flags[a.Name].values
		if len(values) == 0 {
			if a.Required {
				return nil, &usageError{command: cmd, reason: "missing --" + a.Flag + " " + render.Placeholder(a)}
			}
			continue
		}
		if err := s.take(cmd, arguments, a, values); err != nil {
			return nil, err
		}
	}
	return arguments, nil
}

// take puts one argument into arguments, in the form that JSON has it.
func (s *session) take(cmd *cobra.Command, arguments map[string]any, a render.Argument, values []string) error {
	last := values[len(values)-1]
	name := "--" + a.Flag
	if a.Positional {
		name = render.Placeholder(a)
	}
	if a.Split {
		values = splitList(values)
	}
	for i, value := range values {
		if a.Stdin && value == "-" {
			text, err := s.readStdin(cmd, name)
			if err != nil {
				return err
			}
			value = text
		}
		if a.Absolute {
			path, err := s.absolute(value)
			if err != nil {
				return fmt.Errorf("make %s absolute: %w", value, err)
			}
			value = path
		}
		if !utf8.ValidString(value) {
			return &usageError{command: cmd, reason: name + " is not UTF-8 text", hint: "give it as UTF-8 text"}
		}
		values[i] = value
	}
	switch {
	case a.Duration:
		arguments[a.Name], _ = milliseconds(last) // Set has read it
	case a.Kind == render.Integer:
		arguments[a.Name], _ = strconv.Atoi(last)
	case a.Kind == render.Boolean:
		arguments[a.Name], _ = strconv.ParseBool(last)
	case a.Kind == render.Strings:
		arguments[a.Name] = values
	default:
		arguments[a.Name] = values[len(values)-1]
	}
	return nil
}

func splitList(values []string) []string {
	var items []string
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// readStdin returns what standard input holds, without the line breaks at its end, as a shell's $(…) has it.
func (s *session) readStdin(cmd *cobra.Command, name string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(s.env.Stdin, maxStdin+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(text) > maxStdin:
		return "", &usageError{command: cmd, reason: "standard input is longer than 1 MiB", hint: "put it into a file of the task and send its path"}
	case !utf8.Valid(text):
		return "", &usageError{command: cmd, reason: "standard input is not UTF-8 text", hint: "send text, or put it into a file of the task and send its path"}
	}
	trimmed := strings.TrimRight(string(text), "\r\n")
	if trimmed == "" {
		return "", &usageError{command: cmd, reason: "standard input is empty", hint: name + " - reads the text from it"}
	}
	return trimmed, nil
}

func encode(arguments map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return raw, nil
}
