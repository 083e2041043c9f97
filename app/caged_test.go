//go:build linux

package app

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"termic/app/task"
	"termic/mcpserver"
	"termic/registry"
	"termic/registry/grant"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
)

// cagedTask makes a task in a cage of mode enforce, with the scripted agent.
func (r *rig) cagedTask(name, more string) map[string]any {
	r.t.Helper()
	made := r.must("task_new", `{"name":%q,"project":"demo","agent":"test","cage":"enforce"%s}`, name, more)
	return made["task"].(map[string]any)
}

// ask sends a prompt, waits until its turn is over, and returns the terminal's text.
func (r *rig) ask(name, prompt string) string {
	r.t.Helper()
	r.must("task_send", `{"task":%q,"text":%q}`, name, prompt)
	if got := r.wait(name); got != "done" {
		r.t.Fatalf("outcome %q; log:\n%s", got, r.text(name))
	}
	return r.text(name)
}

func TestACagedAgentHasItsOwnPortAndToken(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("lead", `,"mcp":true`)
	r.wait("lead")
	shown(t, r.ask("lead", "env\ntools"), "env TERMIC_MCP_URL=http://127.0.0.1:24311/mcp", "env TERMIC_MCP_TOKEN (50 bytes)", "tools -> task_new ")
	can := fmt.Sprint(r.must("task_status", `{"task":"lead"}`)["can"])
	for _, want := range []string{"Reaches no host.", "Writes no files beyond its own checkout."} {
		if !strings.Contains(can, want) {
			t.Errorf("the task's status does not say %q: %s", want, can)
		}
	}
}

// Without the box, or with the endpoint off, there is neither token nor address, so that the advertisement is no lie.
func TestACageWithoutTheControlPlaneIsToldNothing(t *testing.T) {
	for name, c := range map[string]struct{ enabled, mcp string }{
		"not ticked": {"true", ""}, "endpoint off": {"false", `,"mcp":true`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.must("settings_set", `{"key":"mcp.enabled","value":%q}`, c.enabled)
			r.cagedTask("lead", c.mcp)
			r.wait("lead")
			text := r.ask("lead", "env")
			shown(t, text, "env TERMIC_TASK=lead")
			if strings.Contains(text, "TERMIC_MCP") {
				t.Errorf("it is told of the control plane:\n%s", text)
			}
		})
	}
}

func TestTakingTheControlPlaneAwayEndsNothingElse(t *testing.T) {
	for name, take := range map[string]func(r *rig){
		"unticked":     func(r *rig) { r.must("cage_edit", `{"task":"lead","mcp":false}`) },
		"endpoint off": func(r *rig) { r.must("settings_set", `{"key":"mcp.enabled","value":"false"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
			r.cagedTask("lead", `,"mcp":true`)
			r.wait("lead")
			shown(t, r.ask("lead", "tools\nlet x = call task_agents {}"), "tools -> task_new ")
			tab := r.must("task_status", `{"task":"lead"}`)["task"].(map[string]any)["tabs"].([]any)[0].(map[string]any)["id"]
			take(r)
			r.must("task_send", `{"task":"lead","text":"tools"}`)
			r.wait("lead")
			shown(t, r.text("lead"), "connection refused")
			status := r.must("task_status", `{"task":"lead"}`)["task"].(map[string]any)
			if again := status["tabs"].([]any)[0].(map[string]any)["id"]; again != tab {
				t.Errorf("tab %v became %v", tab, again)
			}
		})
	}
}

func TestAChangeToACageIsSaidBeforehandAndStartsTheTabsAgain(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	before := r.cagedTask("lead", `,"mcp":true`)
	r.wait("lead")
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"lead","hosts":["example.org"]}`)
	if !strings.Contains(no.Reason, "tabs test") {
		t.Errorf("it does not say what ends: %+v", no)
	}
	same := r.must("cage_edit", `{"task":"lead","cage":"enforce"}`)["task"].(map[string]any) // what changes nothing needs no yes
	if fmt.Sprint(same["tabs"]) == fmt.Sprint(before["tabs"]) && same["hosts"] != nil {
		t.Errorf("changed although refused: %v", same)
	}
	out := r.must("cage_edit", `{"task":"lead","hosts":["example.org"],"confirm":true}`)
	after := out["task"].(map[string]any)
	if fmt.Sprint(out["restarted"]) != "[test]" || fmt.Sprint(after["hosts"]) != "[example.org:443]" {
		t.Errorf("%v", out)
	}
	if id := func(task map[string]any) any { return task["tabs"].([]any)[0].(map[string]any)["id"] }; id(before) == id(after) {
		t.Error("the tab is the same")
	}
	r.wait("lead")
	shown(t, r.ask("lead", "env"), "env TERMIC_MCP_TOKEN (50 bytes)")
	r.refused(refusal.NotFound, "cage_edit", `{"task":"lead","drop":["example.com:443"],"confirm":true}`)
	dropped := r.must("cage_edit", `{"task":"lead","drop":["example.org:443"],"confirm":true}`)["task"].(map[string]any)
	if dropped["hosts"] != nil {
		t.Errorf("still there: %v", dropped["hosts"])
	}
	off := r.must("cage_edit", `{"task":"lead","cage":"off","confirm":true}`)["task"].(map[string]any)
	if off["cage"] != "off" || off["mcp"] != false {
		t.Errorf("%v", off)
	}
}

func TestATokenThatWasEndedComesBackWhenItIsAskedFor(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	before := r.cagedTask("lead", `,"mcp":true`)
	r.wait("lead")
	r.must("cage_edit", `{"task":"lead","mcp":true}`) // the twin: it has one, so nothing is to be done
	for _, held := range r.must("grant_list", `{}`)["grants"].([]any) {
		if grant := held.(map[string]any); grant["task"] == before["id"] {
			r.must("grant_revoke", `{"grant":%q}`, grant["id"])
		}
	}
	says := func() any { return r.must("task_status", `{"task":"lead"}`)["task"].(map[string]any)["mcp"] }
	if got := says(); got != false {
		t.Errorf("its status says mcp %v although its token ended", got)
	}
	r.refused(refusal.Conflict, "cage_edit", `{"task":"lead","mcp":true}`)
	r.must("cage_edit", `{"task":"lead","mcp":true,"confirm":true}`)
	r.wait("lead")
	if got := says(); got != true {
		t.Errorf("its status says mcp %v although it has a token again", got)
	}
	shown(t, r.ask("lead", "tools"), "tools -> task_new ")
}

func TestWhatATaskLosesItsDescendantsLoseWithIt(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.cagedTask("lead", `,"mcp":true,"hosts":["example.org","example.com"]`)
	r.wait("lead")
	r.ask("lead", `call task_new {"name":"hand","agent":"test"}`)
	r.wait("hand")
	task := func(name string) map[string]any {
		return r.must("task_status", `{"task":%q}`, name)["task"].(map[string]any)
	}
	made := task("hand")
	if fmt.Sprintf("%v %v %v", made["hosts"], made["mcp"], made["cage"]) != "[example.com:443 example.org:443] true enforce" {
		t.Fatalf("the worker did not inherit: %v", made)
	}
	tab := func(t map[string]any) any { return t["tabs"].([]any)[0].(map[string]any)["id"] }
	r.must("cage_edit", `{"task":"lead","hosts":["example.net"],"confirm":true}`) // the twin: more for the lead is nothing for the worker
	if again := task("hand"); tab(again) != tab(made) {
		t.Errorf("ended for nothing: %v", again)
	}
	no := r.refused(refusal.Conflict, "cage_edit", `{"task":"lead","drop":["example.org:443"]}`)
	if !strings.Contains(no.Reason, "hand") {
		t.Errorf("the worker is not named: %+v", no)
	}
	out := r.must("cage_edit", `{"task":"lead","drop":["example.org:443"],"confirm":true}`)
	if after := task("hand"); fmt.Sprint(out["narrowed"], after["hosts"]) != "[hand] [example.com:443]" || tab(after) == tab(made) {
		t.Errorf("%v, %v", out, after)
	}
	r.must("cage_edit", `{"task":"lead","mcp":false}`)
	unticked := task("hand")
	if unticked["mcp"] != false {
		t.Errorf("the worker kept the control plane: %v", unticked)
	}
	r.wait("hand")
	r.must("task_send", `{"task":"hand","text":"tools"}`)
	r.wait("hand")
	shown(t, r.text("hand"), "connection refused")
}

func TestNewTasksGetWhatTheProjectSays(t *testing.T) {
	r := newRig(t)
	r.must("project_settings", `{"project":"demo","cage":"enforce","hosts":["registry.example.org"],"mcp":true,"env":["FOO"]}`)
	seeded := r.must("task_new", `{"name":"seeded","agent":"test","hosts":["example.org"]}`)["task"].(map[string]any)
	if seeded["cage"] != "enforce" || seeded["mcp"] != true || fmt.Sprint(seeded["hosts"], seeded["env"]) != "[example.org:443 registry.example.org:443] [FOO]" {
		t.Errorf("%v", seeded)
	}
	own := r.must("task_new", `{"name":"own","agent":"test","cage":"off"}`)["task"].(map[string]any)
	if own["cage"] != "off" || own["mcp"] != false {
		t.Errorf("%v", own)
	}
	unticked := r.must("task_new", `{"name":"unticked","agent":"test","mcp":false}`)["task"].(map[string]any)
	if unticked["mcp"] != false {
		t.Errorf("%v", unticked)
	}
	r.must("project_settings", `{"project":"demo","drop":["all"],"cage":"off","mcp":false}`)
	plain := r.must("task_new", `{"name":"plain","agent":"test"}`)["task"].(map[string]any)
	if plain["cage"] != "off" || plain["hosts"] != nil {
		t.Errorf("%v", plain)
	}
}

// The door of a cage takes that cage's token and no other, and its token is of no use anywhere else.
func TestEachDoorTakesItsOwnTokenOnly(t *testing.T) {
	book := grant.NewBook()
	host := &mcpserver.Server{Auth: hostAuth{book: book}, Calls: offersNothing{}}
	e := &endpoint{book: book, log: discardLog(), enabled: true, url: "http://127.0.0.1:1/mcp", tokens: map[ident.Task]string{}, doors: map[ident.Task]*door{},
		server: &mcpserver.Endpoint{Server: host}}
	address, err := e.server.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.closeDoors(); _ = e.server.Stop(t.Context()) })
	cageDoor := func() (url, token string) {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url = "http://" + listener.Addr().String() + mcpserver.Path
		_, token, ok := e.Task(task.Record{ID: ident.NewTask(), Mode: capability.Enforce, MCP: true}, capability.Set{}, listener)
		if !ok {
			t.Fatal("no token")
		}
		return url, token
	}
	oneURL, oneToken := cageDoor()
	twoURL, twoToken := cageDoor()
	_, full, _ := e.Task(task.Record{ID: ident.NewTask(), Mode: capability.Off}, capability.Unbounded(), nil)
	_, shared, _ := e.Task(task.Record{ID: ident.NewTask(), Mode: capability.EnforceFS, MCP: true}, capability.Set{}, nil)
	hostURL := mcpserver.URL(address)
	for name, c := range map[string]struct {
		url, token string
		want       int
	}{
		"its own":                       {oneURL, oneToken, http.StatusOK},
		"its own, the other":            {twoURL, twoToken, http.StatusOK},
		"another cage's":                {oneURL, twoToken, http.StatusUnauthorized},
		"a full one":                    {oneURL, full, http.StatusUnauthorized},
		"one for the host's port":       {oneURL, shared, http.StatusUnauthorized},
		"a cage's at the host's port":   {hostURL, oneToken, http.StatusUnauthorized},
		"a full one at the host's port": {hostURL, full, http.StatusOK},
		"a shared one there":            {hostURL, shared, http.StatusOK},
	} {
		if got := discover(t, c.url, c.token); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// offersNothing is a router without verbs.
type offersNothing struct{ mcpserver.Calls }

func (offersNothing) Verbs(registry.Caller) []*registry.Verb { return nil }
