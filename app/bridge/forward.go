package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"termic/mcpserver/jsonrpc"
	"termic/registry/refusal"
)

// maxAnswer bounds an answer: a diff with its patch is by far the longest, and is in it twice.
const maxAnswer = 64 << 20

// endpoint talks to the port directly: no proxy of the environment is asked for 127.0.0.1, no redirect followed.
var endpoint = &http.Client{
	Transport: &http.Transport{
		Proxy: nil, DisableCompression: true, MaxIdleConnsPerHost: maxAtOnce, IdleConnTimeout: time.Minute,
		DialContext: (&net.Dialer{Timeout: askTimeout}).DialContext,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// forward carries a request to the endpoint and its answer back, through translate where that is set.
func (b *Bridge) forward(ctx context.Context, message jsonrpc.Message, params map[string]json.RawMessage, translate func([]byte) []byte) {
	body, header, err := encodeRequest(message, params)
	if err != nil {
		b.fail(message.ID, jsonrpc.ErrInvalidParams.With(err.Error()))
		return
	}
	response, err := b.post(ctx, body, header)
	if err == nil {
		defer response.Body.Close()
		err = b.deliver(response, message, translate)
	}
	if err == nil || ctx.Err() != nil {
		return // a request that its client cancelled gets no answer
	}
	// -32603 is the one code of JSON-RPC for what is not the message's fault; its usual words would say that termic is.
	b.fail(message.ID, &jsonrpc.Error{Code: jsonrpc.ErrInternal.Code, Message: explain(err)})
}

// explain returns what the client shows of an error on the way.
func explain(err error) string {
	no, ok := refusal.From(err)
	switch {
	case ok && no.Remedy != "":
		return "termic: " + no.Reason + "; " + no.Remedy
	case ok:
		return "termic: " + no.Reason
	}
	return "termic: the app went away before it answered; what was asked may have been done"
}

// encodeRequest returns a request's body and the headers that mirror it (MCP 2026-07-28, transports).
func encodeRequest(message jsonrpc.Message, params map[string]json.RawMessage) ([]byte, http.Header, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, nil, fmt.Errorf("encode params: %w", err)
	}
	method, err := json.Marshal(message.Method)
	if err != nil {
		return nil, nil, fmt.Errorf("encode method: %w", err)
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, message.ID, method, text)
	meta, err := jsonrpc.Object(params[metaMember])
	if err != nil {
		return nil, nil, errors.New("_meta is not an object")
	}
	revision, _ := jsonrpc.String(meta[versionKey])
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("MCP-Protocol-Version", headerValue(revision))
	header.Set("Mcp-Method", headerValue(message.Method))
	if name, ok := jsonrpc.String(params["name"]); ok && message.Method == "tools/call" {
		header.Set("Mcp-Name", headerValue(name))
	}
	return body, header, nil
}

// headerValue returns a value as a header can carry it: visible ASCII as it is, anything else encoded.
func headerValue(value string) string {
	plain := func(r rune) bool { return r > ' ' && r <= '~' }
	if strings.TrimFunc(value, plain) == "" && !strings.HasPrefix(value, "=?") {
		return value
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?="
}

// post sends a request. Where the token is no longer taken, or nobody listens any more, nothing was done: address
// and token are read again, once.
func (b *Bridge) post(ctx context.Context, body []byte, header http.Header) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		to, err := b.connection(ctx, attempt > 0)
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header = header.Clone()
		request.Header.Set("Authorization", "Bearer "+to.token)
		response, err := endpoint.Do(request)
		switch {
		case err == nil && response.StatusCode != http.StatusUnauthorized:
			return response, nil
		case err == nil:
			response.Body.Close()
			err = refusal.New(refusal.NotPermitted, "the endpoint does not take the client's token", "see: termic client list")
		case !errors.Is(err, syscall.ECONNREFUSED):
			return nil, err
		}
		if attempt > 0 {
			return nil, err
		}
	}
}

// connection returns the one that worked last, or with fresh, or where there is none, one that the app confirms.
func (b *Bridge) connection(ctx context.Context, fresh bool) (connection, error) {
	b.mu.Lock()
	to := b.to
	b.mu.Unlock()
	if !fresh && to.token != "" {
		return to, nil
	}
	to, err := b.connect(ctx, "")
	if err != nil {
		return connection{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
	return to, nil
}

// deliver writes a response's message, or each message of its stream, as lines.
func (b *Bridge) deliver(response *http.Response, message jsonrpc.Message, translate func([]byte) []byte) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		return b.deliverEvents(response.Body, translate)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(body) > maxAnswer:
		return refusal.New(refusal.Unsupported, "the answer is longer than can be carried", "")
	case response.StatusCode == http.StatusTooManyRequests:
		return refusal.New(refusal.Busy, "too many requests at once", "try again")
	case kind != "application/json" || len(body) == 0:
		return refusal.New(refusal.Internal, "the endpoint answered "+response.Status, "")
	}
	return b.deliverOne(body, translate)
}

func (b *Bridge) deliverOne(text []byte, translate func([]byte) []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return fmt.Errorf("read the endpoint's answer: %w", err)
	}
	out := line.Bytes()
	if translate != nil {
		out = translate(out)
	}
	b.say(out)
	return nil
}

// deliverEvents reads a stream of server-sent events (HTML standard, "Event stream interpretation") as far as MCP
// uses it: the data of each event is one message.
func (b *Bridge) deliverEvents(body io.Reader, translate func([]byte) []byte) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	var data []string
	for lines.Scan() {
		text, isData := strings.CutPrefix(lines.Text(), "data:")
		if isData {
			data = append(data, strings.TrimPrefix(text, " "))
			continue
		}
		if lines.Text() == "" && len(data) > 0 {
			if err := b.deliverOne([]byte(strings.Join(data, "\n")), translate); err != nil {
				return err
			}
			data = nil
		}
	}
	return lines.Err()
}
