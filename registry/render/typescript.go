package render

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"termic/registry"
	"termic/registry/refusal"
)

// TypeScript returns the window's client: an interface for every type that goes in or comes out, and a typed
// call over a transport that the page injects. It names nothing of the DOM. The window is in every verb's
// audience, so every verb is there.
func TypeScript(verbs []*registry.Verb) ([]byte, error) {
	ts := typeScript{seen: map[string]reflect.Type{}}
	for _, verb := range verbs {
		for _, shape := range []struct {
			goType reflect.Type
			schema *jsonschema.Schema
		}{{verb.InType(), verb.InSchema()}, {verb.OutType(), verb.OutSchema()}} {
			if err := ts.declare(shape.goType, shape.schema); err != nil {
				return nil, fmt.Errorf("verb %s: %w", verb.Name, err)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Generated from registry/verbs. Change the verbs, then: %s\n\n", Regenerate)
	fmt.Fprintf(&b, "/** Version of the verbs' contract. */\nexport const version = %d;\n\n", registry.Version)
	b.WriteString(strings.Join(ts.types, "\n"))
	writeVerbMap(&b, verbs)
	writeRefusalType(&b)
	b.WriteString(clientSource)
	return []byte(b.String()), nil
}

type typeScript struct {
	seen  map[string]reflect.Type
	types []string
}

// declare adds the interface of a struct type, those that it uses first.
func (ts *typeScript) declare(t reflect.Type, schema *jsonschema.Schema) error {
	if known := ts.seen[t.Name()]; known == t {
		return nil
	} else if known != nil {
		return fmt.Errorf("%s and %s have the same name", known, t)
	}
	ts.seen[t.Name()] = t
	fields, err := fieldsOf(t, schema)
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		ts.types = append(ts.types, fmt.Sprintf("export type %s = Record<string, never>;\n", t.Name()))
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", t.Name())
	for _, f := range fields {
		text, err := ts.typeOf(f)
		if err != nil {
			return err
		}
		mark := ""
		if !slices.Contains(schema.Required, f.name) {
			mark = "?"
		}
		fmt.Fprintf(&b, "  /** %s */\n  %s%s: %s;\n", comment(f.schema.Description), f.name, mark, text)
	}
	b.WriteString("}\n")
	ts.types = append(ts.types, b.String())
	return nil
}

func (ts *typeScript) typeOf(f field) (string, error) {
	kind, err := f.kind()
	if err != nil {
		return "", err
	}
	text := "string"
	if enum := f.enum(); len(enum) > 0 {
		text = union(enum)
	}
	switch kind {
	case String:
		return text, nil
	case Boolean:
		return "boolean", nil
	case Integer:
		return "number", nil
	case Strings:
		if strings.Contains(text, "|") {
			text = "(" + text + ")"
		}
		return text + "[]", nil
	case Object:
		return f.goType.Name(), ts.declare(f.goType, f.schema)
	}
	return f.goType.Elem().Name() + "[]", ts.declare(f.goType.Elem(), f.schema.Items)
}

func union(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return strings.Join(quoted, " | ")
}

// comment keeps a description from ending the comment that it stands in.
func comment(text string) string { return strings.ReplaceAll(text, "*/", "*\u200b/") }

func writeVerbMap(b *strings.Builder, verbs []*registry.Verb) {
	b.WriteString("\n/** Every verb with what goes in and what comes out. */\nexport interface Verbs {\n")
	for _, verb := range verbs {
		fmt.Fprintf(b, "  /** %s */\n  %s: { in: %s; out: %s };\n", comment(verb.Summary), verb.Name, verb.InType().Name(), verb.OutType().Name())
	}
	b.WriteString("}\n\nexport type VerbName = keyof Verbs;\n\n")
	b.WriteString("export type Class = \"read\" | \"write\" | \"destructive\";\n\n")
	b.WriteString("/** What the page needs to know of a verb before it calls it. */\nexport const verbs: { readonly [K in VerbName]: { readonly summary: string; readonly class: Class } } = {\n")
	for _, verb := range verbs {
		fmt.Fprintf(b, "  %s: { summary: %s, class: %q },\n", verb.Name, strconv.Quote(verb.Summary), verb.Class)
	}
	b.WriteString("};\n")
}

func writeRefusalType(b *strings.Builder) {
	b.WriteString("\nexport type RefusalCode =\n")
	codes := refusal.Codes()
	for i, info := range codes {
		end := ""
		if i == len(codes)-1 {
			end = ";"
		}
		fmt.Fprintf(b, "  /** %s */\n  | %q%s\n", comment(info.Means), info.Code, end)
	}
}

// clientSource is the part of the client that depends on no verb.
const clientSource = `
/** The typed "no": what was refused, by which rule, and what to do next. */
export interface Refusal {
  /** stable: callers branch on it */
  code: RefusalCode;
  /** which rule refused, in one sentence */
  reason: string;
  /** what to do next */
  remedy?: string;
  /** id under which the audit log knows the call */
  request?: string;
}

/** What a call ends in, as the transport carries it. */
export type Answer<Out> = { result: Out; refusal?: undefined } | { result?: undefined; refusal: Refusal };

/** Carries one call to the app. It rejects only when the app could not be asked. */
export type Transport = (verb: VerbName, args: unknown) => Promise<Answer<unknown>>;

/** Thrown by a client's call when the app said no. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** Calls verbs by name. */
export interface Calls {
  /** Returns the verb's result, or throws Refused. */
  call<K extends VerbName>(verb: K, args: Verbs[K]["in"]): Promise<Verbs[K]["out"]>;
}

/** Returns a client that calls through transport. */
export function newClient(transport: Transport): Calls {
  return {
    async call<K extends VerbName>(verb: K, args: Verbs[K]["in"]): Promise<Verbs[K]["out"]> {
      const answer = await transport(verb, args);
      if (answer.refusal !== undefined) {
        throw new Refused(answer.refusal);
      }
      return answer.result as Verbs[K]["out"];
    },
  };
}
`
