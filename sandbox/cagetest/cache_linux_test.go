package cagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termic/sandbox/cagetest"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

// cached adds a cache to the task: the person's modules.
func cached(t *testing.T, m *cagetest.Machine, fallback profile.Fallback) profile.Cache {
	t.Helper()
	task := m.Root + "/data/tasks/1/"
	c := profile.Cache{Path: m.Home + "/go/pkg/mod", Lower: m.Home + "/go/pkg/mod", Upper: task + "upper", Work: task + "work", Fallback: fallback, Cold: task + "cold"}
	for _, dir := range []string{c.Upper, c.Work, c.Cold, c.Lower + "/dir"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.Lower+"/dir/file", []byte("file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.Dirs.Caches = []profile.Cache{c}
	t.Cleanup(func() {
		if err := launch.RemoveLayer(c.Upper, c.Work); err != nil {
			t.Error(err)
		}
	})
	return c
}

// stamps describes a tree with the times of changes, which no program can set back.
func stamps(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return err
		}
		all = append(all, fmt.Sprint(name, st.Mode, st.Size, st.Nlink, st.Mtim, st.Ctim))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCaches: what a cage does to a cache stays in its own layer.
func TestCaches(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	c := cached(t, m, profile.FallbackReadOnly)
	before := stamps(t, c.Lower)
	cage := m.Start(t, capability.Enforce, capability.Set{})
	if want := []string{c.Path + " overlay "}; !slices.Equal(shownAs(cage), want) {
		t.Fatalf("caches: %v, want %v", shownAs(cage), want)
	}
	attack := "cd " + c.Path + ` && cat cached && echo more >> cached && : > dir/file && chmod 600 dir/file && touch -d 2001-01-01 dir/file &&
		echo new > dir/new && ln dir/file link && mv dir/file moved && rm -r dir && mkdir dir && ls dir && rm cached`
	if got := m.Run(t, cage, "sh", "-c", attack); got.Code != 0 || got.Output != "cached\n" {
		t.Errorf("inside: %+v", got)
	}
	if after := stamps(t, c.Lower); !slices.Equal(before, after) {
		t.Errorf("the person's cache changed:\n%v\n%v", before, after)
	}
	plan := m.Plan(t, capability.Enforce, capability.Set{})
	if second, err := launch.Start(t.Context(), m.Support, plan); err == nil || !strings.Contains(err.Error(), "in use by another cage") {
		t.Errorf("a second cage on the same layer: %v, %v", second, err)
	}
	if err := cage.Kill(); err != nil {
		t.Fatal(err)
	}
	again := m.Start(t, capability.Enforce, capability.Set{})
	if got := m.Run(t, again, "sh", "-c", "cd "+c.Path+" && ls"); got.Output != "dir\nlink\nmoved\n" {
		t.Errorf("the layer, kept: %+v", got)
	}
	if err := again.Kill(); err != nil {
		t.Fatal(err)
	}
	for i := range plan.Mounts {
		if plan.Mounts[i].Kind == linuxcage.Overlay {
			if err := os.Symlink(m.Outside, m.Root+"/planted"); err != nil {
				t.Fatal(err)
			}
			plan.Mounts[i].Upper = m.Root + "/planted"
		}
	}
	if _, err := launch.Start(t.Context(), m.Support, plan); err == nil || !strings.Contains(err.Error(), "layer") {
		t.Errorf("a layer that is a link: %v", err)
	}
}

func shownAs(cage *launch.Cage) []string {
	var all []string
	for _, c := range cage.Report.Caches {
		all = append(all, c.Path+" "+c.As+" "+c.Why)
	}
	return all
}

// TestFallbacks: where a layer is not possible the cage starts all the same, shows what was planned in its place, and
// says so. As root of a namespace of its own, the inner run can mount what no layer can be put over.
func TestFallbacks(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t, "unshare", "--user", "--map-root-user", "--mount")
		return
	}
	tests := []struct {
		fallback profile.Fallback
		script   string
		want     string
	}{
		{profile.FallbackReadOnly, "cat cached && ! touch new 2>&1", "cached\ntouch: cannot touch 'new': Read-only file system\n"},
		{profile.FallbackCold, "ls && touch new && ls", "new\n"},
	}
	for _, tt := range tests {
		t.Run(string(tt.fallback), func(t *testing.T) {
			m := cagetest.New(t)
			c := cached(t, m, tt.fallback)
			if err := unix.Mount("tmpfs", c.Lower+"/dir", "tmpfs", 0, ""); err != nil { // a mount below: overlayfs refuses
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unix.Unmount(c.Lower+"/dir", unix.MNT_DETACH) })
			cage := m.Start(t, capability.Enforce, capability.Set{})
			shown := cage.Report.Caches
			if len(shown) != 1 || shown[0].As != string(tt.fallback) || !strings.Contains(shown[0].Why, "overlay") {
				t.Errorf("caches: %+v", shown)
			}
			if got := m.Run(t, cage, "sh", "-c", "cd "+c.Path+" && "+tt.script); got.Output != tt.want {
				t.Errorf("inside: %+v", got)
			}
		})
	}
}
