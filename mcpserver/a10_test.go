package mcpserver

import (
	"net/http"
	"strings"
	"testing"
)

// TestForeignPagesGetNothing is the public reports reticlehq/reticle#3 and modelcontextprotocol/conformance#103:
// a web page that reaches the port, by rebinding its own name or by asking across origins, with a stolen
// token and without, is refused before any tool and is never told that it may read the answer.
func TestForeignPagesGetNothing(t *testing.T) {
	f := newFixture(t, Limits{})
	good := f.echo(fullToken)
	options := good
	options.line = "OPTIONS /mcp HTTP/1.1"
	star := good
	star.line = "OPTIONS * HTTP/1.1"
	preflight := options.with("Origin: https://evil.example").with("Access-Control-Request-Method: POST").
		with("Access-Control-Request-Headers: authorization,mcp-method")
	for _, row := range []struct {
		says           string
		message        message
		with, without  int
		reachesNoToken bool
	}{
		{"a rebound name", good.set("Host: evil.example"), 421, 421, true},
		{"a rebound name with the right port", good.set("Host: evil.example:" + strings.Split(f.address.String(), ":")[1]), 421, 421, true},
		{"a rebound name in the request line", func() message {
			m := good
			m.line = "POST http://evil.example/mcp HTTP/1.1"
			return m
		}(), 421, 421, true},
		{"a page's origin", good.with("Origin: https://evil.example"), 403, 403, true},
		{"an opaque origin", good.with("Origin: null"), 403, 403, true},
		{"an empty origin", good.with("Origin:"), 403, 403, true},
		{"our own address as origin", good.with("Origin: http://" + f.address.String()), 403, 403, true},
		{"OPTIONS", options, 405, 401, false},
		{"OPTIONS for the whole server", star, 404, 404, true},
		{"a preflight", preflight, 403, 403, true},
		{"GET", func() message { m := good; m.line = "GET /mcp HTTP/1.1"; return m }(), 405, 401, false},
		{"the same request from no page", good, 200, 401, false},
	} {
		for _, side := range []struct {
			says    string
			message message
			want    int
		}{{"with a live token", row.message, row.with}, {"without", row.message.without("Authorization"), row.without}} {
			t.Run(row.says+" "+side.says, func(t *testing.T) {
				events, asked := f.audit.len(), f.auth.count()
				response, body := f.raw(side.message.String())
				if response.StatusCode != side.want {
					t.Errorf("got %d %s, want %d", response.StatusCode, body, side.want)
				}
				if side.want != 200 && f.audit.len() != events {
					t.Error("a tool was reached")
				}
				if row.reachesNoToken && f.auth.count() != asked {
					t.Error("the token was looked at")
				}
				checkNoGrant(t, response.Header)
			})
		}
	}
}

// checkNoGrant fails when an answer lets pages read it.
func checkNoGrant(t *testing.T, header http.Header) {
	t.Helper()
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Timing-Allow-Origin" || name == "Cross-Origin-Resource-Policy" {
			t.Errorf("answer has %s", name)
		}
	}
}
