package app

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termic/registry/refusal"
)

// connect is a line that asks the cage's proxy for a target and shows its answer.
func connect(target string) string {
	return fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/24312; printf 'CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n' >&3; head -1 <&3; exec 3>&-`, target)
}

// TestADenialIsShownWithTheOneRuleThatAllowsIt: what a cage was refused is listed until a rule lets it through, and what no
// rule would let through has none.
func TestADenialIsShownWithTheOneRuleThatAllowsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cagedShell("fix", `,"hosts":["packages.example.org"]`)
	denials := func() []map[string]any {
		var list []map[string]any
		for _, d := range r.must("cage_denials", `{"task":"fix"}`)["denials"].([]any) {
			list = append(list, d.(map[string]any))
		}
		return list
	}
	if got := denials(); len(got) != 0 {
		t.Fatalf("before anything was asked for: %v", got)
	}
	for _, target := range []string{"other.example.net:443", "git.example.net:22", "other.example.net:443", "10.0.0.1:443"} {
		shown(t, r.inside("fix", connect(target)), "403")
	}
	found := map[string]map[string]any{}
	for _, d := range denials() {
		found[d["target"].(string)] = d
	}
	if len(found) != 3 || found["other.example.net:443"]["count"] != 2.0 || found["other.example.net:443"]["allow"] != "other.example.net" || found["git.example.net:22"]["allow"] != "git.example.net:22" {
		t.Errorf("denials: %v", found)
	}
	if widens, _ := found["other.example.net:443"]["widens"].(string); !strings.Contains(widens, "other.example.net") {
		t.Errorf("it is not said what that widens: %q", widens)
	}
	for target, d := range found {
		if strings.HasPrefix(target, "10.") && d["allow"] != nil {
			t.Errorf("a private address has a rule that allows it: %v", d)
		}
	}
	r.refused(refusal.Conflict, "cage_edit", `{"task":"fix","hosts":["other.example.net"]}`) // it says what it ends, first
	r.must("cage_edit", `{"task":"fix","hosts":["other.example.net"],"confirm":true}`)
	for _, d := range denials() {
		if d["target"] == "other.example.net:443" {
			t.Errorf("it is allowed now, and still shown: %v", d)
		}
	}
	if got := denials(); len(got) != 2 {
		t.Errorf("the others are gone too: %v", got)
	}
}

// TestACageWithoutAHostSaysWhatItWasRefused: that it reaches nothing does not keep the person from seeing what it wanted.
func TestACageWithoutAHostSaysWhatItWasRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cagedShell("fix", "")
	asked := func() int {
		n := 0
		for _, d := range r.must("cage_denials", `{"task":"fix"}`)["denials"].([]any) {
			if d := d.(map[string]any); d["target"] == "other.invalid:443" && d["allow"] == "other.invalid" {
				n++
			}
		}
		return n
	}
	shown(t, r.inside("fix", connect("other.invalid:443")), "403")
	if asked() != 1 {
		t.Errorf("%v", r.must("cage_denials", `{"task":"fix"}`))
	}
	r.must("cage_edit", `{"task":"fix","hosts":["other.invalid"],"confirm":true}`)
	shown(t, r.inside("fix", connect("other.invalid:443")), "HTTP/1.1 5") // it passes the rule, and no such name is found
	if asked() != 0 {
		t.Errorf("what is allowed is still listed: %v", r.must("cage_denials", `{"task":"fix"}`))
	}
}

// serveInside starts a server in a task's cage, at 18080 of its own loopback.
func (r *rig) serveInside(task string) {
	r.t.Helper()
	r.inside(task, `echo from-the-cage > page.html; python3 -c 'import http.server as h, os
s = h.ThreadingHTTPServer(("127.0.0.1", 18080), h.SimpleHTTPRequestHandler)
os.fork() and os._exit(0)
s.serve_forever()' >/dev/null 2>&1`)
}

// getPage returns what is at a URL, over a connection of its own.
func getPage(url string) (string, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// TestAServerOfACageIsReachedOnlyWhenItWasOpened, by its name and until it is closed.
func TestAServerOfACageIsReachedOnlyWhenItWasOpened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cagedShell("fix", "")
	no := r.refused(refusal.Unavailable, "server_open", `{"task":"fix","port":18080}`)
	if !strings.Contains(no.Reason, "18080") {
		t.Errorf("reason: %s", no.Reason)
	}
	r.serveInside("fix")
	get := getPage
	if got, err := get("http://127.0.0.1:18080/page.html"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it is reached without having been opened: %q, %v", got, err)
	}
	opened := r.must("server_open", `{"task":"fix","port":18080}`)["server"].(map[string]any)
	url := opened["url"].(string)
	for range 3 {
		if got, err := get(url + "/page.html"); err != nil || got != "from-the-cage\n" {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	if again := r.must("server_open", `{"task":"fix","port":18080}`)["server"].(map[string]any); again["url"] != url {
		t.Errorf("opened twice: %v and %v", opened, again)
	}
	if list := r.must("server_list", `{"task":"fix"}`)["servers"].([]any); len(list) != 1 {
		t.Errorf("list: %v", list)
	}
	for _, port := range []int{24311, 24312} { // the cage's doors are for the cage
		r.refused(refusal.BadInput, "server_open", `{"task":"fix","port":%d}`, port)
	}
	r.must("server_close", `{"task":"fix","port":18080}`)
	if got, err := get(url + "/page.html"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it was closed and answers: %q, %v", got, err)
	}
	r.refused(refusal.NotFound, "server_close", `{"task":"fix","port":18080}`)
	url = r.must("server_open", `{"task":"fix","port":18080}`)["server"].(map[string]any)["url"].(string)
	r.must("task_archive", `{"task":"fix","force":true}`)
	if got, err := get(url + "/page.html"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the task is archived and its server answers: %q, %v", got, err)
	}
}

// TestOpeningAServerNeedsACageWithANetworkOfItsOwn: anywhere else its number would be the machine's.
func TestOpeningAServerNeedsACageWithANetworkOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.task("plain", "shell", "")
	r.refused(refusal.Conflict, "server_open", `{"task":"plain","port":18080}`)
}

// TestTheDiskOfATask: what an agent writes is counted, what a link leads to is not.
func TestTheDiskOfATask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cagedShell("fix", "")
	total := func() float64 {
		out := r.must("task_disk", `{"task":"fix"}`)
		if out["whole"] != true || len(out["use"].([]any)) != 4 || out["warning"] != nil {
			t.Errorf("disk: %v", out)
		}
		return out["total"].(float64)
	}
	before := total()
	r.inside("fix", "head -c 3000000 /dev/urandom > big; ln -s /usr out; truncate -s 100G sparse")
	if grown := total() - before; grown < 3e6 || grown > 4e6 {
		t.Errorf("3 MB were written and %.0f counted", grown)
	}
}

// insideTab is inside, in a tab by its name.
func (r *rig) insideTab(name, tab, line string) string {
	r.t.Helper()
	r.lines++
	mark := fmt.Sprintf("ran-%d", r.lines)
	r.must("task_send", `{"task":%q,"tab":%q,"text":%q}`, name, tab, line+"; echo "+mark+"-end")
	for deadline := time.Now().Add(time.Minute); ; {
		r.must("task_wait", `{"task":%q,"tab":%q,"timeoutMs":20000}`, name, tab)
		text, _ := r.must("task_log", `{"task":%q,"tab":%q}`, name, tab)["text"].(string)
		if strings.Contains(text, "\n"+mark+"-end") {
			return text
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s did not end:\n%s", line, text)
		}
	}
}

// TestFromWatchingToACage, on the built program: an agent is watched, a cage is drafted from what was seen, edited and applied;
// then one denial is allowed, and a server of it opened. Each step does beside it what it does not let through.
func TestFromWatchingToACage(t *testing.T) {
	t.Parallel()
	r := newBuilt(t).rig
	needed, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{needed, other} {
		put(t, "from "+dir+"\n", dir, "file")
	}
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	r.refused(refusal.BadInput, "task_new", `{"name":"fix","project":"demo","agent":"test","cage":"monitor","hosts":["example.org"]}`) // it has no limits
	made := r.must("task_new", `{"name":"fix","project":"demo","agent":"test","cage":"monitor"}`)["task"].(map[string]any)
	r.wait("fix")
	r.must("task_tab", `{"task":"fix","agent":"shell","name":"side"}`)
	r.refused(refusal.Conflict, "cage_draft", `{"task":%q}`, r.must("task_new", `{"name":"plain","project":"demo","agent":"shell"}`)["task"].(map[string]any)["id"]) // nothing was seen of that one

	// What watching breaks is said, and said of nothing else.
	for name, said := range map[string]bool{"fix": true, "plain": false} {
		if can := fmt.Sprint(r.must("task_status", `{"task":%q}`, name)["can"]); strings.Contains(can, "sudo") != said || !strings.Contains(can, "No cage") {
			t.Errorf("%s: %s", name, can)
		}
	}

	// Watched: everything is let through, and seen, and nothing else is.
	r.ask("fix", "write by-the-agent.txt made while watched\nsay written")
	shown(t, r.insideTab("fix", "side", fmt.Sprintf(`cat %s/file; exec 3<>/dev/tcp/%s; exec 3>&-; env | grep -c TERMIC_MCP_TOKEN; grep NoNewPrivs /proc/self/status`,
		needed, strings.Replace(host.Addr().String(), ":", "/", 1))), "from "+needed, "\n0\n")
	seen := map[string]string{}
	for _, thing := range r.must("task_watched", `{"task":"fix"}`)["things"].([]any) {
		one := thing.(map[string]any)
		seen[one["kind"].(string)+" "+one["what"].(string)] = one["tab"].(string)
	}
	for want, tab := range map[string]string{"write " + made["path"].(string): "test", "read " + needed: "side", "connect " + host.Addr().String(): "side"} {
		if seen[want] != tab {
			t.Errorf("%q was not seen in the tab %s: %v", want, tab, seen)
		}
	}
	if seen["read "+other] != "" {
		t.Errorf("what nobody read was seen: %v", seen)
	}

	// Drafted: what was used, and not what was not; nothing has changed yet.
	draft := r.must("cage_draft", `{"task":"fix"}`)
	if read := texts(draft["read"]); !slices.Contains(read, needed) || slices.Contains(read, other) || len(texts(draft["addresses"])) != 0 {
		t.Errorf("draft: %v", draft)
	}
	if mode := r.status("fix")["cage"]; mode != "monitor" {
		t.Errorf("a draft has made it %v", mode)
	}

	// Enforced: what was drafted is there, and nothing else; the agent works on.
	r.refused(refusal.Conflict, "cage_edit", `{"task":"fix","cage":"enforce","read":[%q],"hosts":["packages.example.org"]}`, needed)
	r.must("cage_edit", `{"task":"fix","cage":"enforce","read":[%q],"hosts":["packages.example.org"],"confirm":true}`, needed)
	r.wait("fix")
	shown(t, r.ask("fix", "write caged.txt made in the cage\nsay caged"), "caged")
	shown(t, r.insideTab("fix", "side", fmt.Sprintf(`cat %s/file; cat %s/file`, needed, other)), "from "+needed, other+"/file: No such file")

	// Denied once, and listed with the one rule; allowed, it passes the rule (and no such name is found), and is no more in the list.
	shown(t, r.insideTab("fix", "side", connect("api.invalid:443")), "403")
	denials := r.must("cage_denials", `{"task":"fix"}`)["denials"].([]any)
	if len(denials) != 1 || denials[0].(map[string]any)["allow"] != "api.invalid" {
		t.Fatalf("denials: %v", denials)
	}
	r.must("cage_edit", `{"task":"fix","hosts":["api.invalid"],"confirm":true}`)
	r.wait("fix")
	shown(t, r.insideTab("fix", "side", connect("api.invalid:443")), "HTTP/1.1 5")
	for _, d := range r.must("cage_denials", `{"task":"fix"}`)["denials"].([]any) {
		if d := d.(map[string]any); d["allow"] != nil || d["reason"] == denials[0].(map[string]any)["reason"] {
			t.Errorf("it is allowed, and still listed: %v", d)
		}
	}

	// Its server: refused, opened, closed.
	r.insideTab("fix", "side", `(python3 -m http.server --bind 127.0.0.1 18081 >/dev/null 2>&1 &) ; until (exec 3<>/dev/tcp/127.0.0.1/18081) 2>/dev/null; do :; done`)
	if _, err := getPage("http://127.0.0.1:18081/caged.txt"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it is reached without having been opened: %v", err)
	}
	url := r.must("server_open", `{"task":"fix","port":18081}`)["server"].(map[string]any)["url"].(string)
	if body, err := getPage(url + "/caged.txt"); err != nil || !strings.HasPrefix(body, "made in the cage") {
		t.Errorf("%q, %v", body, err)
	}
	r.must("server_close", `{"task":"fix","port":18081}`)
	if _, err := getPage(url + "/caged.txt"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it was closed and answers: %v", err)
	}
}

// TestClearingTheCachesOfATask: what its cage wrote goes when the person confirms, and the person's own below it stays.
func TestClearingTheCachesOfATask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own := put(t, "fetched by the person\n", filepath.Dir(r.repo), "home", ".npm", "_cacache", "index")
	r.cagedShell("fix", "")
	caches := func() float64 {
		for _, use := range r.must("task_disk", `{"task":"fix"}`)["use"].([]any) {
			if use := use.(map[string]any); use["what"] == "caches" {
				return use["bytes"].(float64)
			}
		}
		t.Fatal("no caches are counted")
		return 0
	}
	empty := caches()
	r.inside("fix", "grep -q person ~/.npm/_cacache/index; head -c 3000000 /dev/urandom > ~/.npm/_cacache/big; rm ~/.npm/_cacache/index")
	if grown := caches() - empty; grown < 3e6 || grown > 4e6 {
		t.Fatalf("3 MB were written and %.0f counted", grown)
	}
	if no := r.refused(refusal.Conflict, "caches_clear", `{"task":"fix"}`); !strings.Contains(no.Reason, "shell") {
		t.Errorf("what it ends is not said: %s", no.Reason)
	}
	r.inside("fix", "test -s ~/.npm/_cacache/big")
	out := r.must("caches_clear", `{"task":"fix","confirm":true}`)
	if freed := out["freed"].(float64); freed < 3e6 || fmt.Sprint(out["restarted"]) != "[shell]" || len(out["failed"].([]any)) != 0 {
		t.Errorf("%v", out)
	}
	r.wait("fix")
	r.inside("fix", "test ! -e ~/.npm/_cacache/big && grep -q person ~/.npm/_cacache/index")
	if left := caches(); left > empty {
		t.Errorf("%.0f bytes are left of %.0f", left, empty)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "fetched by the person\n" {
		t.Errorf("the person's own: %q, %v", text, err)
	}
	r.must("cage_edit", `{"task":"fix","cage":"off","confirm":true}`) // no cage runs: nothing ends, nothing is asked
	if out := r.must("caches_clear", `{"task":"fix"}`); len(out["restarted"].([]any)) != 0 || caches() != 0 {
		t.Errorf("%v", out)
	}
}
