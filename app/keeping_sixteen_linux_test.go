package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"termic/app/gui"
)

// TestSixteenTasksAtOnceFromEveryWayIn: tasks of one repository, asked for at once by the built command line, over MCP and by the
// window's page, are all made, and nobody ever sees half of one. The repository is that of bug report A1 (shared notes): a
// remote, and branch.autoSetupMerge=always, so that each new branch would write the one configuration file.
func TestSixteenTasksAtOnceFromEveryWayIn(t *testing.T) {
	r := newRig(t)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	var page atomic.Pointer[gui.Server]
	r.window = func(s *gui.Server) { page.Store(s) }
	r.start()
	r.must("settings_set", `{"key":"mcp.enabled","value":"true"}`)
	origin := filepath.Join(t.TempDir(), "origin.git")
	runGit(t, "clone", "-q", "--bare", r.repo, origin)
	runGit(t, "-C", r.repo, "remote", "add", "origin", "file://"+origin)
	runGit(t, "-C", r.repo, "fetch", "-q")
	runGit(t, "-C", r.repo, "config", "branch.autoSetupMerge", "always")
	url, token := r.url(), r.secret("mcp-token")

	ways := []func(name string) error{
		func(name string) error {
			cmd := exec.Command(testTermic, "new", name, "--project", "demo", "--agent", "shell", "--base", "origin/main")
			cmd.Env = append(r.environ, "TERMIC_DATA_DIR="+r.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		},
		func(name string) error {
			code, err := callOver(url, token, "task_new", fmt.Sprintf(`{"name":%q,"project":"demo","agent":"shell","base":"origin/main"}`, name))
			if err == nil && code != "" {
				err = fmt.Errorf("refused: %s", code)
			}
			return err
		},
		func(name string) error {
			answer := httptest.NewRecorder()
			body := fmt.Sprintf(`{"name":%q,"project":"demo","agent":"shell","base":"origin/main","fetch":true}`, name)
			page.Load().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/call/task_new", strings.NewReader(body)))
			if !strings.Contains(answer.Body.String(), `"result"`) {
				return fmt.Errorf("the page was told: %s", answer.Body)
			}
			return nil
		},
	}
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { // everything that is shown is whole
		for {
			raw, err := r.client.Call(context.Background(), "task_list", json.RawMessage(`{}`))
			var list struct {
				Tasks []struct{ Name, Path, Branch, Base string }
			}
			if err == nil {
				err = json.Unmarshal(raw, &list)
			}
			if err != nil {
				t.Errorf("list: %v", err)
			}
			for _, one := range list.Tasks {
				if _, err := os.Stat(filepath.Join(one.Path, "README")); err != nil || one.Branch == "" || one.Base == "" {
					t.Errorf("half a task is shown: %+v %v", one, err)
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if err := ways[i%len(ways)](fmt.Sprintf("t%d", i)); err != nil {
				t.Errorf("task %d: %v", i, err)
			}
		})
	}
	all.Wait()
	close(done)
	watcher.Wait()

	if n := len(r.must("task_list", `{}`)["tasks"].([]any)); n != 16 {
		t.Errorf("%d tasks", n)
	}
	if n := len(strings.Split(runGit(t, "-C", r.repo, "worktree", "list"), "\n")); n != 17 {
		t.Errorf("%d worktrees", n)
	}
	if n := len(strings.Fields(runGit(t, "-C", r.repo, "for-each-ref", "--format=%(refname)", "refs/heads/termic"))); n != 16 {
		t.Errorf("%d branches", n)
	}
	if traces := r.traces(); strings.Contains(traces, "lock: ") {
		t.Errorf("locks are left:\n%s", traces)
	}
	if config := readFile(t, filepath.Join(r.repo, ".git", "config")); strings.Contains(config, "termic/") {
		t.Errorf("the person's configuration was written:\n%s", config)
	}
	for i := range 16 {
		status := r.must("task_status", `{"task":"t%d"}`, i)["task"].(map[string]any)
		if got := runGit(t, "-C", status["path"].(string), "status", "--porcelain"); got != "" {
			t.Errorf("t%d: %s", i, got)
		}
	}
}
