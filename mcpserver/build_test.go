package mcpserver

import (
	"fmt"
	"strings"
)

// message is a request in parts, so that a test can change one and leave the rest right.
type message struct {
	line    string
	headers []string
	body    string
}

const goodMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`

// call returns a tools/call that is right in every way.
func (f *fixture) call(token, tool, arguments string) message {
	return message{
		line: "POST /mcp HTTP/1.1",
		headers: []string{
			"Host: " + f.address.String(),
			"Authorization: Bearer " + token,
			"Content-Type: application/json",
			"Accept: application/json, text/event-stream",
			"MCP-Protocol-Version: 2026-07-28",
			"Mcp-Method: tools/call",
			"Mcp-Name: " + tool,
		},
		body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, tool, arguments, goodMeta),
	}
}

func (f *fixture) echo(token string) message { return f.call(token, "thing_echo", `{"text":"hello"}`) }

// with returns the message with one more header.
func (m message) with(header string) message {
	m.headers = append(append([]string{}, m.headers...), header)
	return m
}

// without returns the message without a header.
func (m message) without(name string) message {
	var rest []string
	for _, header := range m.headers {
		if !strings.HasPrefix(strings.ToLower(header), strings.ToLower(name)+":") {
			rest = append(rest, header)
		}
	}
	m.headers = rest
	return m
}

// set returns the message with a header replaced.
func (m message) set(header string) message {
	name, _, _ := strings.Cut(header, ":")
	return m.without(name).with(header)
}

// String is the message on the wire.
func (m message) String() string {
	return m.head() + m.body
}

func (m message) head() string {
	return m.line + "\r\n" + strings.Join(m.headers, "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(m.body))
}
