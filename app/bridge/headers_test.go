package bridge

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/registry/refusal"
)

func TestHeadersArePrintedForTheAddressThatTheAppHolds(t *testing.T) {
	app := newFakeApp(t)
	for _, asked := range []string{"", app.address()} {
		line, err := app.client().Headers(context.Background(), app.address(), asked)
		if err != nil || string(line) != `{"Authorization":"Bearer `+first+`"}`+"\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
}

// refuses runs the helper, which must print nothing and say why, without a token.
func refuses(t *testing.T, client Client, url, asked string, code refusal.Code) {
	t.Helper()
	line, err := client.Headers(context.Background(), url, asked)
	no, ok := refusal.From(err)
	if line != nil || !ok || no.Code != code {
		t.Errorf("%q, %v; want refusal %s", line, err, code)
		return
	}
	if text := no.Error(); strings.Contains(text, "\n") || strings.Contains(text, "termic_") {
		t.Errorf("not one clear line: %q", text)
	}
}

func TestAnotherAddressGetsNothing(t *testing.T) {
	app := newFakeApp(t)
	evil := httptest.NewServer(nil)
	defer evil.Close()
	port := strings.TrimSuffix(strings.TrimPrefix(app.address(), "http://127.0.0.1:"), "/mcp")
	for name, url := range map[string]string{
		"another port":                  evil.URL + "/mcp",
		"another path":                  strings.TrimSuffix(app.address(), "mcp") + "mcp2",
		"a query":                       app.address() + "?x",
		"a fragment":                    app.address() + "#x",
		"another host":                  "http://example.org:" + port + "/mcp",
		"the name of this host":         "http://localhost:" + port + "/mcp",
		"a user in front":               "http://127.0.0.1:" + port + "@example.org/mcp",
		"another user":                  "http://x@127.0.0.1:" + port + "/mcp",
		"another scheme":                "https://127.0.0.1:" + port + "/mcp",
		"IPv6":                          "http://[::1]:" + port + "/mcp",
		"no port":                       "http://127.0.0.1/mcp",
		"another spelling of the port":  "http://127.0.0.1:0" + port + "/mcp",
		"nothing":                       "",
		"no address at all":             "\x00",
		"another loopback address":      "http://127.0.0.2:" + port + "/mcp",
		"an IPv4 address in IPv6 words": "http://[::ffff:127.0.0.1]:" + port + "/mcp",
	} {
		t.Run(name, func(t *testing.T) { refuses(t, app.client(), url, "", refusal.NotPermitted) })
	}
}

// A project's .mcp.json may name our helper with the right address and itself as the one to connect to.
func TestAClientThatConnectsElsewhereGetsNothing(t *testing.T) {
	app := newFakeApp(t)
	refuses(t, app.client(), app.address(), "http://127.0.0.1:1/mcp", refusal.NotPermitted)
	if asked, _ := app.counts(); asked != 0 {
		t.Error("the app was asked all the same")
	}
}

func TestWithoutARunningAppThereIsNoHeader(t *testing.T) {
	app := newFakeApp(t)
	app.stop()
	refuses(t, app.client(), app.address(), "", refusal.NotRunning)
	refuses(t, Client{"codex", filepath.Join(t.TempDir(), "none")}, app.address(), "", refusal.NotRunning)
	app.serve() // the twin
	if _, err := app.client().Headers(context.Background(), app.address(), ""); err != nil {
		t.Error(err)
	}
}

func TestADataDirectoryThatIsNotOursGivesNothing(t *testing.T) {
	app := newFakeApp(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(app.dir, link); err != nil {
		t.Fatal(err)
	}
	refuses(t, Client{"codex", link}, app.address(), "", refusal.NotPermitted)
	if err := os.Chmod(app.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	if err := os.Chmod(app.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // root's own
		refuses(t, Client{"codex", "/"}, app.address(), "", refusal.NotPermitted)
		return
	}
	if err := os.Chown(app.dir, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	if err := os.Chown(app.dir, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := app.client().Headers(context.Background(), app.address(), ""); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

// A stopped app takes connections, as the system does it for it, and never answers.
func TestAnAppThatDoesNotAnswerIsSaid(t *testing.T) {
	app := newFakeApp(t)
	address := app.address()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	app.mu.Lock() // no question is answered
	_, err := app.client().Headers(ctx, address, "")
	app.mu.Unlock()
	if no, ok := refusal.From(err); !ok || no.Code != refusal.Unavailable || no.Remedy == "" {
		t.Errorf("%v", err)
	}
	if _, err := app.client().Headers(context.Background(), address, ""); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

func TestASocketThatIsNotTheAppsGivesNothing(t *testing.T) {
	app := newFakeApp(t)
	socket := filepath.Join(app.dir, "ctl.sock")
	if os.Geteuid() == 0 {
		if err := os.Chown(socket, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
		if err := os.Chown(socket, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := app.client().Headers(context.Background(), app.address(), ""); err != nil {
		t.Errorf("the twin: %v", err)
	}
	aside := socket + ".aside"
	if err := os.Rename(socket, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	if err := os.Rename(aside, socket); err != nil {
		t.Fatal(err)
	}
}

// A directory may look like an app's while the address is asked for, and lead to the real one when the token is read.
func TestATokenThatTheConfirmingAppDoesNotHoldIsNotPrinted(t *testing.T) {
	app := newFakeApp(t)
	app.mu.Lock()
	app.proof = strings.Repeat("0", 64)
	app.mu.Unlock()
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	app.mu.Lock()
	app.proof = ""
	app.mu.Unlock()
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
}

func TestATokenFileThatIsNotPrivateIsNotRead(t *testing.T) {
	app := newFakeApp(t)
	if err := os.Chmod(app.tokenFile(), 0o640); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	elsewhere := filepath.Join(t.TempDir(), "token")
	if err := os.Rename(app.tokenFile(), elsewhere); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
	if err := os.Symlink(elsewhere, app.tokenFile()); err != nil {
		t.Fatal(err)
	}
	refuses(t, app.client(), app.address(), "", refusal.NotPermitted)
}

func TestAnUnregisteredNameGetsNothing(t *testing.T) {
	app := newFakeApp(t)
	for _, name := range []string{"gemini", "", "../clients/codex", "codex/../codex"} {
		refuses(t, Client{name, app.dir}, app.address(), "", refusal.NotPermitted)
	}
}
