package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_status","arguments":{"task":"fix"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}`

// answer is a ResponseWriter that keeps only the length.
type answer struct {
	header http.Header
	status int
	bytes  int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { a.bytes += len(p); return len(p), nil }

// BenchmarkCall is one task_status without the network: token, message, guard, audit, both schemas.
func BenchmarkCall(b *testing.B) {
	server, token, err := newServer(b.TempDir(), 1)
	if err != nil {
		b.Fatal(err)
	}
	local := context.WithValue(b.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/mcp", strings.NewReader(call)).WithContext(local)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "task_status",
		} {
			request.Header.Set(name, value)
		}
		got := answer{header: http.Header{}}
		server.ServeHTTP(&got, request)
		if got.status != http.StatusOK || got.bytes < 500 {
			b.Fatalf("status %d, %d bytes", got.status, got.bytes)
		}
	}
}
