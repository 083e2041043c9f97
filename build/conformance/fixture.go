package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"termic/mcpserver"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
)

// fixture serves the tools that the suite calls by name, with our endpoint and router. What it shows is how they
// carry a tool's answer, which is the same for every tool.
type fixture struct {
	endpoint *mcpserver.Endpoint
	mu       sync.Mutex
	ceiling  registry.Class
}

const fixtureToken = "conformance-0000000000000000000000000000000000000"

type nothing struct{}

type textOut struct {
	Text string `json:"text" jsonschema:"what there is to say"`
}

// testVerb returns a verb as the suite wants it: without arguments.
func testVerb(name string, class registry.Class) registry.Spec[nothing, textOut] {
	return registry.Define[nothing, textOut](registry.Verb{
		Name: name, Summary: "a tool of the conformance suite", Doc: "Does what the conformance suite asks of " + name + ".",
		Class: class, Scope: registry.Full, Audience: registry.ForFull, Reach: registry.ReachSelf, Idempotent: true,
	})
}

var (
	simpleText = testVerb("test_simple_text", registry.Read)
	failing    = testVerb("test_error_handling", registry.Read)
	reporting  = testVerb("test_tool_with_progress", registry.Read)
	streaming  = testVerb("test_streaming_elicitation", registry.Read)
	logging    = testVerb("test_logging_tool", registry.Read)
	changing   = testVerb("test_trigger_tool_change", registry.Read)
	removing   = testVerb("test_removing", registry.Destructive)
)

// reportEvery lets each report out: the endpoint sends at most ten a second.
const reportEvery = 150 * time.Millisecond

func newFixture(ctx context.Context) (*fixture, error) {
	f := &fixture{ceiling: registry.Destructive}
	router := registry.NewRouter(f, f, slog.New(slog.DiscardHandler), simpleText.Verb(), failing.Verb(), reporting.Verb(),
		streaming.Verb(), logging.Verb(), changing.Verb(), removing.Verb())
	says := func(text string) registry.Handler[nothing, textOut] {
		return func(context.Context, registry.Call, nothing) (textOut, error) { return textOut{text}, nil }
	}
	registry.Bind(router, simpleText, says("This is a simple text response for testing."))
	registry.Bind(router, logging, says("logged nothing"))
	registry.Bind(router, removing, says("removed nothing"))
	registry.Bind(router, failing, func(context.Context, registry.Call, nothing) (textOut, error) {
		return textOut{}, refusal.New(refusal.Unavailable, "This tool intentionally returns an error for testing", "do not call it")
	})
	registry.Bind(router, reporting, report)
	registry.Bind(router, streaming, report)
	registry.Bind(router, changing, f.change)
	server := &mcpserver.Server{Calls: router, Auth: f, Version: "conformance"}
	f.endpoint = &mcpserver.Endpoint{Server: server}
	_, err := f.endpoint.Start(ctx, 0)
	return f, err
}

func report(ctx context.Context, _ registry.Call, _ nothing) (textOut, error) {
	for _, text := range []string{"begun", "half of it", "done"} {
		registry.Progress(ctx, text)
		select {
		case <-time.After(reportEvery):
		case <-ctx.Done():
			return textOut{}, ctx.Err()
		}
	}
	return textOut{"reported"}, nil
}

// change takes the destructive tool away, or gives it back.
func (f *fixture) change(context.Context, registry.Call, nothing) (textOut, error) {
	f.mu.Lock()
	f.ceiling = registry.Read + registry.Destructive - f.ceiling
	f.mu.Unlock()
	f.endpoint.Server.ToolsChanged()
	return textOut{"changed"}, nil
}

// Caller implements mcpserver.Auth.
func (f *fixture) Caller(token string) (registry.Caller, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return registry.Caller{Way: registry.MCP, Scope: registry.Full, Ceiling: f.ceiling, Grant: ident.Grant("g-conformance")}, token == fixtureToken
}

// Check implements registry.Guard.
func (f *fixture) Check(context.Context, registry.Caller, *registry.Verb, registry.Target) registry.Decision {
	return registry.Decision{Allow: true}
}

// Record implements registry.Sink.
func (f *fixture) Record(context.Context, registry.Event) error { return nil }

// address returns where the fixture serves.
func (f *fixture) address() (string, error) {
	address, serves := f.endpoint.Address()
	if !serves {
		return "", errors.New("the fixture does not serve")
	}
	return address.String(), nil
}
