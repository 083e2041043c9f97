package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termic/app/ctl"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// fakeApp is an app with a real socket and a real router, whose handlers answer by the name of the task.
type fakeApp struct {
	dir    string
	router *registry.Router
	// begun gets the name of each verb whose call arrived.
	begun chan string
	stop  func()
	// stream is what the one ticket opens.
	stream *fakeTab
	mu     sync.Mutex // guards what follows
	calls  []string
	waits  int
}

// startApp starts an app and hands later what ends it.
func startApp(t *testing.T, later func(func())) *fakeApp {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cli") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	app := &fakeApp{dir: dir, begun: make(chan string, 100), stream: newFakeTab(), router: registry.NewRouter(allowAll{}, allowAll{}, log, verbs.All()...)}
	app.bind()
	l, err := ctl.Listen(dir, "test-token", log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ctl.Serve(ctx, l, app, app, log) }()
	app.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop the app: %v", err)
		}
	})
	later(func() { app.stop(); os.RemoveAll(dir) })
	return app
}

// allowAll lets everybody do everything and records nothing: who may do what is no business of this package.
type allowAll struct{}

func (allowAll) Check(context.Context, registry.Caller, *registry.Verb, registry.Target) registry.Decision {
	return registry.Decision{Allow: true}
}
func (allowAll) Record(context.Context, registry.Event) error { return nil }

// Dispatch records the call as it came, then lets the router have it.
func (app *fakeApp) Dispatch(ctx context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error) {
	app.mu.Lock()
	app.calls = append(app.calls, verb+" "+string(raw))
	app.mu.Unlock()
	select {
	case app.begun <- verb:
	default:
	}
	if verb == verbs.TaskWait.Verb().Name && bytes.Contains(raw, []byte(`"quit"`)) {
		go app.stop()
	}
	return app.router.Dispatch(ctx, caller, verb, raw)
}

func (app *fakeApp) takeCalls() []string {
	app.mu.Lock()
	defer app.mu.Unlock()
	calls := app.calls
	app.calls = nil
	return calls
}

// refuseByName refuses a task named refuse-CODE with that code.
func refuseByName(task string) error {
	if code, ok := strings.CutPrefix(task, "refuse-"); ok {
		return refusal.New(refusal.Code(code), "this task is for "+code, "take another task")
	}
	return nil
}

func sampleTask(name string) verbs.Task {
	return verbs.Task{
		ID: "t-aaaaaaaaaaaaaaaa", Name: name, Project: "p-aaaaaaaaaaaaaaaa", ProjectName: "shop",
		Branch: "termic/" + name, Base: "0123abc", Path: "/checkouts/" + name, Agent: "claude", Cage: "off",
		State: "working", Signal: "osc", Created: "2026-01-02T03:04:05Z",
		Tabs: []verbs.Tab{
			{ID: "b-aaaaaaaaaaaaaaaa", Name: "claude", Agent: "claude", State: "working", Signal: "osc", Since: "2026-01-02T03:04:05Z"},
			{ID: "b-bbbbbbbbbbbbbbbb", Name: "shell", Agent: "shell", State: "idle", Signal: "quiet", Since: "2026-01-02T03:04:05Z", Queued: 12},
		},
	}
}

func (app *fakeApp) bind() {
	bind(app, verbs.TaskNew, func(_ context.Context, in verbs.TaskNewIn) (verbs.TaskNewOut, error) {
		return verbs.TaskNewOut{Task: sampleTask(in.Name), Delivery: "queued"}, refuseByName(in.Name)
	})
	bind(app, verbs.TaskSend, func(_ context.Context, in verbs.TaskSendIn) (verbs.TaskSendOut, error) {
		return verbs.TaskSendOut{Task: in.Task, Tab: "b-aaaaaaaaaaaaaaaa", Delivery: "submitted"}, refuseByName(in.Task)
	})
	bind(app, verbs.TaskWait, app.wait)
	bind(app, verbs.TaskStatus, func(_ context.Context, in verbs.TaskStatusIn) (verbs.TaskStatusOut, error) {
		return verbs.TaskStatusOut{Task: sampleTask(in.Task)}, refuseByName(in.Task)
	})
	bind(app, verbs.TaskLog, func(_ context.Context, in verbs.TaskLogIn) (verbs.TaskLogOut, error) {
		text := "line one\nline \x1b]0;title\atwo\n"
		if in.Task == "silent" {
			text = ""
		}
		return verbs.TaskLogOut{Tab: "b-aaaaaaaaaaaaaaaa", Text: text, Truncated: in.Lines == 2}, nil
	})
	bind(app, verbs.TaskDiff, func(_ context.Context, in verbs.TaskDiffIn) (verbs.TaskDiffOut, error) {
		out := verbs.TaskDiffOut{Base: "0123abc", Patch: "--- a/x\n+++ b/x\n", Truncated: in.Task == "large"}
		if in.Task != "clean" {
			out.Files = []verbs.FileChange{{Path: "cmd/main.go", Kind: "modified", Added: 120, Removed: 3}, {Path: "x", Kind: "added", Added: 1}}
		}
		if in.Task == "large" {
			out.Files = append(out.Files, verbs.FileChange{Path: "video.mp4", Kind: "added", Binary: true, Large: true}, verbs.FileChange{Path: "vendor/lib", Kind: "added", Nested: true})
		}
		if in.Stat || in.Task == "clean" {
			out.Patch = ""
		}
		return out, nil
	})
	bind(app, verbs.TaskList, func(_ context.Context, in verbs.TaskListIn) (verbs.TaskListOut, error) {
		if in.Archived {
			return verbs.TaskListOut{}, nil
		}
		return verbs.TaskListOut{Tasks: []verbs.Task{sampleTask("fix-login"), sampleTask("fix-logout")}}, nil
	})
	bind(app, verbs.TaskApply, func(_ context.Context, in verbs.TaskApplyIn) (verbs.TaskApplyOut, error) {
		return verbs.TaskApplyOut{Outcome: in.Task, As: "changes"}, nil // the outcome that the task is named by
	})
	bind(app, verbs.TaskArchive, func(_ context.Context, in verbs.TaskArchiveIn) (verbs.TaskArchiveOut, error) {
		return verbs.TaskArchiveOut{Task: sampleTask(in.Task), Kept: []string{"branch termic/x", "2 untracked files"}}, nil
	})
	bind(app, verbs.TaskTabClose, func(context.Context, verbs.TaskTabCloseIn) (verbs.None, error) { return verbs.None{}, nil })
	bind(app, verbs.TaskTab, func(_ context.Context, in verbs.TaskTabIn) (verbs.TabOut, error) {
		return verbs.TabOut{Tab: sampleTask(in.Task).Tabs[1]}, nil
	})
	bind(app, verbs.TaskAttach, func(_ context.Context, in verbs.TaskAttachIn) (verbs.TaskAttachOut, error) {
		return verbs.TaskAttachOut{Tab: "b-aaaaaaaaaaaaaaaa", Ticket: "ticket-1"}, refuseByName(in.Task)
	})
	bind(app, verbs.ProjectAdd, func(_ context.Context, in verbs.ProjectAddIn) (verbs.ProjectOut, error) {
		return verbs.ProjectOut{Project: verbs.Project{ID: "p-aaaaaaaaaaaaaaaa", Name: "shop", Path: in.Path, DefaultBranch: "main"}}, nil
	})
	bind(app, verbs.AgentAdd, func(_ context.Context, in verbs.AgentAddIn) (verbs.AgentOut, error) {
		return verbs.AgentOut{Agent: verbs.Agent{ID: in.ID, Title: in.ID}}, nil
	})
	bind(app, verbs.TaskAgents, func(context.Context, verbs.None) (verbs.TaskAgentsOut, error) {
		return verbs.TaskAgentsOut{Agents: []verbs.Agent{{ID: "claude", Title: "Claude Code", Builtin: true, Installed: true}, {ID: "shell", Title: "Shell", Builtin: true}}, Default: "claude"}, nil
	})
}

func bind[In, Out any](app *fakeApp, spec registry.Spec[In, Out], handle func(context.Context, In) (Out, error)) {
	registry.Bind(app.router, spec, func(ctx context.Context, _ registry.Call, in In) (Out, error) { return handle(ctx, in) })
}

// wait answers with the outcome that the task is named by: "done", "needs_input", …; "slow" is done at the
// third call, "never" is timed out each time, "forever" waits for the caller to go away.
func (app *fakeApp) wait(ctx context.Context, in verbs.TaskWaitIn) (verbs.TaskWaitOut, error) {
	out := verbs.TaskWaitOut{Task: "t-aaaaaaaaaaaaaaaa", Tab: "b-aaaaaaaaaaaaaaaa", Outcome: in.Task, State: "working", Signal: "osc"}
	switch in.Task {
	case "t-aaaaaaaaaaaaaaaa":
		out.Outcome, out.State = "done", "done"
	case "slow":
		app.mu.Lock()
		defer app.mu.Unlock()
		if app.waits++; app.waits < 3 {
			out.Outcome = "timeout"
		} else {
			out.Outcome, out.State = "done", "done"
		}
	case "never":
		select {
		case <-time.After(time.Duration(in.TimeoutMS) * time.Millisecond):
		case <-ctx.Done():
		}
		out.Outcome = "timeout"
	case "forever", "quit":
		<-ctx.Done()
		return out, ctx.Err()
	}
	return out, refuseByName(in.Task)
}

// fakeTab is a terminal that draws a screen and echoes what is typed, in capitals. "exit N" ends it.
type fakeTab struct {
	output *io.PipeReader
	input  *io.PipeWriter
	status int
	sizes  chan [2]int
	closed chan struct{}
	once   sync.Once
}

func newFakeTab() *fakeTab {
	tab := &fakeTab{sizes: make(chan [2]int, 10), closed: make(chan struct{})}
	tab.output, tab.input = io.Pipe()
	return tab
}

func (app *fakeApp) Open(_ context.Context, ticket string) (ctl.Stream, error) {
	if ticket != "ticket-1" {
		return nil, refusal.New(refusal.NotFound, "no such ticket", "attach again")
	}
	go func() { _, _ = io.WriteString(app.stream.input, "the screen\r\n") }()
	return app.stream, nil
}

func (tab *fakeTab) Read(p []byte) (int, error) { return tab.output.Read(p) }
func (tab *fakeTab) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("exit 3")) {
		tab.status = 3
		return len(p), tab.input.Close()
	}
	_, err := tab.input.Write(bytes.ToUpper(p))
	return len(p), err
}
func (tab *fakeTab) Resize(cols, rows int) error { tab.sizes <- [2]int{cols, rows}; return nil }
func (tab *fakeTab) Status() int                 { return tab.status }
func (tab *fakeTab) Close() error {
	tab.once.Do(func() { tab.output.CloseWithError(net.ErrClosed); close(tab.closed) })
	return nil
}

// The fake must be able to say every code, or the scripts could not try each.
func TestTheFakeRefusesWithEveryCode(t *testing.T) {
	script, err := os.ReadFile("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range refusal.Codes() {
		no, ok := refusal.From(refuseByName("refuse-" + string(info.Code)))
		if !ok || no.Code != info.Code {
			t.Errorf("the fake does not refuse with %s", info.Code)
		}
		if !strings.Contains(string(script), "refuse-"+string(info.Code)+"\n") {
			t.Errorf("refusals.txt does not try %s", info.Code)
		}
	}
	if err := refuseByName("fix-login"); err != nil {
		t.Error(err)
	}
}

var errNone = errors.New("none") // an error that is no refusal

func TestAnErrorThatIsNoRefusalIsInternalAndShown(t *testing.T) {
	var out, said bytes.Buffer
	if status := finish(newPrinter(&out, &said, false), errNone); status != 1 || !slices.Contains(strings.Split(said.String(), "\n"), "termic: none") || out.Len() > 0 {
		t.Errorf("status %d, stdout %q, stderr %q", status, &out, &said)
	}
}
