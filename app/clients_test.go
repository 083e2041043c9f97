package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// newClientRig is newRig with the endpoint on; home is the person's home directory.
func newClientRig(t *testing.T) (r *rig, home string) {
	t.Helper()
	r = newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	for _, entry := range r.environ {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	return r, home
}

// put writes a configuration below the home directory.
func put(t *testing.T, text string, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *rig) url() string { return "http://127.0.0.1:" + r.secret("mcp-port") + "/mcp" }

// entryOf returns how the client's entry stands.
func (r *rig) entryOf(name string) string {
	r.t.Helper()
	return r.must("client_show", `{"client":%q}`, name)["client"].(map[string]any)["entry"].(string)
}

const codexConfig = "model = \"x\" # mine\n\n[mcp_servers.docs]\ncommand = \"npx\"\n"

func TestARegisteredClientHasATokenForAsLongAsItIsRegistered(t *testing.T) {
	r, home := newClientRig(t)
	config := put(t, codexConfig, home, ".codex", "config.toml")
	added := r.must("client_add", `{"client":"codex","ceiling":"read"}`)
	token := r.secret("clients/codex.token")
	if got := discover(t, r.url(), token); got != http.StatusOK {
		t.Fatalf("its token: HTTP %d", got)
	}
	text := get(t, config)
	if !strings.HasPrefix(text, codexConfig) || !strings.Contains(text, "mcp-headers --client codex --url "+r.url()) {
		t.Errorf("configuration:\n%s", text)
	}
	if strings.Contains(text, token) || strings.Contains(fmt.Sprint(added), token) {
		t.Error("the token is where it may not be")
	}
	info, err := os.Stat(filepath.Join(r.dir, "clients", "codex.token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info, err)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	if r.secret("clients/codex.token") != "" {
		t.Error("the token file outlives the endpoint")
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	next := r.secret("clients/codex.token")
	if next == token || discover(t, r.url(), next) != http.StatusOK || discover(t, r.url(), token) != http.StatusUnauthorized {
		t.Error("the token is not minted anew at each bind")
	}
	r.must("client_remove", `{"client":"codex"}`)
	if r.secret("clients/codex.token") != "" || discover(t, r.url(), next) != http.StatusUnauthorized {
		t.Error("the token outlives the registration")
	}
	if got := get(t, config); got != codexConfig {
		t.Errorf("configuration afterwards:\n%s", got)
	}
	if left, err := filepath.Glob(config + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

func TestRegistrationsSurviveARestartAndACrash(t *testing.T) {
	r, _ := newClientRig(t)
	r.must("client_add", `{"client":"gemini"}`)
	r.must("client_add", `{"client":"mine","other":true,"ceiling":"write"}`)
	before := r.secret("clients/mine.token")
	r.restart()
	after := r.secret("clients/mine.token")
	if after == before || discover(t, r.url(), after) != http.StatusOK || discover(t, r.url(), r.secret("clients/gemini.token")) != http.StatusOK {
		t.Error("no token after a restart, or the old one")
	}
	listed := fmt.Sprint(r.must("client_list", `{}`))
	if !strings.Contains(listed, "mine") || r.entryOf("gemini") != "current" || r.entryOf("mine") != "manual" {
		t.Errorf("after a restart: %s", listed)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	put(t, after, r.dir, "clients", "mine.token") // as a crash leaves it
	r.start()
	if r.secret("clients/mine.token") != "" {
		t.Error("a token of a run that crashed is still there")
	}
}

// call makes a tool call with a token and returns the answer's text.
func callTool(t *testing.T, url, token, tool, arguments string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, arguments)
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestACeilingHoldsAndCanBeChanged(t *testing.T) {
	r, _ := newClientRig(t)
	r.must("client_add", `{"client":"gemini","ceiling":"read"}`)
	low := r.secret("clients/gemini.token")
	rename := `{"task":"one","name":"two"}`
	r.task("one", "test", "")
	if got := callTool(t, r.url(), low, "task_rename", rename); !strings.Contains(got, `"isError":true`) && !strings.Contains(got, `"error"`) {
		t.Errorf("above the ceiling: %s", got)
	}
	if got := callTool(t, r.url(), low, "task_list", `{}`); !strings.Contains(got, "one") {
		t.Errorf("below the ceiling: %s", got)
	}
	r.must("client_add", `{"client":"gemini","ceiling":"write"}`)
	high := r.secret("clients/gemini.token")
	if high != low {
		t.Error("a changed ceiling took the client's token from it")
	}
	if got := callTool(t, r.url(), high, "task_rename", rename); strings.Contains(got, `"isError":true`) {
		t.Errorf("within the ceiling: %s", got)
	}
	if got := r.must("client_show", `{"client":"gemini"}`)["client"].(map[string]any); got["ceiling"] != "write" || got["last_seen"] == nil {
		t.Errorf("shown: %v", got)
	}
	entries, err := filepath.Glob(filepath.Join(r.dir, "audit", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(name string) bool { return strings.Contains(get(t, name), `"caller":"gemini"`) }) {
		t.Error("the audit log does not name the client")
	}
}

func TestAnEntryThatIsNotOursIsNotWrittenOver(t *testing.T) {
	r, home := newClientRig(t)
	theirs := `{"mcpServers":{"termic":{"command":"/their/program"}}}`
	config := put(t, theirs, home, ".gemini", "settings.json")
	no := r.refused(refusal.Conflict, "client_add", `{"client":"gemini"}`)
	if !strings.Contains(no.Remedy, "--replace") || get(t, config) != theirs || r.secret("clients/gemini.token") != "" {
		t.Errorf("%v; %s", no, get(t, config))
	}
	if shown := r.must("client_show", `{"client":"gemini"}`); !strings.Contains(shown["difference"].(string), "/their/program") {
		t.Errorf("difference: %v", shown["difference"])
	}
	r.must("client_add", `{"client":"gemini","replace":true}`)
	if r.entryOf("gemini") != "current" {
		t.Error("not written over although asked to")
	}
	changed := strings.Replace(get(t, config), "mcp-stdio", "mcp-other", 1)
	put(t, changed, config)
	r.refused(refusal.Conflict, "client_add", `{"client":"gemini"}`)
	token := r.secret("clients/gemini.token")
	r.refused(refusal.Conflict, "client_remove", `{"client":"gemini"}`)
	if discover(t, r.url(), token) != http.StatusUnauthorized {
		t.Error("a refused removal left the token alive")
	}
	if get(t, config) != changed || r.entryOf("gemini") != "changed" {
		t.Error("somebody's change is lost")
	}
	r.must("client_remove", `{"client":"gemini","force":true}`)
	if strings.Contains(get(t, config), "termic") {
		t.Errorf("still there: %s", get(t, config))
	}
	r.refused(refusal.NotFound, "client_remove", `{"client":"gemini"}`)
}

func TestADryRunShowsAndDoesNothing(t *testing.T) {
	r, home := newClientRig(t)
	config := put(t, codexConfig, home, ".codex", "config.toml")
	would := r.must("client_add", `{"client":"codex","dry_run":true,"all_servers":true}`)
	for _, want := range []string{"+[mcp_servers.termic]", "+features.mcp_2026_07_28 = true"} {
		if !strings.Contains(would["diff"].(string), want) {
			t.Errorf("the diff lacks %s:\n%s", want, would["diff"])
		}
	}
	if get(t, config) != codexConfig || r.secret("clients/codex.token") != "" || r.entryOf("codex") != "none" {
		t.Error("a dry run did something")
	}
	r.must("client_add", `{"client":"codex"}`)
	if needs := r.must("client_show", `{"client":"codex"}`)["client"].(map[string]any)["needs"]; needs == nil || strings.Contains(get(t, config), "features") {
		t.Errorf("the further key was written without a yes: %v", needs)
	}
	written := get(t, config)
	r.must("client_remove", `{"client":"codex","dry_run":true}`)
	if get(t, config) != written || discover(t, r.url(), r.secret("clients/codex.token")) != http.StatusOK {
		t.Error("a dry run removed something")
	}
	r.must("client_add", `{"client":"codex","all_servers":true}`)
	r.must("client_remove", `{"client":"codex"}`)
	if got := get(t, config); got != codexConfig {
		t.Errorf("after both edits were taken back:\n%s", got)
	}
}

func TestAConfigurationThatIsMadeIsRemoved(t *testing.T) {
	r, home := newClientRig(t)
	for _, name := range []string{"codex", "gemini", "opencode", "vscode", "cursor", "zed", "claude-desktop"} {
		r.must("client_add", `{"client":%q,"all_servers":true}`, name)
		if r.entryOf(name) != "current" {
			t.Errorf("%s: %s", name, r.entryOf(name))
		}
		r.must("client_remove", `{"client":%q}`, name)
		if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
			t.Errorf("%s left %v, %v", name, left, err)
		}
	}
}

func TestABrokenConfigurationIsRefusedWithItsPlace(t *testing.T) {
	r, home := newClientRig(t)
	broken := "[mcp_servers\n"
	config := put(t, broken, home, ".codex", "config.toml")
	no := r.refused(refusal.Conflict, "client_add", `{"client":"codex"}`)
	if !strings.Contains(no.Reason, "line 1, column") || get(t, config) != broken || r.entryOf("codex") != "unreadable" {
		t.Errorf("%v", no)
	}
	// A registered client's token ends although its entry cannot be taken out.
	put(t, "", config)
	r.must("client_add", `{"client":"codex"}`)
	token := r.secret("clients/codex.token")
	put(t, broken, config)
	if no := r.refused(refusal.Conflict, "client_remove", `{"client":"codex"}`); !strings.Contains(no.Reason, "token has ended") {
		t.Errorf("%v", no)
	}
	if discover(t, r.url(), token) != http.StatusUnauthorized || r.secret("clients/codex.token") != "" {
		t.Error("the token lives on")
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	if r.secret("clients/codex.token") != "" {
		t.Error("a removed client got a token again")
	}
}

func TestEntriesFollowAPortThatMoves(t *testing.T) {
	r, home := newClientRig(t)
	config := put(t, codexConfig, home, ".codex", "config.toml")
	r.must("client_add", `{"client":"codex"}`)
	r.must("client_add", `{"client":"gemini"}`)
	r.restart() // what was written is known from the file alone
	old := r.url()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	before := get(t, config)
	r.refused(refusal.Unavailable, "client_refresh", `{"port":%d}`, port)
	if get(t, config) != before || discover(t, old, r.secret("clients/codex.token")) != http.StatusOK || r.entryOf("codex") != "current" {
		t.Errorf("a port that is taken changed something:\n%s", get(t, config))
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, strings.Replace(before, "/mcp", "/mcp?mine", 1), config)
	if no := r.refused(refusal.Conflict, "client_refresh", `{"port":%d}`, port); !strings.Contains(no.Reason, "codex") || r.url() != old {
		t.Errorf("the port was moved away from an entry that somebody changed: %v", no)
	}
	put(t, before, config)
	would := r.must("client_refresh", `{"port":%d,"dry_run":true}`, port)
	if get(t, config) != before || !strings.Contains(fmt.Sprint(would["clients"]), "codex") || strings.Contains(fmt.Sprint(would["clients"]), "gemini") {
		t.Errorf("dry run: %v", would)
	}
	r.must("client_refresh", `{"port":%d}`, port)
	if r.url() == old || !strings.Contains(get(t, config), r.url()) || strings.Contains(get(t, config), old) || r.entryOf("codex") != "current" {
		t.Errorf("after the move to %s:\n%s", r.url(), get(t, config))
	}
	if discover(t, r.url(), r.secret("clients/codex.token")) != http.StatusOK {
		t.Error("no token at the new port")
	}
	r.must("client_remove", `{"client":"codex"}`)
	if got := get(t, config); got != codexConfig {
		t.Errorf("configuration afterwards:\n%s", got)
	}
	r.must("client_remove", `{"client":"gemini"}`)
	for _, name := range []string{config, filepath.Join(home, ".gemini", "settings.json")} {
		if left, err := filepath.Glob(name + ".*"); err != nil || len(left) > 0 {
			t.Errorf("left beside it: %v, %v", left, err)
		}
	}
}

// TestTheSettingOfThePortMovesItWithItsClients: setting the port is the same act as client refresh --port.
func TestTheSettingOfThePortMovesItWithItsClients(t *testing.T) {
	r, home := newClientRig(t)
	config := put(t, codexConfig, home, ".codex", "config.toml")
	r.must("client_add", `{"client":"codex"}`)
	own := fmt.Sprint(freePort(t))
	set := func(value string) { t.Helper(); r.must("settings_set", `{"key":"mcp.port","value":%q}`, value) }
	holds := func(port string) {
		t.Helper()
		if r.secret("mcp-port") != port || r.entryOf("codex") != "current" || !strings.Contains(get(t, config), ":"+port+"/mcp") {
			t.Errorf("serves on %s, the entry is %s; want %s:\n%s", r.secret("mcp-port"), r.entryOf("codex"), port, get(t, config))
		}
		if discover(t, r.url(), r.secret("clients/codex.token")) != http.StatusOK {
			t.Error("the client's token is not taken there")
		}
	}
	set(own)
	holds(own)
	token := r.secret("clients/codex.token")
	set(own)
	set("0") // the one that it had last
	holds(own)
	refuse := func(code refusal.Code, value, reason string) {
		t.Helper()
		before := r.must("settings_get", `{"key":"mcp.port"}`)["setting"].(map[string]any)["value"]
		if no := r.refused(code, "settings_set", `{"key":"mcp.port","value":%q}`, value); !strings.Contains(no.Reason, reason) {
			t.Errorf("%s: %v", value, no)
		}
		if after := r.must("settings_get", `{"key":"mcp.port"}`)["setting"].(map[string]any)["value"]; after != before {
			t.Errorf("%s is refused and set: %v, was %v", value, after, before)
		}
	}
	thief, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, taken, _ := net.SplitHostPort(thief.Addr().String())
	refuse(refusal.Unavailable, taken, taken)
	refuse(refusal.BadInput, "65536", "port")
	written := get(t, config)
	put(t, strings.Replace(written, "/mcp", "/mcp?mine", 1), config)
	refuse(refusal.Conflict, fmt.Sprint(freePort(t)), "codex")
	put(t, written, config)
	if r.secret("clients/codex.token") != token {
		t.Error("a refused port ended tokens")
	}
	holds(own)

	// Off, nothing is bound, and an address that the entries name is one that can be.
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	refuse(refusal.Unavailable, taken, taken)
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	set(taken)
	if !strings.Contains(get(t, config), ":"+taken+"/mcp") || r.secret("mcp-port") != "" {
		t.Errorf("the entry, while the endpoint is off:\n%s", get(t, config))
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	holds(taken)
}

// TestAnEndpointWithoutItsPortMovesToAnother: nothing serves, since another program has the port; the setting gets out of that.
func TestAnEndpointWithoutItsPortMovesToAnother(t *testing.T) {
	r, home := newClientRig(t)
	config := put(t, codexConfig, home, ".codex", "config.toml")
	r.must("client_add", `{"client":"codex"}`)
	lost := r.secret("mcp-port")
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	thief, err := net.Listen("tcp4", "127.0.0.1:"+lost)
	if err != nil {
		t.Fatal(err)
	}
	defer thief.Close()
	r.refused(refusal.Unavailable, "settings_set", `{"key":"mcp.enabled","value":"true"}`)
	port := fmt.Sprint(freePort(t))
	r.must("settings_set", `{"key":"mcp.port","value":%q}`, port)
	if r.secret("mcp-port") != port || !strings.Contains(get(t, config), ":"+port+"/mcp") || strings.Contains(get(t, config), lost) {
		t.Errorf("serves on %q:\n%s", r.secret("mcp-port"), get(t, config))
	}
}

// setPortInFile changes mcp.port where it is kept, as a person with an editor or a restored backup does: the app must not run.
func (r *rig) setPortInFile(port int) {
	r.t.Helper()
	path := filepath.Join(r.dir, "settings.json")
	var file struct {
		Version int               `json:"version"`
		Data    map[string]string `json:"data"`
	}
	if err := json.Unmarshal([]byte(get(r.t, path)), &file); err != nil {
		r.t.Fatal(err)
	}
	file.Data["mcp.port"] = fmt.Sprint(port)
	text, err := json.Marshal(file)
	if err != nil {
		r.t.Fatal(err)
	}
	put(r.t, string(text), path)
}

// TestAnEntryIsStaleAfterThePortMovedWithoutIt: an entry that is as we wrote it and names another address is stale and brought
// up to date; without the move it is current, and one that somebody edited is theirs.
func TestAnEntryIsStaleAfterThePortMovedWithoutIt(t *testing.T) {
	for _, test := range []struct {
		name        string
		moved, hand bool
		want        string
	}{
		{"the port moved", true, false, "stale"},
		{"nothing happened", false, false, "current"},
		{"the port moved and somebody edited the entry", true, true, "changed"},
		{"somebody edited the entry", false, true, "changed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, home := newClientRig(t)
			config := put(t, codexConfig, home, ".codex", "config.toml")
			r.must("client_add", `{"client":"codex"}`)
			old := r.url()
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if test.moved {
				r.setPortInFile(freePort(t))
			}
			if test.hand {
				put(t, strings.Replace(get(t, config), "/mcp", "/mcp?mine", 1), config)
			}
			r.start()
			if moved := r.url() != old; moved != test.moved {
				t.Fatalf("it serves at %s, before at %s", r.url(), old)
			}
			if got := r.entryOf("codex"); got != test.want {
				t.Errorf("the entry is %s, want %s", got, test.want)
			}
			before := get(t, config)
			r.must("client_refresh", `{}`)
			after := get(t, config)
			if test.hand && after != before {
				t.Errorf("what somebody edited was written over:\n%s", after)
			}
			if !test.hand && (r.entryOf("codex") != "current" || !strings.Contains(after, r.url())) {
				t.Errorf("after a refresh the entry is %s:\n%s", r.entryOf("codex"), after)
			}
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestAnAddressIsConfirmedOnlyForWhoIsRegisteredThere(t *testing.T) {
	r, home := newClientRig(t)
	r.refused(refusal.NotPermitted, "client_connect", `{"client":"codex","url":%q}`, r.url())
	r.must("client_add", `{"client":"codex"}`)
	for _, url := range []string{r.url(), ""} {
		held := r.must("client_connect", `{"client":"codex","url":%q}`, url)
		sum := sha256.Sum256([]byte(r.secret("clients/codex.token")))
		if held["url"] != r.url() || held["token_sha256"] != hex.EncodeToString(sum[:]) {
			t.Errorf("%v", held)
		}
	}
	for _, url := range []string{"http://127.0.0.1:1/mcp", r.url() + "/", strings.ToUpper(r.url())} {
		r.refused(refusal.NotPermitted, "client_connect", `{"client":"codex","url":%q}`, url)
	}
	r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`)
	r.refused(refusal.Unavailable, "client_connect", `{"client":"codex"}`)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	put(t, "x = = 1", home, ".codex", "config.toml")
	r.refused(refusal.Conflict, "client_remove", `{"client":"codex"}`)
	r.refused(refusal.NotPermitted, "client_connect", `{"client":"codex","url":%q}`, r.url())
}

func TestNamesOfOtherClients(t *testing.T) {
	r, _ := newClientRig(t)
	for name, code := range map[string]refusal.Code{
		"task": refusal.BadInput, "window": refusal.BadInput, "client": refusal.BadInput, "Mine": refusal.BadInput,
		"../x": refusal.BadInput, "a/b": refusal.BadInput, "codex": refusal.Conflict,
	} {
		r.refused(code, "client_add", `{"client":%q,"other":true}`, name)
	}
	r.refused(refusal.NotFound, "client_add", `{"client":"mine"}`)
	r.must("client_add", `{"client":"mine","other":true}`)
	if text := r.must("client_show", `{"client":"mine"}`)["instructions"].(string); !strings.Contains(text, "mcp-stdio --client mine") || !strings.Contains(text, "clients/mine.token") {
		t.Errorf("instructions: %s", text)
	}
	r.must("client_remove", `{"client":"mine"}`)
	r.refused(refusal.NotFound, "client_show", `{"client":"mine"}`)
}

func TestWithoutAnAddressOrAHomeThereIsNoRegistration(t *testing.T) {
	r := newRig(t)
	r.refused(refusal.Unavailable, "client_add", `{"client":"codex"}`)
	r.environ = slices.DeleteFunc(r.environ, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") })
	r.restart()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.refused(refusal.Unsupported, "client_add", `{"client":"codex"}`)
	if r.entryOf("codex") != "unreadable" {
		t.Errorf("entry: %s", r.entryOf("codex"))
	}
}

// fakeClaude is a program that keeps its configuration as Claude Code does: in its own form, and what it is asked to
// remove leaves an empty object. With spoil it writes another entry than it was told.
func fakeClaude(t *testing.T, dir string, spoil bool) {
	t.Helper()
	value := `$6`
	if spoil {
		value = `{\"type\":\"http\"}`
	}
	script := `#!/bin/sh
case "$2" in
add-json)
  grep -q '"termic"' "$HOME/.claude.json" 2>/dev/null && { echo 'already exists' >&2; exit 1; }
  printf '{\n  "startups": 1,\n  "mcpServers": {"termic": %s}\n}' "` + value + `" >"$HOME/.claude.json" ;;
remove) printf '{\n  "startups": 1,\n  "mcpServers": {}\n}' >"$HOME/.claude.json" ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestClaudeIsChangedThroughItsOwnCommandLine(t *testing.T) {
	r, home := newClientRig(t)
	bin := t.TempDir()
	r.environ = append(r.environ, "PATH="+bin+":"+os.Getenv("PATH"))
	r.restart()
	config := put(t, "{\n  \"startups\": 1\n}", home, ".claude.json")
	before := get(t, config)
	fakeClaude(t, bin, true)
	if no := r.refused(refusal.Conflict, "client_add", `{"client":"claude"}`); !strings.Contains(no.Reason, "another entry") || r.secret("clients/claude.token") != "" {
		t.Errorf("an entry that is not what was asked for was taken: %v", no)
	}
	put(t, "#!/bin/sh\necho no >&2\nexit 1\n", bin, "claude")
	put(t, before, config)
	if no := r.refused(refusal.Conflict, "client_add", `{"client":"claude"}`); !strings.Contains(no.Reason, "own command line refused") || r.secret("clients/claude.token") != "" {
		t.Errorf("a command line that fails: %v", no)
	}
	put(t, before, config)
	fakeClaude(t, bin, false)
	r.must("client_add", `{"client":"claude"}`)
	var has struct {
		Servers map[string]struct{ Type, URL, HeadersHelper string } `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(get(t, config)), &has); err != nil || has.Servers["termic"].URL != r.url() || has.Servers["termic"].Type != "http" {
		t.Errorf("%+v, %v", has, err)
	}
	r.restart()
	port := fmt.Sprint(freePort(t))
	r.must("settings_set", `{"key":"mcp.port","value":%q}`, port) // has to take the old entry out first
	if r.entryOf("claude") != "current" || !strings.Contains(get(t, config), ":"+port+"/") {
		t.Errorf("entry: %s: %s", r.entryOf("claude"), get(t, config))
	}
	r.must("client_remove", `{"client":"claude"}`)
	if got := get(t, config); got != before {
		t.Errorf("configuration afterwards: %q, want %q", got, before)
	}
	if left, err := filepath.Glob(config + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}
