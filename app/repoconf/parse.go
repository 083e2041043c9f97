package repoconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"
)

// Parse reads a repository's file. With a problem that is not harmless, it says nothing.
func Parse(data []byte) (Settings, []Problem) {
	entries, wrong := readTOML(data)
	if wrong != nil {
		return Settings{Given: map[string]bool{}}, []Problem{*wrong}
	}
	return understand(entries)
}

// ParseMine reads the person's file: the same keys, as JSON with comments.
func ParseMine(data []byte) (Settings, []Problem) {
	entries, wrong := readJSON(data)
	if wrong != nil {
		return Settings{Given: map[string]bool{}}, []Problem{*wrong}
	}
	return understand(entries)
}

func tooLarge(data []byte) *Problem {
	if len(data) > MaxBytes {
		return &Problem{Line: 1, Column: 1, What: fmt.Sprintf("the file is larger than %d bytes", MaxBytes)}
	}
	return nil
}

// readTOML lists the keys at the top level. Tables have no meaning here, and are entries of no kind.
func readTOML(data []byte) ([]entry, *Problem) {
	if wrong := tooLarge(data); wrong != nil {
		return nil, wrong
	}
	var whole map[string]any
	if err := toml.Unmarshal(data, &whole); err != nil { // what the scanner below does not look for: a key twice, a bad date
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, &Problem{Line: line, Column: column, What: at.Error()}
		}
		return nil, &Problem{Line: 1, Column: 1, What: err.Error()}
	}
	var parser unstable.Parser
	parser.Reset(data)
	var entries []entry
	table := false
	for parser.NextExpression() {
		node := parser.Expression()
		if node.Kind == unstable.Comment || table && node.Kind == unstable.KeyValue {
			continue
		}
		e := entry{}
		keys := node.Key()
		for n := 0; keys.Next(); n++ {
			key := keys.Node()
			if n == 0 {
				at := parser.Shape(key.Raw).Start
				e.line, e.column, e.key = at.Line, at.Column, string(key.Data)
			} else {
				e.key += "." + string(key.Data)
			}
		}
		if node.Kind == unstable.KeyValue {
			e.kind, e.values = tomlValue(node.Value())
		} else {
			table = true // what is below it is not looked at: it is wrong already
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func tomlValue(node *unstable.Node) (kind, []string) {
	switch node.Kind {
	case unstable.String:
		return text, []string{string(node.Data)}
	case unstable.Array:
		values := []string{}
		for items := node.Children(); items.Next(); {
			item := items.Node()
			if item.Kind == unstable.Comment {
				continue
			}
			if item.Kind != unstable.String {
				return other, nil
			}
			values = append(values, string(item.Data))
		}
		return list, values
	}
	return other, nil
}

// place is how hujson says where a mistake is.
var place = regexp.MustCompile(`^(?:hujson: )?line (\d+), column (\d+): (.*)$`)

// inJSON is a mistake in the language itself.
func inJSON(err error) *Problem {
	if m := place.FindStringSubmatch(err.Error()); m != nil {
		line, lineErr := strconv.Atoi(m[1])
		column, columnErr := strconv.Atoi(m[2])
		if lineErr == nil && columnErr == nil {
			return &Problem{Line: line, Column: column, What: m[3]}
		}
	}
	return &Problem{Line: 1, Column: 1, What: err.Error()}
}

// readJSON lists the members of the one object.
func readJSON(data []byte) ([]entry, *Problem) {
	if wrong := tooLarge(data); wrong != nil {
		return nil, wrong
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	value, err := hujson.Parse(data)
	if err != nil {
		return nil, inJSON(err)
	}
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, &Problem{Line: 1, Column: 1, What: "the file has to hold one object"}
	}
	var entries []entry
	for _, m := range object.Members {
		before := data[:m.Name.StartOffset]
		e := entry{key: m.Name.Value.(hujson.Literal).String(), line: 1 + bytes.Count(before, []byte("\n")), column: len(before) - bytes.LastIndexByte(before, '\n')}
		item := m.Value.Clone()
		item.Standardize()
		raw := item.Pack()
		var one string
		var many []*string
		switch {
		case json.Unmarshal(raw, &one) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)):
			e.kind, e.values = text, []string{one}
		case json.Unmarshal(raw, &many) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")):
			e.kind, e.values = list, []string{}
			for _, v := range many {
				if v == nil {
					e.kind = other
					break
				}
				e.values = append(e.values, *v)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}
