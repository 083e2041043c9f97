package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolved keeps the validators, since making one takes some 40 ms.
var resolved sync.Map

// published returns a validator for one definition of the published schema of the revision.
func published(name string) (*jsonschema.Resolved, error) {
	if known, ok := resolved.Load(name); ok {
		return known.(*jsonschema.Resolved), nil
	}
	definitions, err := publishedDefinitions()
	if err != nil {
		return nil, err
	}
	if definitions[name] == nil {
		return nil, fmt.Errorf("the published schema has no %s", name)
	}
	root := &jsonschema.Schema{Ref: "#/$defs/" + name, Defs: definitions}
	validator, err := root.CloneSchemas().Resolve(nil)
	if err == nil {
		resolved.Store(name, validator)
	}
	return validator, err
}

var publishedDefinitions = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	text, err := os.ReadFile("testdata/mcp-" + Revision + ".schema.json")
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("read the published schema: %w", err)
	}
	return schema.Defs, nil
})

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
