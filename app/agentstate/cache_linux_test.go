package agentstate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termic/app/agentstate"
	"termic/sandbox/cagetest"
	"termic/sandbox/profile"
)

// cachesOf are the caches of a plan, as places below the home directory.
func (r *rig) cachesOf(plan agentstate.Plan) []string {
	var names []string
	for _, c := range plan.Caches {
		names = append(names, strings.TrimPrefix(c.Path, r.Home+"/"))
	}
	return names
}

// stamps describes a tree with the times of changes, which no program can set back.
func stamps(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil {
			err = unix.Lstat(name, &st)
		}
		all = append(all, fmt.Sprint(name, st.Mode, st.Size, st.Nlink, st.Mtim, st.Ctim))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCaches: a cage uses the person's caches and writes into layers of its own, which the next start of the task has
// and no other task; when the task is archived they are gone, whatever the cage made of them.
func TestCaches(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	r := newRig(t)
	r.write(t, ".npm/_cacache/index", "packages")
	r.write(t, ".npm/_npx/tool", "a program")
	r.write(t, ".cargo/registry/index", "crates")
	before := stamps(t, r.Home+"/.npm")
	task := r.task(t)
	plan := r.prepare(t, task)
	if want := []string{"go/pkg/mod", ".npm/_cacache", ".cargo/registry"}; !slices.Equal(r.cachesOf(plan), want) {
		t.Fatalf("caches %v, want %v", r.cachesOf(plan), want)
	}
	cage := r.cage(t, plan)
	for _, c := range cage.Report.Caches {
		if c.As != "overlay" {
			t.Fatalf("this machine does not layer: %+v", c)
		}
	}
	if got := r.sh(t, cage, plan, "cd ~/.npm && cat _cacache/index && ls && echo more >> _cacache/index && echo new > _cacache/new && rm ../.cargo/registry/index"); got != "packages_cacache\n" {
		t.Errorf("inside: %q", got)
	}
	// What Go's modules look like, and worse.
	r.sh(t, cage, plan, "cd ~/go/pkg/mod && mkdir -p m@v1/d && echo x > m@v1/d/f && chmod -R a-w m@v1 && mkdir -p shut/in && chmod 0 shut/in shut && ln -s "+r.Outside+" out")
	if after := stamps(t, r.Home+"/.npm"); !slices.Equal(before, after) {
		t.Errorf("the person's cache changed:\n%v\n%v", before, after)
	}
	other := r.task(t)
	if second := r.cage(t, r.prepare(t, other)); r.sh(t, second, plan, "cat ~/.npm/_cacache/index; ls ~/.npm/_cacache ~/.cargo/registry") != "packages"+r.Home+"/.cargo/registry:\nindex\n\n"+r.Home+"/.npm/_cacache:\nindex\n" {
		t.Error("another task sees what the first one did")
	}
	r.end(t, cage, task)
	again := r.prepare(t, task)
	cage = r.cage(t, again)
	if got := r.sh(t, cage, again, "cat ~/.npm/_cacache/index ~/.npm/_cacache/new"); got != "packagesmore\nnew\n" {
		t.Errorf("the layer, kept: %q", got)
	}
	if size, err := r.keeper.Size(task.ID); err != nil || size == 0 {
		t.Errorf("size %d, %v", size, err)
	}
	if err := r.keeper.Archive(task.ID); !errors.Is(err, agentstate.ErrInUse) {
		t.Errorf("archived while it runs: %v", err)
	}
	r.end(t, cage, task)
	if err := r.keeper.Archive(task.ID); err != nil {
		t.Fatal(err)
	}
	if left := names(t, filepath.Join(r.state, string(task.ID))); len(left) != 1 || left[0] != "lock" {
		t.Errorf("after archiving there is %v", left)
	}
	if got := r.OutsideRun(t, "cat", r.Outside+"/notes"); got.Output != "mine\n" {
		t.Errorf("what a link of the cage named: %+v", got)
	}
}

// TestFallbacks: where the kernel cannot layer a cache the cage starts with what was planned in its place, read-only or
// empty, and nothing of the person's is writable.
func TestFallbacks(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t, "unshare", "--user", "--map-root-user", "--mount")
		return
	}
	r := newRig(t)
	for _, dir := range []string{"go/pkg/mod/sub", ".npm/_cacache/sub"} {
		r.write(t, dir+"/file", "x")
		at := filepath.Join(r.Home, dir)
		if err := unix.Mount("tmpfs", at, "tmpfs", 0, ""); err != nil { // a mount below: overlayfs refuses
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	}
	plan := r.prepare(t, r.task(t))
	cage := r.cage(t, plan)
	var shown []string
	for _, c := range cage.Report.Caches {
		shown = append(shown, c.As)
	}
	if want := []string{string(profile.FallbackReadOnly), string(profile.FallbackCold)}; !slices.Equal(slices.Sorted(slices.Values(shown)), slices.Sorted(slices.Values(want))) {
		t.Errorf("caches are %v", cage.Report.Caches)
	}
	if got := r.sh(t, cage, plan, "cat ~/go/pkg/mod/cached; ! touch ~/go/pkg/mod/x 2>/dev/null; ls ~/.npm/_cacache; touch ~/.npm/_cacache/x"); got != "cached\n" {
		t.Errorf("inside: %q", got)
	}
	if left := names(t, r.Home+"/.npm/_cacache"); !slices.Equal(left, []string{"sub"}) {
		t.Errorf("the person's has %v", left)
	}
	if notes := strings.Join(plan.Notes, "\n"); !strings.Contains(notes, "cannot layer it, read-only") || !strings.Contains(notes, "cannot layer it, an empty one") {
		t.Errorf("notes:\n%s", notes)
	}
}

// TestPlacesOfCaches: caches are found where the person's variables say, and are where tools look by default in a cage.
func TestPlacesOfCaches(t *testing.T) {
	r := newRig(t)
	if err := os.RemoveAll(filepath.Join(r.Home, "go")); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(r.Root, "elsewhere")
	for _, dir := range []string{"path/pkg/mod", "build", "npm/_cacache", "cargo/registry", "xdg/pip"} {
		if err := os.MkdirAll(filepath.Join(elsewhere, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere+"/xdg/pip", elsewhere+"/xdg/uv"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, elsewhere+"/ccache", "a file", 0o600)
	r.open(t, "GOPATH="+elsewhere+"/path:/other", "GOCACHE="+elsewhere+"/build", "npm_config_cache="+elsewhere+"/npm",
		"CARGO_HOME="+elsewhere+"/cargo", "XDG_CACHE_HOME="+elsewhere+"/xdg", "DENO_DIR=relative", "CCACHE_DIR="+elsewhere+"/ccache")
	plan := r.prepare(t, r.task(t))
	var got []string
	for _, c := range plan.Caches {
		got = append(got, strings.TrimPrefix(c.Path, r.Home+"/")+" "+strings.TrimPrefix(c.Lower, elsewhere+"/"))
	}
	want := []string{"go/pkg/mod path/pkg/mod", ".cache/go-build build", ".npm/_cacache npm/_cacache", ".cargo/registry cargo/registry", ".cache/pip xdg/pip", ".cache/uv xdg/pip"}
	if !slices.Equal(got, want) {
		t.Errorf("caches\n%v, want\n%v", got, want)
	}
	if notes := strings.Join(plan.Notes, "\n"); !strings.Contains(notes, "cache ccache is not shared") {
		t.Errorf("notes:\n%s", notes)
	}
}
