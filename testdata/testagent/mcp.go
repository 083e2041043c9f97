package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	revision  = "2026-07-28"
	maxAnswer = 32 << 20 // bytes of an answer; a diff may be long
)

// endpoint is an MCP server, spoken to as revision 2026-07-28 asks: one POST a request, no session.
type endpoint struct {
	url, token string
	id         int
	http       *http.Client
}

// newEndpoint makes a client that uses no proxy and follows no redirect: the token is for one address.
func newEndpoint(url, token string) *endpoint {
	return &endpoint{url: url, token: token, http: &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// toolError is a result with isError set, or a JSON-RPC error, or an HTTP status: an answer, but a refusal.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

// call calls a tool and returns its structured result. When the tool refused, the error is a *toolError.
func (e *endpoint) call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	if args == nil {
		args = map[string]any{}
	}
	result, err := e.post(ctx, "tools/call", tool, map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	var r struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
		Content           []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	if r.IsError {
		text := string(r.StructuredContent)
		for _, c := range r.Content {
			if text == "" {
				text = c.Text
			}
		}
		return nil, &toolError{text}
	}
	if len(r.StructuredContent) == 0 {
		return nil, errors.New("result without structuredContent")
	}
	var line bytes.Buffer
	if err := json.Compact(&line, r.StructuredContent); err != nil {
		return nil, fmt.Errorf("structuredContent: %w", err)
	}
	return line.Bytes(), nil
}

// tools returns the names of the tools that the token may see.
func (e *endpoint) tools(ctx context.Context) ([]string, error) {
	result, err := e.post(ctx, "tools/list", "", map[string]any{})
	if err != nil {
		return nil, err
	}
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// post sends one request and returns its result.
func (e *endpoint) post(ctx context.Context, method, tool string, params map[string]any) (json.RawMessage, error) {
	if e.url == "" || e.token == "" {
		return nil, errors.New("TERMIC_MCP_URL and TERMIC_MCP_TOKEN are not both set")
	}
	e.id++
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    revision,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": name, "version": version},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": e.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("Authorization", "Bearer "+e.token)
	h.Set("MCP-Protocol-Version", revision)
	h.Set("Mcp-Method", method)
	if tool != "" {
		h.Set("Mcp-Name", tool)
	}
	response, err := e.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return e.answer(response)
}

// answer takes the result out of a response.
func (e *endpoint) answer(response *http.Response) (json.RawMessage, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var r struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, &toolError{strings.TrimSpace(fmt.Sprintf("HTTP %d %.200s", response.StatusCode, oneLine(string(text))))}
	}
	switch {
	case r.Error != nil:
		return nil, &toolError{strings.TrimSpace(fmt.Sprintf("%d %s %s", r.Error.Code, r.Error.Message, r.Error.Data))}
	case response.StatusCode != http.StatusOK:
		return nil, &toolError{fmt.Sprintf("HTTP %d", response.StatusCode)}
	case r.ID != e.id:
		return nil, fmt.Errorf("answer to request %d, want %d", r.ID, e.id)
	}
	return r.Result, nil
}
