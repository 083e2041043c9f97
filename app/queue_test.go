package app

import (
	"encoding/json"
	"strings"
	"testing"

	"termic/registry/refusal"
)

// queue returns the texts that wait in a task's main tab.
func (r *rig) queue(name string) []map[string]any {
	r.t.Helper()
	var list []map[string]any
	for _, one := range r.must("queue_list", `{"task":%q}`, name)["texts"].([]any) {
		list = append(list, one.(map[string]any))
	}
	return list
}

func TestTheQueueIsChangedByVerbsAndSurvivesARestart(t *testing.T) {
	r := newRig(t)
	r.task("fix", "test", "")
	r.wait("fix")
	r.must("task_send", `{"task":"fix","text":"work 30s"}`)
	for _, text := range []string{"say one", "say two", "say three"} {
		if sent := r.must("task_send", `{"task":"fix","text":%q}`, text); sent["delivery"] != "queued" || sent["why"] == "" {
			t.Errorf("%v", sent)
		}
	}
	list := r.queue("fix")
	if len(list) != 3 || list[0]["from"] != "cli" {
		t.Fatalf("%v", list)
	}
	r.must("queue_edit", `{"task":"fix","id":%q,"place":0}`, list[2]["id"])
	r.must("queue_edit", `{"task":"fix","id":%q,"text":"say second"}`, list[1]["id"])
	r.must("queue_cancel", `{"task":"fix","id":%q}`, list[0]["id"])
	r.refused(refusal.NotFound, "queue_cancel", `{"task":"fix","id":%q}`, list[0]["id"])
	r.refused(refusal.BadInput, "queue_cancel", `{"task":"fix"}`)
	r.refused(refusal.BadInput, "queue_edit", `{"task":"fix","id":%q}`, list[1]["id"])
	r.restart()
	list = r.queue("fix")
	if len(list) != 2 || list[0]["text"] != "say three" || list[1]["text"] != "say second" {
		t.Fatalf("after a restart %v", list)
	}
	r.must("task_tab", `{"task":"fix","agent":"test","name":"test"}`) // takes the place of the tab that was
	if got := r.wait("fix"); got != "done" {
		t.Fatalf("outcome %q; log:\n%s", got, r.text("fix"))
	}
	text := r.text("fix")
	if three, second := strings.Index(text, "\nthree"), strings.Index(text, "\nsecond"); three < 0 || second < three || strings.Contains(text, "\none") {
		t.Errorf("log:\n%s", text)
	}
	if list := r.queue("fix"); len(list) != 0 {
		t.Errorf("still queued: %v", list)
	}
	r.restart()
	if list := r.queue("fix"); len(list) != 0 {
		t.Errorf("delivered, and back after a restart: %v", list)
	}
}

// A text whose sender was an agent does not outlive the app: its token did not. It is dropped at delivery, shown, and recorded.
func TestTheTextOfAnAgentDoesNotOutliveItsToken(t *testing.T) {
	r := newRig(t)
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	r.task("worker", "test", "")
	r.wait("worker")
	r.must("task_send", `{"task":"worker","text":"work 30s"}`)
	r.task("lead", "test", `call task_send {"task":"worker","text":"say from an agent"}`)
	if got := r.wait("lead"); got != "done" {
		t.Fatalf("outcome %q", got)
	}
	r.must("task_send", `{"task":"worker","text":"say from the person"}`) // the twin
	if list := r.queue("worker"); len(list) != 2 || list[0]["task"] == nil {
		t.Fatalf("%v", list)
	}
	r.restart()
	r.must("task_tab", `{"task":"worker","agent":"test","name":"test"}`)
	if got := r.wait("worker"); got != "done" {
		t.Fatalf("outcome %q", got)
	}
	text := r.text("worker")
	if strings.Contains(text, "from an agent") || !strings.Contains(text, "\nfrom the person") {
		t.Errorf("log:\n%s", text)
	}
	past := r.must("queue_list", `{"task":"worker"}`)["past"].([]any)
	if len(past) == 0 || past[0].(map[string]any)["fate"] != "dropped" {
		t.Errorf("%v", past)
	}
	audited := r.must("audit_tail", `{"lines":200}`)
	if !strings.Contains(jsonOf(t, audited), "after a restart") {
		t.Errorf("the refusal is not recorded")
	}
}

// What waits in a tab that ends for good is recorded, whoever sent it.
func TestATextThatIsLostWithItsTabIsRecorded(t *testing.T) {
	r := newRig(t)
	r.task("fix", "test", "")
	r.wait("fix")
	r.must("task_send", `{"task":"fix","text":"work 30s"}`)
	r.must("task_send", `{"task":"fix","text":"say lost"}`)
	r.must("task_archive", `{"task":"fix","force":true}`)
	if audited := jsonOf(t, r.must("audit_tail", `{"lines":200}`)); !strings.Contains(audited, `"rule":"queue"`) {
		t.Errorf("%s", audited)
	}
	r.must("task_restore", `{"task":"fix"}`)
	r.must("task_tab", `{"task":"fix","agent":"test"}`)
	r.wait("fix")
	if text := r.text("fix"); strings.Contains(text, "lost") {
		t.Errorf("log:\n%s", text)
	}
}

func TestABroadcastIsDecidedAtEachTarget(t *testing.T) {
	r := newRig(t)
	r.task("one", "test", "")
	r.task("two", "test", "")
	r.wait("one")
	r.wait("two")
	out := r.must("task_broadcast", `{"targets":["one","two:test","none"],"text":"say to all"}`)
	results := out["results"].([]any)
	var got []string
	for _, result := range results {
		got = append(got, result.(map[string]any)["delivery"].(string))
	}
	if strings.Join(got, " ") != "submitted submitted refused" || results[2].(map[string]any)["code"] != "not_found" || out["sent"] != 2.0 || out["outcome"] != "some" {
		t.Fatalf("%v", out)
	}
	if none := r.must("task_broadcast", `{"targets":["none","nobody"],"text":"x"}`); none["outcome"] != "none" {
		t.Errorf("%v", none)
	}
	r.refused(refusal.BadInput, "task_broadcast", `{"targets":["one"]}`)
	r.refused(refusal.BadInput, "task_broadcast", `{"targets":["one"],"text":"\u0007 \n"}`)
	r.refused(refusal.BadInput, "task_send", `{"task":"one","text":"x","repeat":0}`)
	all := r.must("task_wait", `{"task":"one","also":["two"],"timeoutMs":60000}`)
	if all["outcome"] != "done" || len(all["each"].([]any)) != 2 {
		t.Errorf("%v", all)
	}
	for _, name := range []string{"one", "two"} {
		if text := r.text(name); !strings.Contains(text, "\nto all") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	r.must("task_send", `{"task":"two","text":"work 30s"}`)
	if first := r.must("task_wait", `{"task":"two","also":["one"],"until":"any","timeoutMs":60000}`); first["outcome"] != "done" {
		t.Errorf("%v", first)
	}
	if all := r.must("task_wait", `{"task":"two","also":["one"],"timeoutMs":300}`); all["outcome"] != "timeout" {
		t.Errorf("%v", all)
	}
	if none := r.must("task_wait", `{"task":"one","tab":"*","also":["none"],"timeoutMs":300}`); !strings.Contains(jsonOf(t, none), `"refused"`) {
		t.Errorf("%v", none)
	}
}

// TestAnEndedTabsQueueSaysOnlyWhatWaits: nothing is held back where nothing waits.
func TestAnEndedTabsQueueSaysOnlyWhatWaits(t *testing.T) {
	r := newRig(t)
	r.task("one", "test", "")
	r.must("task_send", `{"task":"one","text":"exit 0"}`)
	if out := r.must("task_wait", `{"task":"one","timeoutMs":60000}`); out["outcome"] != "exited" {
		t.Fatalf("%v", out)
	}
	if out := r.must("queue_list", `{"task":"one"}`); out["hold"] != nil || len(out["texts"].([]any)) != 0 {
		t.Errorf("%v", out)
	}
}

func TestASavedPromptIsComposedWithText(t *testing.T) {
	r := newRig(t)
	made := r.must("task_new", `{"name":"fix","project":"demo","agent":"test","promptId":"explain","prompt":"say composed"}`)
	if made["delivery"] == "none" {
		t.Errorf("%v", made["delivery"])
	}
	r.wait("fix")
	if text := r.text("fix"); !strings.Contains(text, "\ncomposed") {
		t.Errorf("log:\n%s", text)
	}
	r.must("task_send", `{"task":"fix","promptId":"commit","text":"say once more"}`)
	r.wait("fix")
	if text := r.text("fix"); !strings.Contains(text, "\nonce more") {
		t.Errorf("log:\n%s", text)
	}
	r.refused(refusal.NotFound, "task_send", `{"task":"fix","promptId":"none","text":"x"}`)
	r.refused(refusal.BadInput, "task_send", `{"task":"fix"}`)
	if shown := r.must("prompts", `{"id":"review"}`); !strings.Contains(shown["text"].(string), "Review the change") {
		t.Errorf("%v", shown)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
