package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolved keeps the validators, since making one takes some 40 ms.
var resolved sync.Map

// published returns a validator for one definition of a published schema: "REVISION NAME", or "NAME" for our revision.
func published(name string) (*jsonschema.Resolved, error) {
	if known, ok := resolved.Load(name); ok {
		return known.(*jsonschema.Resolved), nil
	}
	revision, definition, ok := strings.Cut(name, " ")
	if !ok {
		revision, definition = Revision, name
	}
	defs, err := publishedDefinitions(revision)
	if err != nil {
		return nil, err
	}
	if defs[definition] == nil {
		return nil, fmt.Errorf("the published schema has no %s", name)
	}
	root, err := onlyNeeded(defs, definition)
	if err != nil {
		return nil, err
	}
	validator, err := root.Resolve(nil)
	if err == nil {
		resolved.Store(name, validator)
	}
	return validator, err
}

// publishedDefinitions returns the definitions of a revision's schema as they are written, in the place where draft
// 2020-12 has them; 2025-06-18 is in draft-07, of which it uses nothing that means something else now.
func publishedDefinitions(revision string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile("testdata/mcp-" + revision + ".schema.json")
	if err != nil {
		return nil, err
	}
	var schema struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	text = bytes.ReplaceAll(text, []byte("#/definitions/"), []byte("#/$defs/"))
	text = bytes.Replace(text, []byte(`"definitions":`), []byte(`"$defs":`), 1)
	err = json.Unmarshal(text, &schema)
	return schema.Defs, err
}

var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

// onlyNeeded returns a schema of one definition and of those that it needs: making a validator of all takes long.
func onlyNeeded(defs map[string]json.RawMessage, definition string) (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{Ref: "#/$defs/" + definition, Defs: map[string]*jsonschema.Schema{}}
	for open := []string{definition}; len(open) > 0; open = open[1:] {
		if root.Defs[open[0]] != nil {
			continue
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(defs[open[0]], &schema); err != nil {
			return nil, fmt.Errorf("read the published schema of %s: %w", open[0], err)
		}
		root.Defs[open[0]] = &schema
		for _, found := range reference.FindAllSubmatch(defs[open[0]], -1) {
			open = append(open, string(found[1]))
		}
	}
	return root, nil
}

// validate checks a JSON text against one definition of the published schema.
func validate(definition, text string) error {
	validator, err := published(definition)
	if err != nil {
		return err
	}
	return validateWith(validator, definition, text)
}

func validateWith(validator *jsonschema.Resolved, what, text string) error {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := validator.Validate(value); err != nil {
		return fmt.Errorf("not a valid %s: %w\n%s", what, err, text)
	}
	return nil
}

// definitionsOf names what the published schema says of a method's request and its answer.
func definitionsOf(method string) (request, answer string, ok bool) {
	switch method {
	case methodDiscover:
		return "DiscoverRequest", "DiscoverResultResponse", true
	case methodList:
		return "ListToolsRequest", "ListToolsResultResponse", true
	case methodListen:
		return "SubscriptionsListenRequest", "SubscriptionsListenResultResponse", true
	case methodCall:
		return "CallToolRequest", "CallToolResultResponse", true
	}
	return "", "", false
}

// validateError checks an error answer: against the general definition, and against the one of its code.
func validateError(text string) error {
	if err := validate("JSONRPCErrorResponse", text); err != nil {
		return err
	}
	var answer struct {
		Error json.RawMessage `json:"error"`
		Code  struct {
			Code int `json:"code"`
		} `json:"-"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Error, &answer.Code); err != nil {
		return err
	}
	switch answer.Code.Code {
	case -32700:
		return validate("ParseError", string(answer.Error))
	case -32600:
		return validate("InvalidRequestError", string(answer.Error))
	case -32601:
		return validate("MethodNotFoundError", string(answer.Error))
	case -32602:
		return validate("InvalidParamsError", string(answer.Error))
	case -32603:
		return validate("InternalError", string(answer.Error))
	case -32020:
		return validate("HeaderMismatchError", text)
	case -32022:
		return validate("UnsupportedProtocolVersionError", text)
	}
	return fmt.Errorf("error code %d is none of ours", answer.Code.Code)
}
