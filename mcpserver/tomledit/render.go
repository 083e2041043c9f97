package tomledit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// renderKey returns a dotted key, its parts quoted where they must be.
func renderKey(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		if parts[i] = part; !bareKey.MatchString(part) {
			parts[i] = quote(part)
		}
	}
	return strings.Join(parts, ".")
}

// renderTable returns a header and its keys without a line break at the end.
func renderTable(path []string, entries []Entry, newline string) string {
	lines := []string{"[" + renderKey(path) + "]"}
	for _, e := range entries {
		value, _ := renderValue(e.Value) // tableOf has rendered it
		lines = append(lines, renderKey(e.Key)+" = "+value)
	}
	return strings.Join(lines, newline)
}

// renderValue returns a value on one line.
func renderValue(value any) (string, error) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("%q is not UTF-8", v)
		}
		return quote(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			text, err := renderValue(item)
			if err != nil {
				return "", err
			}
			items[i] = text
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	}
	return "", fmt.Errorf("%T is no value that is written", value)
}

// quote returns a basic string (TOML 1.0, "String").
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
