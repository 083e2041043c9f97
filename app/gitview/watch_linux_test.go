package gitview

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// watched starts a watch and returns what it tells.
func watched(t *testing.T, r *rig) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- r.task.Watch(ctx, func() { told <- struct{}{} }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return told
}

// expect waits until the watch tells, and forgets what it says more of the same.
func expect(t *testing.T, told <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Fatalf("the watch does not tell of %s", what)
	}
}

// Each way in which a branch changes is told, also when the directories on the way were taken away or replaced.
func TestWatchTellsOfTheBranch(t *testing.T) {
	r := newProject(t)
	r.hostAt(r.task.Dir, "branch", "-m", "termic/deep/task")
	r.task.Branch = "termic/deep/task"
	r.create(Options{BaseBranch: "main"})
	told := watched(t, r)
	// The first may come before the watch begins: each is done until it is told.
	for told := told; ; {
		r.cage("commit", "-q", "--allow-empty", "-m", "first")
		select {
		case <-told:
		case <-time.After(2 * quiet):
			continue
		}
		break
	}
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"a commit", func() { r.commit("a.txt", "1\n") }},
		{"a reset", func() { r.cage("reset", "-q", "--hard", "HEAD~1") }},
		{"packed refs", func() { r.cage("pack-refs", "--all", "--prune") }},
		{"a commit after that", func() { r.commit("a.txt", "2\n") }},
		{"a directory that is gone", func() { must(t, os.RemoveAll(filepath.Join(r.private, "refs"))) }},
		{"a directory that is back", func() {
			r.write(filepath.Join(r.private, "refs/heads/termic/deep/task"), string(r.oid("main"))+"\n")
		}},
		{"a commit in it", func() { r.commit("a.txt", "3\n") }},
		{"a link in its place", func() {
			must(t, os.Rename(filepath.Join(r.private, "refs"), filepath.Join(r.top, "elsewhere")))
			must(t, os.Symlink(filepath.Join(r.top, "elsewhere"), filepath.Join(r.private, "refs")))
		}},
		{"a FIFO in its place", func() {
			must(t, os.Remove(filepath.Join(r.private, "refs")))
			must(t, syscall.Mkfifo(filepath.Join(r.private, "refs"), 0o600))
		}},
	} {
		step.do()
		expect(t, told, step.what)
	}
}

func TestWatchFollowsNoLink(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(r.top, "outside")
	must(t, os.Rename(filepath.Join(r.private, "refs"), outside))
	must(t, os.Symlink(outside, filepath.Join(r.private, "refs")))
	told := watched(t, r)
	for told := told; ; { // until it has begun
		r.write(filepath.Join(r.private, "x"), "x")
		select {
		case <-told:
		case <-time.After(2 * quiet):
			continue
		}
		break
	}
	r.write(filepath.Join(outside, "heads/task"), "x\n")
	r.write(filepath.Join(outside, "x"), "x\n")
	select {
	case <-told:
		t.Error("it tells of what is behind the link")
	case <-time.After(3 * quiet):
	}
	r.write(filepath.Join(r.private, "packed-refs"), "x") // the twin, which is told
	expect(t, told, "packed refs")
}

func TestWatchOfNothing(t *testing.T) {
	r := newProject(t)
	if err := r.task.Watch(t.Context(), func() {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Many events are one change, and an agent that never stops does not hide what it does.
func TestEventsSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		seen := make(chan error)
		var told []time.Duration
		begun := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- settleEvents(ctx, seen, func() { told = append(told, time.Since(begun)) }) }()
		for range 3 {
			seen <- nil
			time.Sleep(quiet / 2)
		}
		time.Sleep(quiet)
		synctest.Wait()
		if len(told) != 1 || told[0] != 2*(quiet/2)+quiet {
			t.Errorf("told at %v", told)
		}
		at := time.Since(begun)
		for range 25 {
			seen <- nil
			time.Sleep(quiet / 2)
		}
		synctest.Wait()
		if len(told) != 2 || told[1] != at+overdue {
			t.Errorf("told at %v of what began at %v", told, at)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if err := settleEvents(t.Context(), failing(), func() {}); err == nil {
		t.Error("a watch that fails says nothing")
	}
}

func failing() <-chan error {
	ch := make(chan error, 1)
	ch <- errors.New("x")
	return ch
}
