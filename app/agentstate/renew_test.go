package agentstate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termic/app/agentstate"
)

// claudeLogin is a login of Claude Code that ends in some time.
func claudeLogin(token string, left time.Duration) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"spend-me-once","expiresAt":%d,"scopes":[]}}`, token, time.Now().Add(left).UnixMilli())
}

// fakeClaude is a program of the person's that renews the login, and notes how it was run. Two at once are noted too.
func (r *rig) fakeClaude(t *testing.T, dir string) (notes string) {
	t.Helper()
	notes = filepath.Join(r.Root, "renewals")
	writeFile(t, filepath.Join(r.Root, "renewed"), claudeLogin("RENEWED", 8*time.Hour), 0o600)
	writeFile(t, filepath.Join(dir, "claude"), `#!/bin/sh
mkdir "`+r.Root+`/busy" || echo two at once >> "`+notes+`"
echo "args $* files $(ls -A | wc -l) home $HOME token ${TERMIC_MCP_TOKEN-none}" >> "`+notes+`"
cp "`+r.Root+`/renewed" "$HOME/.claude/next" && mv "$HOME/.claude/next" "$HOME/.claude/.credentials.json"
rmdir "`+r.Root+`/busy"
`, 0o755)
	return notes
}

const claudeFile = ".claude/.credentials.json"

// copyOf returns the login that a task's cage has.
func (r *rig) copyOf(t *testing.T, task agentstate.Task, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.state, string(task.ID), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRenewal: a login that is near its end is renewed before the start, by the person's own program, outside, in an
// empty directory, without anything of ours in its environment, and once, however many tasks start. One that is not near
// its end is left alone.
func TestRenewal(t *testing.T) {
	r := newRig(t, "TERMIC_MCP_TOKEN=ours")
	notes := r.fakeClaude(t, r.bin)
	r.write(t, claudeFile, claudeLogin("OLD", time.Minute))
	var tasks sync.WaitGroup
	for range 5 {
		tasks.Go(func() {
			task := r.task(t, "claude")
			if _, err := r.keeper.Prepare(t.Context(), task); err != nil {
				t.Error(err)
				return
			}
			if got := r.copyOf(t, task, "claude/login/.credentials.json"); !strings.Contains(got, "RENEWED") || strings.Contains(got, "spend-me-once") {
				t.Errorf("the copy: %s", got)
			}
		})
	}
	tasks.Wait()
	if got, want := read(t, notes), "args auth status files 0 home "+r.Home+" token none\n"; got != want {
		t.Errorf("renewals:\n%s, want\n%s", got, want)
	}
	r.open(t) // that a renewal was tried is forgotten; the login is good for hours
	r.prepare(t, r.task(t, "claude"))
	if got := read(t, notes); strings.Count(got, "\n") != 1 {
		t.Errorf("renewals of a fresh login:\n%s", got)
	}
}

// TestRenewalWhileItRuns: a login that comes near its end while a cage runs is renewed, and tried once a minute.
func TestRenewalWhileItRuns(t *testing.T) {
	r := newRig(t)
	notes := r.fakeClaude(t, r.bin)
	file := r.write(t, claudeFile, claudeLogin("FIRST", time.Hour))
	task := r.task(t, "claude")
	r.prepare(t, task)
	r.keeper.Look()
	r.keeper.Renewed()
	if _, err := os.Stat(notes); err == nil {
		t.Fatal("renewed an hour before the end")
	}
	for range 3 { // the third finds one that has just been tried
		writeFile(t, file, claudeLogin("OLD", 3*time.Minute), 0o600)
		r.keeper.Look()
		r.keeper.Renewed()
	}
	if got := read(t, notes); strings.Count(got, "\n") != 1 {
		t.Errorf("renewals:\n%s", got)
	}
	writeFile(t, file, read(t, filepath.Join(r.Root, "renewed")), 0o600)
	r.keeper.Look()
	if got := r.copyOf(t, task, "claude/login/.credentials.json"); !strings.Contains(got, "RENEWED") {
		t.Errorf("the copy: %s", got)
	}
}

// TestRenewalByWhom: no program is run that lies where cages write. Its twin is the same program elsewhere.
func TestRenewalByWhom(t *testing.T) {
	for name, tt := range map[string]struct {
		place func(r *rig) string // where PATH finds it
		lies  func(r *rig) string // where it is
		run   bool
	}{
		"of the person":                       {func(r *rig) string { return r.bin }, func(r *rig) string { return r.bin }, true},
		"in the data directory":               {func(r *rig) string { return r.Data + "/x" }, func(r *rig) string { return r.Data + "/x" }, false},
		"a link to one in the data directory": {func(r *rig) string { return r.bin }, func(r *rig) string { return r.Data + "/x" }, false},
		"a link in it to one of the person":   {func(r *rig) string { return r.Data + "/x" }, func(r *rig) string { return r.bin }, false},
		"a neighbour of the data directory":   {func(r *rig) string { return r.Data + "-x" }, func(r *rig) string { return r.Data + "-x" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			place, lies := tt.place(r), tt.lies(r)
			notes := r.fakeClaude(t, lies)
			if place != lies {
				if err := os.MkdirAll(place, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(lies+"/claude", place+"/claude"); err != nil {
					t.Fatal(err)
				}
			}
			r.open(t, "PATH="+place+":/usr/bin:/bin")
			r.write(t, claudeFile, claudeLogin("OLD", time.Minute))
			r.prepare(t, r.task(t, "claude"))
			if _, err := os.Stat(notes); (err == nil) != tt.run {
				t.Errorf("run: %v, want %v", err == nil, tt.run)
			}
		})
	}
}

// TestCodexRenewal: codex is asked in its own protocol, and its input stays open until it has answered.
func TestCodexRenewal(t *testing.T) {
	login := func(token string, last time.Time) string {
		return fmt.Sprintf(`{"tokens":{"id_token":"i","access_token":%q,"refresh_token":"spend-me-once","account_id":"a"},"last_refresh":%q}`, token, last.UTC().Format(time.RFC3339Nano))
	}
	r := newRig(t)
	writeFile(t, filepath.Join(r.Root, "renewed"), login("RENEWED", time.Now()), 0o600)
	writeFile(t, filepath.Join(r.bin, "codex"), `#!/usr/bin/env bash
echo "args $*" >> "`+r.Root+`/asked"
while read -r line; do
	echo "$line" >> "`+r.Root+`/asked"
	case $line in
	*'"id":0'*) echo '{"id":0,"result":{"userAgent":"x"}}'; echo '{"method":"some/notification","params":{}}';;
	*account/read*)
		read -r -t 0.2 more; [ $? -gt 128 ] || exit 1 # not a time-out: the end of the input, at which it ends
		cp "`+r.Root+`/renewed" ~/.codex/auth.json
		echo '{"id":1,"result":{"account":null}}';;
	esac
done
echo ended >> "`+r.Root+`/asked"
`, 0o755)
	r.write(t, ".codex/auth.json", login("OLD", time.Now().Add(-8*24*time.Hour)))
	task := r.task(t, "codex")
	r.prepare(t, task)
	if got := r.copyOf(t, task, "codex/login/auth.json"); !strings.Contains(got, "RENEWED") || strings.Contains(got, "spend-me-once") {
		t.Errorf("the copy: %s", got)
	}
	asked := read(t, filepath.Join(r.Root, "asked"))
	for _, want := range []string{"args app-server\n", `"method":"initialize"`, `"method":"initialized"`, `"refreshToken":true`, "ended\n"} {
		if !strings.Contains(asked, want) {
			t.Errorf("codex was not asked %q:\n%s", want, asked)
		}
	}
}

// TestRenewalThatFails: a start goes on with the old copy, and says when it ends.
func TestRenewalThatFails(t *testing.T) {
	r := newRig(t)
	writeFile(t, filepath.Join(r.bin, "claude"), "#!/bin/sh\nexit 1\n", 0o755)
	r.write(t, claudeFile, claudeLogin("OLD", time.Minute))
	task := r.task(t, "claude")
	plan := r.prepare(t, task)
	if got := r.copyOf(t, task, "claude/login/.credentials.json"); !strings.Contains(got, "OLD") {
		t.Errorf("the copy: %s", got)
	}
	if notes := strings.Join(plan.Notes, "\n"); !strings.Contains(notes, "it is renewed outside before") {
		t.Errorf("notes:\n%s", notes)
	}
	r.write(t, claudeFile, claudeLogin("OVER", -time.Minute))
	if plan = r.prepare(t, r.task(t, "claude")); !strings.Contains(strings.Join(plan.Notes, "\n"), "log in outside the cage") {
		t.Errorf("notes of a login that is over:\n%v", plan.Notes)
	}
}

// TestWatcher: what the person's program writes is in the copies within two seconds, as long as the cage runs, and not
// after.
func TestWatcher(t *testing.T) {
	r := newRig(t)
	file := r.write(t, claudeFile, claudeLogin("FIRST", time.Hour))
	synctest.Test(t, func(t *testing.T) {
		keeper, err := agentstate.Open(agentstate.Options{Dir: r.state, Environ: []string{"HOME=" + r.Home}})
		if err != nil {
			t.Fatal(err)
		}
		first, second := r.task(t, "claude"), r.task(t, "claude")
		for _, task := range []agentstate.Task{first, second} {
			if _, err := keeper.Prepare(t.Context(), task); err != nil {
				t.Fatal(err)
			}
		}
		writeFile(t, file, claudeLogin("SECOND", time.Hour), 0o600)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, task := range []agentstate.Task{first, second} {
			if got := r.copyOf(t, task, "claude/login/.credentials.json"); !strings.Contains(got, "SECOND") {
				t.Errorf("the copy: %s", got)
			}
		}
		if err := keeper.Release(first.ID); err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, claudeLogin("THIRD", time.Hour), 0o600)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.copyOf(t, second, "claude/login/.credentials.json"); !strings.Contains(got, "THIRD") {
			t.Errorf("the copy: %s", got)
		}
		if left, err := os.ReadDir(filepath.Join(r.state, string(first.ID), "claude/login")); err != nil || len(left) != 0 {
			t.Errorf("a cage that ended has %v, %v", left, err)
		}
		if err := keeper.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := keeper.Prepare(t.Context(), first); err == nil {
			t.Error("prepared after Close")
		}
	})
}

// TestCrash: copies that a crash left are gone when the app starts again.
func TestCrash(t *testing.T) {
	r := newRig(t)
	left := writeFile(t, filepath.Join(r.state, "t-x/claude/login/.credentials.json"), "token", 0o600)
	kept := writeFile(t, filepath.Join(r.state, "t-x/claude/state/projects/1.jsonl"), "said", 0o600)
	r.open(t)
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("the copy: %v", err)
	}
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("the transcript: %v", err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
