package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLinkedReadsTheRecord(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	dir := h.worktree(r, "x")
	w, err := r.Linked(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Linked{Dir: dir, GitDir: filepath.Join(r.CommonDir, "worktrees", "x"), Branch: "x", Head: h.oid(r.Root, "HEAD"), Locked: true}
	if w != want {
		t.Errorf("%+v, want %+v", w, want)
	}
	for _, c := range []struct {
		what string
		do   func()
		is   func(w Linked) bool
	}{
		{"unlocked", func() { h.sh(r.Root, "worktree", "unlock", dir) }, func(w Linked) bool { return !w.Locked }},
		{"detached", func() { h.sh(dir, "checkout", "-q", "--detach") }, func(w Linked) bool { return w.Branch == "" && w.Head == want.Head }},
		{"without a commit", func() { h.sh(dir, "switch", "-q", "--orphan", "new") }, func(w Linked) bool { return w.Branch == "new" && w.Head == "" }},
		{"in the middle of a merge", func() {
			h.sh(dir, "switch", "-q", "x")
			h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "m")
			h.sh(dir, "merge", "-q", "--no-ff", "--no-commit", "main")
		}, func(w Linked) bool { return w.InProgress == "merge" }},
	} {
		c.do()
		if w, err := r.Linked(t.Context(), dir); err != nil || !c.is(w) {
			t.Errorf("%s: %+v, %v", c.what, w, err)
		}
	}
}

func TestLinkedTakesNothingElse(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	other := h.worktree(h.repo("other"), "y")
	dir := h.worktree(r, "x")
	link := h.path("link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	copied := h.path("copied")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for what, path := range map[string]string{
		"the main worktree": r.Root, "another project's": other, "a link to it": link, "a copy of it": copied,
		"a directory inside": filepath.Join(dir, ".."), "nothing": h.path("absent"),
	} {
		if w, err := r.Linked(t.Context(), path); err == nil {
			t.Errorf("%s is %+v", what, w)
		}
	}
	if _, err := r.Linked(t.Context(), "relative"); err == nil {
		t.Error("a relative path was taken")
	}
	if _, err := r.Linked(t.Context(), dir); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

func TestCarryIndex(t *testing.T) {
	for name, c := range map[string]struct {
		before func(h *home, dir string)
		dry    bool
		want   error
		status string // after the branch moved too
	}{
		"nothing staged":             {},
		"something else staged":      {before: func(h *home, dir string) { h.write(dir+"/new", "x\n"); h.sh(dir, "add", "new") }, status: "A  new"},
		"a dirty file":               {before: func(h *home, dir string) { h.write(dir+"/b.txt", "dirty\n") }, status: "M b.txt"},
		"the same file staged":       {before: func(h *home, dir string) { h.write(dir+"/a.txt", "mine\n"); h.sh(dir, "add", "a.txt") }, want: ErrStaged},
		"the same change staged":     {before: func(h *home, dir string) { h.sh(dir, "add", "a.txt") }},
		"tried only":                 {dry: true, status: "MM a.txt"},
		"tried only, in the way":     {dry: true, before: func(h *home, dir string) { h.write(dir+"/a.txt", "mine\n"); h.sh(dir, "add", "a.txt") }, want: ErrStaged},
		"conflicts from a merge":     {before: conflicted, want: ErrStaged},
		"files that are not written": {before: func(h *home, dir string) { os.Remove(dir + "/a.txt") }, status: "D a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			r := h.repo("p", "a.txt", "b.txt")
			dir := h.worktree(r, "x")
			h.write(dir+"/a.txt", "agent\n") // the files are shared: they are ahead of the index
			old := h.oid(r.Root, "main")
			h.sh(r.Root, "switch", "-q", "-c", "side")
			h.write(r.Root+"/a.txt", "agent\n")
			h.sh(r.Root, "commit", "-aqm", "agent")
			next := h.oid(r.Root, "HEAD")
			if c.before != nil {
				c.before(h, dir)
			}
			index := h.sh(dir, "ls-files", "-s")
			w, err := r.Linked(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			err = r.CarryIndex(t.Context(), w, old, next, c.dry)
			wantErr(t, err, c.want)
			if (c.want != nil || c.dry) != (h.sh(dir, "ls-files", "-s") == index) && name != "the same change staged" {
				t.Error("the index changed, or did not")
			}
			if c.want != nil {
				return
			}
			h.sh(dir, "update-ref", "refs/heads/x", string(next))
			if got := strings.ReplaceAll(h.sh(dir, "status", "--porcelain"), "\n", ","); got != c.status {
				t.Errorf("status %q, want %q", got, c.status)
			}
		})
	}
	h := newHome(t)
	r := h.repo("p")
	w, err := r.Linked(t.Context(), h.worktree(r, "x"))
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.CarryIndex(t.Context(), w, "--reset", w.Head, false), ErrBadRef)
}

// conflicted leaves unmerged entries in the index.
func conflicted(h *home, dir string) {
	h.write(dir+"/a.txt", "theirs\n")
	h.sh(dir, "commit", "-aqm", "x")
	h.sh(dir, "switch", "-q", "-c", "y", "HEAD~1")
	h.write(dir+"/a.txt", "ours\n")
	h.sh(dir, "commit", "-aqm", "y")
	h.try(dir, "merge", "x") //nolint:errcheck // that it fails is what it is for
}

func TestIndexOfAnotherTree(t *testing.T) {
	h := newHome(t)
	r := h.repo("p", "a.txt", "b.txt")
	dir := h.worktree(r, "x")
	h.write(dir+"/b.txt", "staged\n")
	h.sh(dir, "add", "b.txt")
	h.sh(r.Root, "switch", "-q", "-c", "side")
	h.write(r.Root+"/new", "x\n")
	h.sh(r.Root, "add", "new")
	h.sh(r.Root, "commit", "-qm", "side")
	w, err := r.Linked(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, w.GitDir)
	data, err := r.IndexOf(t.Context(), w, h.oid(r.Root, "side"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the record", before, snapshot(t, w.GitDir))
	h.write(h.path("index"), string(data))
	cmd := h.sh(dir, "-c", "core.bare=false", "ls-files", "-s")
	h.env["GIT_INDEX_FILE"] = h.path("index")
	got, tree := h.sh(dir, "ls-files"), h.sh(dir, "write-tree")
	delete(h.env, "GIT_INDEX_FILE")
	if got != "a.txt\nb.txt\nnew" || tree != h.sh(r.Root, "rev-parse", "side^{tree}") {
		t.Errorf("it holds %s, tree %s", got, tree)
	}
	if h.sh(dir, "ls-files", "-s") != cmd {
		t.Error("the worktree's own index changed")
	}
	for _, bad := range []OID{"", "x", OID(strings.Repeat("a", 40))} {
		if _, err := r.IndexOf(t.Context(), w, bad); err == nil {
			t.Errorf("an index of %q", bad)
		}
	}
}

func TestSettingsAreTheEffectiveOnes(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	w, err := r.Linked(t.Context(), h.worktree(r, "x"))
	if err != nil {
		t.Fatal(err)
	}
	h.sh(r.Root, "config", "user.name", "Project")
	h.sh(r.Root, "config", "remote.A.b.url", "with\nbreak")
	h.write(filepath.Join(r.CommonDir, "config.d"), "[core]\n\teditor\n")
	h.sh(r.Root, "config", "include.path", "config.d")
	list, err := r.Settings(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}
	for _, s := range list {
		last[s.Key] = s.Value
	}
	for key, want := range map[string]string{"user.name": "Project", "user.email": "person@example.org", "remote.A.b.url": "with\nbreak", "core.editor": "true"} {
		if last[key] != want {
			t.Errorf("%s = %q, want %q", key, last[key], want)
		}
	}
}

func TestRefsListsNamesAndWhatIsBelow(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	head := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "branch", "main2")
	h.sh(r.Root, "tag", "-a", "-m", "x", "v1")
	h.sh(r.Root, "update-ref", "refs/remotes/origin/main", "HEAD")
	h.sh(r.Root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	h.sh(r.Root, "config", "branch.main.remote", "origin")
	h.sh(r.Root, "config", "branch.main.merge", "refs/heads/main")
	h.sh(r.Root, "config", "remote.origin.url", "x")
	h.sh(r.Root, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	list, err := r.Refs(t.Context(), "refs/heads/main", "refs/tags", "refs/remotes")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ref := range list {
		names = append(names, ref.Name)
	}
	if want := []string{"refs/heads/main", "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/tags/v1"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if m := list[0]; m.OID != head || m.Kind != "commit" || m.Upstream != "refs/remotes/origin/main" || m.Created == 0 || m.Symbolic {
		t.Errorf("%+v", m)
	}
	if !list[1].Symbolic || list[3].Kind != "tag" || list[3].OID == head {
		t.Errorf("%+v %+v", list[1], list[3])
	}
	for _, bad := range []string{"", "main", "--all", "refs/heads/x\ny"} {
		if _, err := r.Refs(t.Context(), bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	within, err := r.RefsWithin(t.Context(), head, "refs/heads/main", "refs/tags/v1", "refs/heads/absent")
	if err != nil || !slices.Equal(within, []string{"refs/heads/main", "refs/tags/v1"}) {
		t.Errorf("within: %q, %v", within, err)
	}
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "later")
	if within, err = r.RefsWithin(t.Context(), head, "refs/heads/main", "refs/tags/v1"); err != nil || !slices.Equal(within, []string{"refs/tags/v1"}) {
		t.Errorf("within what is older: %q, %v", within, err)
	}
}

func TestUpdateRefsIsAllOrNothing(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	first := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "second")
	second := h.oid(r.Root, "HEAD")
	refs := func() string { return h.sh(r.Root, "for-each-ref", "refs/x") }
	for _, c := range []struct {
		what    string
		changes []RefChange
		want    error
		after   int // refs there are then
	}{
		{"nothing", nil, nil, 0},
		{"two new ones", []RefChange{{Name: "refs/x/a", To: first}, {Name: "refs/x/b", To: first}}, nil, 2},
		{"one that is there, as new", []RefChange{{Name: "refs/x/c", To: first}, {Name: "refs/x/a", To: second}}, ErrRefMoved, 2},
		{"one that is elsewhere", []RefChange{{Name: "refs/x/c", To: first}, {Name: "refs/x/a", To: second, From: second}}, ErrRefMoved, 2},
		{"one moves, one goes, one comes", []RefChange{{Name: "refs/x/a", To: second, From: first}, {Name: "refs/x/b", From: first}, {Name: "refs/x/c", To: first}}, nil, 2},
		{"one that is gone goes", []RefChange{{Name: "refs/x/b", From: first}}, ErrRefMoved, 2},
		{"a deletion of nowhere", []RefChange{{Name: "refs/x/a"}}, ErrRefMoved, 2},
		{"a name that is none", []RefChange{{Name: "HEAD", To: first}}, ErrBadRef, 2},
		{"a name with a NUL", []RefChange{{Name: "refs/x/a\x00refs/heads/main", To: first}}, ErrBadRef, 2},
		{"an id that is none", []RefChange{{Name: "refs/x/d", To: "main"}}, ErrBadRef, 2},
		{"a name below another", []RefChange{{Name: "refs/x/a/below", To: first}}, ErrBranchConflict, 2},
	} {
		before := refs()
		err := r.UpdateRefs(t.Context(), "test", c.changes)
		if wantErr(t, err, c.want); err != nil && refs() != before {
			t.Errorf("%s: refused, and changed", c.what)
		}
		if got := len(strings.Fields(refs())) / 3; got != c.after {
			t.Errorf("%s: %d refs", c.what, got)
		}
	}
	if h.oid(r.Root, "refs/x/a") != second {
		t.Error("refs/x/a did not move")
	}
}

func TestIsAncestor(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	first := h.oid(r.Root, "HEAD")
	h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", "second")
	second := h.oid(r.Root, "HEAD")
	for _, c := range []struct {
		old, next OID
		want      bool
	}{{first, second, true}, {second, first, false}, {first, first, true}} {
		if got, err := r.IsAncestor(t.Context(), c.old, c.next); err != nil || got != c.want {
			t.Errorf("%v, %v, want %v", got, err, c.want)
		}
	}
	if _, err := r.IsAncestor(t.Context(), OID(strings.Repeat("a", 40)), first); err == nil {
		t.Error("a commit that is nowhere is no error")
	}
}

func TestObjectDirAndForms(t *testing.T) {
	h := newHome(t)
	plain := h.repo("p")
	h.sh(h.dir, "clone", "-q", "--template=", "--shared", plain.Root, h.path("shared"))
	h.sh(h.dir, "init", "-q", "--template=", "--object-format=sha256", h.path("wide"))
	h.sh(h.path("wide"), "commit", "-q", "--allow-empty", "-m", "x")
	for name, c := range map[string]struct {
		dir  string
		wide bool
	}{"a plain one": {plain.Root, false}, "a shared clone": {h.path("shared"), false}, "sha256": {h.path("wide"), true}} {
		r := h.open(c.dir)
		if got, err := r.ObjectDir(t.Context()); err != nil || got != filepath.Join(c.dir, ".git", "objects") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if r.SHA256() != c.wide || r.Partial() {
			t.Errorf("%s: sha256 %v, partial %v", name, r.SHA256(), r.Partial())
		}
	}
}

func TestFiltersUsedAreThoseOfTrackedFiles(t *testing.T) {
	h := newHome(t)
	r := h.repo("p", "a.txt", "b.bin", "d/c.bin")
	for what, c := range map[string]struct {
		attributes string
		want       []string
	}{
		"none":                     {"*.none filter=x\n", nil},
		"one":                      {"*.bin filter=lfs\n", []string{"lfs"}},
		"two":                      {"*.bin filter=lfs\na.txt filter=crypt\n", []string{"crypt", "lfs"}},
		"unset":                    {"*.bin -filter\na.txt !filter\n", nil},
		"in a directory, by order": {"*.bin filter=lfs\nd/*.bin filter=other\n", []string{"lfs", "other"}},
	} {
		h.write(filepath.Join(r.Root, ".gitattributes"), c.attributes)
		h.sh(r.Root, "add", "-A")
		h.sh(r.Root, "commit", "-q", "--allow-empty", "-m", what)
		name := "w" + strings.ReplaceAll(what, " ", "")
		w, err := r.Linked(t.Context(), h.worktree(r, strings.ReplaceAll(name, ",", "")))
		if err != nil {
			t.Fatal(err)
		}
		h.write(filepath.Join(w.Dir, ".gitattributes"), "* filter=planted\n") // what is in the files does not count
		got, err := r.FiltersUsed(t.Context(), w)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, c.want)
		}
	}
}
