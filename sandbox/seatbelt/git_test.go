package seatbelt_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
)

// gitCage is a checkout with the host's .git file, which leads to nothing in a cage, a git directory of the task's, and the program
// git that a cage has. Nothing here needs a policy.
type gitCage struct {
	t                                *testing.T
	base, checkout, private, program string
	real                             string
}

func newGitCage(t *testing.T) *gitCage {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &gitCage{t: t, base: base, real: real, checkout: filepath.Join(base, `it's a "checkout" $(x)`), private: filepath.Join(base, "private's"), program: filepath.Join(base, "pro grams")}
	for _, dir := range []string{"a/b", "nested", "bare.git"} {
		c.must(os.MkdirAll(filepath.Join(c.checkout, dir), 0o700))
	}
	c.must(os.Mkdir(c.program, 0o700))
	for _, args := range [][]string{{"init", "-q", "--bare", c.private}, {"--git-dir=" + c.private, "config", "core.bare", "false"},
		{"init", "-q", filepath.Join(c.checkout, "nested")}, {"init", "-q", "--bare", filepath.Join(c.checkout, "bare.git")}} {
		if out, err := exec.Command(real, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	c.must(os.WriteFile(filepath.Join(c.checkout, ".git"), []byte("gitdir: /nonexistent/host's view\n"), 0o600))
	text, err := seatbelt.Git(profile.Profile{Checkout: c.checkout}, seatbelt.Places{Programs: c.program}, "gitdir: "+c.private+"\n")
	c.must(err)
	c.must(os.WriteFile(filepath.Join(c.program, "git"), []byte(text), 0o700))
	return c
}

func (c *gitCage) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// run runs a line of sh with the cage's git first in the PATH, or without it.
func (c *gitCage) run(dir, line string, caged bool, env ...string) (string, error) {
	path := filepath.Dir(c.real) + ":/usr/bin:/bin"
	if caged {
		path = c.program + "::relative:" + path
	}
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = filepath.Join(c.base, dir)
	cmd.Env = append([]string{"PATH=" + path, "HOME=" + c.base, "GIT_CONFIG_NOSYSTEM=1", "C=" + c.checkout, "P=" + c.private}, env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestGitOfACageFindsTheTasksRepository(t *testing.T) {
	c := newGitCage(t)
	here, err := filepath.Rel(c.base, c.checkout)
	c.must(err)
	where := `git rev-parse --absolute-git-dir`
	for _, tt := range []struct {
		what, dir, line string
		env             []string
		want            string // what it prints; empty: git fails
	}{
		{"in the checkout", here, where, nil, c.private},
		{"below it", here + "/a/b", where, nil, c.private},
		{"below it, from where", here + "/a/b", `git rev-parse --show-prefix`, nil, "a/b/"},
		{"by -C from outside", ".", `git -C "$C" rev-parse --absolute-git-dir`, nil, c.private},
		{"by -C twice", ".", `git -C "$C" -C a rev-parse --show-prefix`, nil, "a/"},
		{"by an empty -C", here, `git -C '' rev-parse --absolute-git-dir`, nil, c.private},
		{"with a setting", here, `git -c user.name=me rev-parse --absolute-git-dir`, nil, c.private},
		{"out of it by -C", here, `git -C nested rev-parse --absolute-git-dir`, nil, c.checkout + "/nested/.git"},
		{"in a repository below", here + "/nested", where, nil, c.checkout + "/nested/.git"},
		{"in one that it was not told of", here + "/nested", where, []string{"GIT_DIR=" + c.private, "GIT_WORK_TREE=" + c.checkout}, c.checkout + "/nested/.git"},
		{"in a bare repository below", here + "/bare.git", where, nil, c.checkout + "/bare.git"},
		{"told of another", here, where, []string{"GIT_DIR=" + c.checkout + "/nested/.git"}, c.checkout + "/nested/.git"},
		{"told of another by an option", here, `git --git-dir=nested/.git rev-parse --absolute-git-dir`, nil, c.checkout + "/nested/.git"},
		{"outside", ".", where, nil, ""},
		{"a new repository", here, `git init -q new && git -C new rev-parse --absolute-git-dir`, nil, c.checkout + "/new/.git"},
		{"a clone", here, `git clone -q nested copy 2>/dev/null; git -C copy rev-parse --absolute-git-dir`, nil, c.checkout + "/copy/.git"},
		{"what git starts", here, `git -c alias.x='!git rev-parse --absolute-git-dir' x`, nil, c.private},
		{"a commit and its log", here, `touch a/f && git add a/f && git -c user.name=n -c user.email=e commit -qm one && git log --format=%s && git status --porcelain -- a`, nil, "one"},
	} {
		got, err := c.run(tt.dir, tt.line, true, tt.env...)
		if (err == nil) != (tt.want != "") || err == nil && got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.what, got, err, tt.want)
		}
	}
	// The twin: git by itself finds none, since the checkout's .git file is not for it.
	if got, err := c.run(here, where, false); err == nil {
		t.Errorf("without the cage's git: %q", got)
	}
	var exit *exec.ExitError
	if out, err := c.run(here, `PATH="$(dirname "$(command -v git)")"; git status`, true); !errors.As(err, &exit) || exit.ExitCode() != 127 {
		t.Errorf("without another git: %v: %s", err, out)
	}
}

func TestGitFileOfAProfile(t *testing.T) {
	p := profile.Profile{Checkout: "/c", Rules: []profile.Rule{{Path: "/c/.git", Source: "/data/gitfile", Access: profile.ReadOnly, Own: true}}}
	if got := seatbelt.GitFile(p); got != "/data/gitfile" {
		t.Errorf("%q", got)
	}
	p.Rules[0].Own = false
	if got := seatbelt.GitFile(p); got != "" {
		t.Errorf("a file of the checkout is taken for ours: %q", got)
	}
	for _, file := range []string{"", "private", "gitdir: relative", "gitdir: /a\n/b", "gitdir: /a\x00", "gitdir: /\xff", "gitdir: /a/../b"} {
		if text, err := seatbelt.Git(profile.Profile{Checkout: "/c"}, seatbelt.Places{Programs: "/p"}, file); err == nil {
			t.Errorf("%q makes\n%s", file, text)
		}
	}
}
