package registry

import (
	"errors"
	"regexp"
	"strings"
)

// plain says in a caller's words what the validator says in its own: which argument, and what is wrong with it. The value is
// left out, since it is the caller's and may be long.
func plain(err error) error {
	text, place := err.Error(), ""
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		at, rest, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		text = rest
		if at != "root" {
			place = argument(at)
		}
	}
	for _, w := range wordings {
		if found := w.says.FindStringSubmatchIndex(text); found != nil {
			text = string(w.says.ExpandString(nil, w.words, text, found))
			break
		}
	}
	if place != "" {
		text = place + " " + text
	}
	return errors.New(text)
}

// argument turns the validator's place ("/properties/list/items/0") into how a caller wrote it ("list").
func argument(place string) string {
	place, _, _ = strings.Cut(place, "/items")
	return strings.ReplaceAll(strings.TrimPrefix(place, "/properties/"), "/properties/", ".")
}

// wordings are the complaints of jsonschema-go (0.x, validate.go) about the keywords that our schemas use. What is none of them is
// passed on as it is.
var wordings = []struct {
	says  *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`(?s)^unexpected additional properties \[(.*)\]$`), `there is no argument $1`},
	{regexp.MustCompile(`(?s)^required: missing properties: \[(.*)\]$`), `$1 is missing`},
	{regexp.MustCompile(`(?s)^type: .* has type "(\w+)", want "(\w+)"$`), `is of type $1 and has to be of type $2`},
	{regexp.MustCompile(`(?s)^enum: .* does not equal any of: \[(.*)\]$`), `has to be one of: $1`},
	{regexp.MustCompile(`(?s)^minLength: .* contains (\d+) Unicode code points, fewer than (\d+)$`), `has $1 characters and needs $2 at least`},
	{regexp.MustCompile(`(?s)^maxLength: .* contains (\d+) Unicode code points, more than (\d+)$`), `has $1 characters and may have $2 at most`},
	{regexp.MustCompile(`^maxItems: array length (\d+) is greater than (\d+)$`), `has $1 entries and may have $2 at most`},
	{regexp.MustCompile(`^minimum: (.*) is less than (-?\d+)(\.0+)?$`), `has to be $2 or more`},
	{regexp.MustCompile(`^maximum: (.*) is greater than (-?\d+)(\.0+)?$`), `has to be $2 or less`},
}
