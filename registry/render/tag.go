package render

import (
	"fmt"
	"slices"
	"strings"
)

// tag is a cli tag, read. Package verbs explains the words.
type tag struct {
	words       []string
	flag, short string
}

var (
	argumentWords = []string{"arg", "rest", "stdin", "split", "duration", "abs", "-"}
	resultWords   = []string{"col", "raw", "said", "text", "note", "hide"}
)

func (t tag) has(word string) bool { return slices.Contains(t.words, word) }

// parseTag reads a cli tag. It refuses a word that is not in known and one that is there twice.
func parseTag(text string, known []string, flags bool) (tag, error) {
	var t tag
	if text == "" {
		return t, nil
	}
	for _, word := range strings.Split(text, ",") {
		key, value, assigned := strings.Cut(word, "=")
		switch {
		case assigned && flags && key == "flag" && value != "" && t.flag == "":
			t.flag = value
		case assigned && flags && key == "short" && len(value) == 1 && t.short == "":
			t.short = value
		case !slices.Contains(known, word):
			return tag{}, fmt.Errorf("cli tag %q: unknown, repeated or misplaced word %q", text, word)
		case t.has(word):
			return tag{}, fmt.Errorf("cli tag %q: %q twice", text, word)
		default:
			t.words = append(t.words, word)
		}
	}
	return t, nil
}

// apply sets how the command line asks for the argument, or says why the tag does not fit it.
func (t tag) apply(a *Argument) error {
	a.Offered = !t.has("-")
	a.Positional, a.Rest, a.Stdin = t.has("arg"), t.has("rest"), t.has("stdin")
	a.Split, a.Duration, a.Absolute = t.has("split"), t.has("duration"), t.has("abs")
	a.Short = t.short
	if a.Offered && !a.Positional {
		if a.Flag = t.flag; a.Flag == "" {
			a.Flag = kebab(a.Name)
		}
	}
	switch {
	case !a.Offered && (len(t.words) > 1 || t.flag != "" || t.short != ""):
		return fmt.Errorf("is not offered, and yet says how")
	case !a.Offered && a.Required:
		return fmt.Errorf("is required but not offered")
	case a.Positional && (t.flag != "" || t.short != ""):
		return fmt.Errorf("is positional and a flag")
	case a.Positional && a.Kind != String && !(a.Rest && a.Kind == Strings):
		return fmt.Errorf("is positional but no string, nor a list that takes the rest")
	case a.Rest && !a.Positional:
		return fmt.Errorf("takes the rest but is not positional")
	case a.Stdin && a.Kind != String:
		return fmt.Errorf("reads standard input but is no string")
	case a.Split && a.Kind != Strings:
		return fmt.Errorf("is split but is no list of strings")
	case a.Duration && a.Kind != Integer:
		return fmt.Errorf("is a duration but no integer")
	case a.Absolute && a.Kind != String && a.Kind != Strings:
		return fmt.Errorf("is a path but neither string nor list of strings")
	case a.Absolute && a.Stdin:
		return fmt.Errorf("is a path and read from standard input")
	case a.Offered && (a.Kind == Object || a.Kind == Objects):
		return fmt.Errorf("is of a kind that no flag can give")
	}
	return nil
}

// kebab turns timeoutMs and default_branch into timeout-ms and default-branch.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_':
			b.WriteByte('-')
		case r >= 'A' && r <= 'Z':
			if i > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r + 'a' - 'A')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
