package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMainOfAKilledApp is the app of the test below: it runs a git that never ends, until it is killed.
func TestMainOfAKilledApp(t *testing.T) {
	if os.Getenv("GIT_TEST_KILLED_APP") == "" {
		t.Skip("run by TestAGitEndsWithTheAppThatRanIt")
	}
	g, err := Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = g.run(context.Background(), call{at: "/", args: []string{"hang"}, timeout: time.Hour})
}

func TestAGitEndsWithTheAppThatRanIt(t *testing.T) {
	h := newHome(t)
	told := h.path("pid")
	fake := h.fakeGit(fmt.Sprintf(`case "$*" in *hang*) echo $$ > %s.new; mv %s.new %s; exec sleep 1000;; esac; exec $GIT "$@"`, told, told, told))
	bin := filepath.Dir(fake.Path())
	app := exec.Command(os.Args[0], "-test.run", "^TestMainOfAKilledApp$", "-test.v")
	app.Env = append(os.Environ(), "GIT_TEST_KILLED_APP=1", "PATH="+bin+":"+os.Getenv("PATH"))
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFor(t, func() string {
		text, _ := os.ReadFile(told)
		return strings.TrimSpace(string(text))
	})
	if err := app.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = app.Wait()
	waitFor(t, func() string {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return "gone"
		}
		return ""
	})
}

// waitFor asks until there is an answer.
func waitFor(t *testing.T, ask func() string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got := ask(); got != "" {
			return got
		}
	}
	t.Fatal("never came")
	return ""
}
