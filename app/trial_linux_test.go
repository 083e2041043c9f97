//go:build linux

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/pty"
	"termic/app/task"
	"termic/registry/refusal"
)

// agentFile writes a definition of the person's own; %s in it is the scripted agent.
func (r *rig) agentFile(id, text string) {
	r.t.Helper()
	dir := filepath.Join(r.dir, "agents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "%s", testAgent)
	if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// A whole definition of the scripted agent, as a person would write it.
const scripted = `{
  // its titles say what it does
  "command": ["%s"],
  "version": ["-version"], "tried": "1.0.0",
  "settle": {"titles": {"working": ["^\u280b|working"], "waiting": ["Action Required"], "idle": ["ready$"]}, "quiet": "2s"},
  "box": {"empty": "^(. )?> $"},
}`

// steps returns the verdict of each step of a test, and what was seen.
func steps(result map[string]any) (verdicts, saw map[string]string) {
	verdicts, saw = map[string]string{}, map[string]string{}
	for _, one := range result["steps"].([]any) {
		step := one.(map[string]any)
		name := step["step"].(string)
		verdicts[name], saw[name] = step["state"].(string), step["saw"].(string)
	}
	return verdicts, saw
}

func TestAnAgentsDefinitionIsTestedStepByStep(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		name, file, prompt string
		want               string // verdicts by step, and a word of what was seen
		outcome            string
	}{
		{"one that is whole", scripted, "say hello",
			"program ok /testagent; version ok testagent 1.0.0; start ok title; box ok empty; prompt ok taken; answer ok title; hooks skipped outside; end ok nothing is left", "works"},
		{"without a prompt nothing is sent", scripted, "",
			"start ok title; prompt skipped none; hooks skipped ; end ok nothing is left", "works"},
		{"one of which only the program is known", `{"command":["%s","-signals="]}`, "",
			"version skipped how to ask; start warning silence alone; box warning \"> \"; end ok ", "works"},
		{"one that is older than what was tried", strings.Replace(scripted, `"1.0.0"`, `"1.2"`, 1), "",
			"version warning older than 1.2; start ok title", "works"},
		{"one of the next major version", strings.Replace(scripted, `"1.0.0"`, `"0.9"`, 1), "",
			"version warning another major version than 0.9; start ok title", "works"},
		{"one that asks at its start", strings.Replace(scripted, `["%s"]`, `["%s","-trust"]`, 1), "say hello",
			"start failed it asks something; end ok ", "fails"},
		{"one that asks in the middle", scripted, "work 500ms\nask May I?",
			"prompt ok taken; answer warning it asks something; end ok ", "works"},
		{"one whose box is another", strings.Replace(scripted, `(. )?> $`, `% $`, 1), "say hello",
			"start ok title; box failed \"> \"; prompt failed box; end ok ", "fails"},
		{"one that ends at once", `{"command":["/bin/sh","-c","echo bad key; exit 3"]}`, "",
			"program ok /bin/sh; start failed with status 3; end ok by itself", "fails"},
		{"one that rests before its box is drawn", `{"command":["/bin/sh","-c","printf '\\033]2;ready\\007'; sleep 2; printf '> '; read x"],
			"settle":{"titles":{"idle":["ready$"]}},"box":{"empty":"^> $"}}`, "",
			"start ok title; box ok empty", "works"},
		{"one that starts something of its own at its end", `{"command":["/bin/sh","-c","printf '> '; trap 'setsid sleep 1 & sleep 0.5; exit' HUP; while :; do sleep 0.1; done"]}`, "",
			"end ok nothing is left", "works"},
		{"one that leaves something behind", `{"command":["/bin/sh","-c","printf '> '; trap 'setsid sleep 300 & sleep 0.5; exit' HUP; while :; do sleep 0.1; done"]}`, "",
			"end warning [\"sleep\"]", "works"},
		{"one that is not installed", `{"command":["no-such-agent"]}`, "", "program failed no-such-agent", "fails"},
		{"one that never says that it is ready", strings.Replace(scripted, `ready$`, `never`, 1), "",
			"start failed still starting", "fails"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.agentFile("mine", c.file)
			limit := 30000
			if strings.Contains(c.want, "still starting") {
				limit = 1500
			}
			result := r.must("agent_test", `{"id":"mine","prompt":%q,"timeoutMs":%d}`, c.prompt, limit)
			verdicts, saw := steps(result)
			for part := range strings.SplitSeq(c.want, "; ") {
				words := strings.SplitN(part, " ", 3)
				if verdicts[words[0]] != words[1] || !strings.Contains(saw[words[0]], words[2]) {
					t.Errorf("%s: %s %q, want %s", words[0], verdicts[words[0]], saw[words[0]], part)
				}
			}
			if result["outcome"] != c.outcome {
				t.Errorf("outcome %v: %v", result["outcome"], saw)
			}
			r.nothingTried(t)
		})
	}
}

// nothingTried checks that no trial left anything: no directory, no process, no tab.
func (r *rig) nothingTried(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(r.dir, "trials"))
	if err != nil && !os.IsNotExist(err) || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if marked := r.tried(t); len(marked) > 0 {
		t.Errorf("processes left: %v", marked)
	}
}

// tried are the processes of trials of this rig's agents.
func (r *rig) tried(t *testing.T) (found []pty.Process) {
	t.Helper()
	list, err := pty.Marked(task.EnvTask)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
		if p.Value == "agent-test" && strings.HasPrefix(dir, r.dir) {
			found = append(found, p)
		}
	}
	return found
}

func TestATrialThatIsGivenUpLeavesNothing(t *testing.T) {
	r := newRig(t)
	// It never says that it is ready, ignores the end of its terminal, and has a child in a session of its own.
	r.agentFile("stubborn", `{"command":["/bin/sh","-c","trap '' HUP TERM; setsid sleep 300 & echo up; while :; do sleep 1; done"],
		"settle":{"titles":{"idle":["never"]}}}`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.client.Call(ctx, "agent_test", json.RawMessage(`{"id":"stubborn","timeoutMs":600000}`))
		ended <- err
	}()
	eventually(t, "both of its processes run", func() bool {
		names := map[string]bool{}
		for _, p := range r.tried(t) {
			names[p.Name] = true
		}
		return names["sh"] && names["sleep"]
	})
	r.refused(refusal.Busy, "agent_test", `{"id":"test"}`)
	cancel()
	<-ended
	eventually(t, "nothing of it is left", func() bool {
		left, _ := os.ReadDir(filepath.Join(r.dir, "trials"))
		return len(left) == 0 && len(r.tried(t)) == 0
	})
	// And the end of the app ends one as well.
	go r.client.Call(t.Context(), "agent_test", json.RawMessage(`{"id":"stubborn","timeoutMs":600000}`))
	eventually(t, "it runs again", func() bool { return len(r.tried(t)) >= 2 })
	r.restart()
	r.nothingTried(t)
}

func TestAPersonsAgentsAreFiles(t *testing.T) {
	r := newRig(t)
	r.agentFile("mine", scripted)
	r.agentFile("broken", "{\n  \"command\": [\"x\"],\n  \"titel\": \"X\"\n}")
	listed := r.must("task_agents", `{}`)
	if got := fmt.Sprint(listed["faults"]); got != "[broken.json:3:12: titel: no such member]" {
		t.Errorf("faults: %s", got)
	}
	if text := fmt.Sprint(listed["agents"]); !strings.Contains(text, "id:mine") || strings.Contains(text, "broken") {
		t.Errorf("listed: %s", text)
	}
	if no := r.refused(refusal.BadInput, "task_new", `{"name":"a","project":"demo","agent":"broken"}`); !strings.Contains(no.Reason, "broken.json:3:12: titel: no such member") {
		t.Errorf("said: %s", no.Reason)
	}
	if text := fmt.Sprint(r.must("doctor", `{}`)["checks"]); !strings.Contains(text, "broken.json:3:12") {
		t.Errorf("doctor: %s", text)
	}
	r.refused(refusal.Conflict, "agent_remove", `{"id":"mine"}`)
	r.refused(refusal.Conflict, "agent_add", `{"id":"mine","command":"x"}`)
	r.task("works", "mine", "say hello")
	if got := r.wait("works"); got != "done" {
		t.Errorf("wait: %s", got)
	}
	r.restart() // a file that is broken keeps nobody from starting
	r.must("task_tab", `{"task":"works","agent":"mine","name":"again"}`)
}

func TestAnUnsupportedVersionIsSaidAndNotRefused(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ id, tried, want string }{
		{"now", "1.0.0", ""},
		{"old", "1.5.0", "older than 1.5.0"},
	} {
		r.agentFile(c.id, strings.Replace(scripted, `"1.0.0"`, `"`+c.tried+`"`, 1))
		said := map[string]string{}
		made := r.must("task_new", `{"name":%q,"project":"demo","agent":%q}`, "t-"+c.id, c.id)
		said["task_new"], _ = made["notice"].(string)
		said["task_tab"], _ = r.must("task_tab", `{"task":%q,"agent":%q}`, "t-"+c.id, c.id)["notice"].(string)
		for _, one := range r.must("task_agents", `{}`)["agents"].([]any) {
			if a := one.(map[string]any); a["id"] == c.id {
				said["task_agents"], _ = a["notice"].(string)
			}
		}
		for _, one := range r.must("doctor", `{}`)["checks"].([]any) {
			check := one.(map[string]any)
			if state := check["state"]; check["name"] == "agent "+c.id && (state == "warning") != (c.want != "") {
				t.Errorf("doctor of %s: %v", c.id, check)
			}
		}
		for where, text := range said {
			if c.want == "" && text != "" || !strings.HasPrefix(text, c.want) {
				t.Errorf("%s of %s says %q, want %q", where, c.id, text, c.want)
			}
		}
		if len(said) != 3 {
			t.Errorf("%s was listed nowhere: %v", c.id, said)
		}
	}
}
