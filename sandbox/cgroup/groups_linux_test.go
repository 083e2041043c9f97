package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const prefix = "termic-0123-"

var all = Limits{Memory: 1 << 30, Processes: 512, CPUWeight: 50}

func TestWhatIsReadBackIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		controllers []string
		loses       string
		want, held  Limits
	}{
		"every limit":                        {[]string{"cpuset", "cpu", "io", "memory", "pids"}, "", all, all},
		"those that are asked for":           {[]string{"cpu", "memory", "pids"}, "", Limits{Memory: 1 << 30}, Limits{Memory: 1 << 30}},
		"none is asked for":                  {[]string{"cpu", "memory", "pids"}, "", Limits{}, Limits{}},
		"only those that have a controller":  {[]string{"pids"}, "", all, Limits{Processes: 512}},
		"none that the kernel does not keep": {[]string{"cpu", "memory", "pids"}, "memory.max", all, Limits{Processes: 512, CPUWeight: 50}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(t, "/", c.controllers...)
			k.loses = c.loses
			group, err := open(k.tree, prefix, nil).Put(t.Context(), "task", cage, c.want)
			if err != nil || group.Held != c.held {
				t.Fatalf("%+v, %v, want %+v", group, err, c.held)
			}
			if base := filepath.Base(group.dir); !strings.HasPrefix(base, prefix+"task-") || !slices.Equal(k.in(group.dir), []string{"200"}) {
				t.Errorf("group %s with %v", base, k.in(group.dir))
			}
			k.move(cage, "/")
			if err := group.Remove(); err != nil || len(k.groups("/")) != 0 {
				t.Errorf("%v, left: %v", err, k.groups("/"))
			}
		})
	}
}

// The app's own group may have the very limits that were asked for, and has others in it.
func TestTheLimitsOfAnotherGroupAreNotHeld(t *testing.T) {
	k := newKernel(t, "/", "memory", "pids", "cpu")
	k.stuck = true
	for _, l := range limits {
		k.put("512\n", k.root, l.file)
	}
	group, err := open(k.tree, prefix, nil).Put(t.Context(), "task", cage, Limits{512, 512, 512})
	if err == nil || !strings.Contains(err.Error(), "another control group") || len(k.groups("/")) != 0 {
		t.Errorf("%+v, %v, left: %v", group, err, k.groups("/"))
	}
}

func TestGroupsAreMadeWhereTheAppsOwnIsDelegated(t *testing.T) {
	alone := func(k *kernel) { k.move(cage, "/elsewhere") }
	for name, c := range map[string]struct {
		change func(k *kernel)
		none   string
	}{
		"without systemd, alone in it": {alone, ""},
		"controllers are on below it":  {func(k *kernel) { k.put("cpu memory pids\n", k.root, "/box", "cgroup.subtree_control") }, ""},
		"others are in it":             {func(*kernel) {}, "other programs are in"},
		"systemd's, and not delegated": {func(k *kernel) { alone(k); k.put("", k.tree.run, "systemd", "system", "x") }, "not delegated"},
		"no controller":                {func(k *kernel) { alone(k); k.put("hugetlb io\n", k.root, "/box", "cgroup.controllers") }, "none of the controllers"},
		"version 1 only":               {func(k *kernel) { k.put("4:memory:/other\n", k.tree.proc, "100", "cgroup") }, "version 2 are not in use"},
		"not mounted":                  {func(k *kernel) { k.put("25 30 0:24 / /proc rw - proc proc rw\n", k.tree.proc, "self", "mountinfo") }, "not mounted"},
		"of a part that is not shown":  {func(k *kernel) { k.put("0::/../elsewhere\n", k.tree.proc, "100", "cgroup") }, "not mounted"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(t, "/box", "cpu", "memory", "pids")
			c.change(k)
			g := open(k.tree, prefix, nil)
			if c.none == "" {
				if group, err := g.Put(t.Context(), "task", cage, all); err != nil || group.Held != all || filepath.Dir(group.dir) != filepath.Join(k.root, "box") {
					t.Errorf("%+v, %v", group, err)
				}
				return
			}
			if !errors.Is(g.none, ErrNone) || !strings.Contains(g.none.Error(), c.none) || !strings.Contains(g.none.Error(), "systemd session") {
				t.Errorf("why: %v", g.none)
			}
			if _, err := g.Put(t.Context(), "task", cage, all); !errors.Is(err, ErrNone) {
				t.Errorf("put: %v", err)
			}
			if how, held, err := g.Check(t.Context()); !errors.Is(err, ErrNone) || how != "" || held != (Limits{}) {
				t.Errorf("check: %q %+v %v", how, held, err)
			}
			if exists(filepath.Join(k.root, "box", leaf)) {
				t.Error("the app has moved for nothing")
			}
		})
	}
}

// A group with limits below it has no processes of its own, so the app makes room, and knows its place when it is asked again.
func TestTheAppMakesRoom(t *testing.T) {
	k := newKernel(t, "/box", "cpu", "memory", "pids")
	k.move(cage, "/elsewhere")
	for range 2 {
		g := open(k.tree, prefix, nil)
		if at, err := k.tree.of(app); err != nil || at != filepath.Join(k.root, "box", leaf) {
			t.Errorf("the app is in %s, %v", at, err)
		}
		if o, ok := g.way.(own); !ok || o.base != filepath.Join(k.root, "box") {
			t.Errorf("%+v, %v", g.way, g.none)
		}
	}
}

func TestWhatACrashLeftIsRemoved(t *testing.T) {
	k := newKernel(t, "/", "memory", "pids", "cpu")
	g := open(k.tree, prefix, nil)
	for _, name := range []string{prefix + "empty", prefix + "alive", "termic-4567-other", "system.slice"} {
		if err := k.mkdir(filepath.Join(k.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	k.move(cage, "/"+prefix+"alive")
	k.move(app+1, "/termic-4567-other")
	open(k.tree, prefix, nil)
	if left := k.groups("/"); !slices.Equal(left, []string{"system.slice", "termic-4567-other"}) {
		t.Errorf("left: %v", left)
	}
	if !slices.Equal(k.in(filepath.Join(k.root, "termic-4567-other")), []string{"101"}) {
		t.Error("another app's cage has lost its process")
	}
	if exists(filepath.Join(k.tree.proc, "200")) {
		t.Error("what an earlier run's cage had left runs on")
	}
	if g.way == nil {
		t.Error(g.none)
	}
}

func TestUsageIsWhatTheKernelCounts(t *testing.T) {
	k := newKernel(t, "/", "memory", "pids", "cpu")
	group, err := open(k.tree, prefix, nil).Put(t.Context(), "task", cage, all)
	if err != nil {
		t.Fatal(err)
	}
	if got := group.Usage(); got != (Usage{-1, -1}) {
		t.Errorf("nothing is counted: %+v", got)
	}
	k.put("4096\n", group.dir, "memory.current")
	k.put("3\n", group.dir, "pids.current")
	if got := group.Usage(); got != (Usage{4096, 3}) {
		t.Errorf("%+v", got)
	}
}

// On the machine of the test, whatever it has: what is said to be held is held, and what is not there is said to be not.
func TestThisMachine(t *testing.T) {
	g := Open(prefix, os.Environ())
	how, held, err := g.Check(t.Context())
	t.Logf("here: %q %+v %v", how, held, err)
	if (err == nil) != (how != "" && held != (Limits{})) || err != nil && !errors.Is(err, ErrNone) {
		t.Errorf("%q, %+v, %v", how, held, err)
	}
}
