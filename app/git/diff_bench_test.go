package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkDiff compares a diff of 20,000 changed files with what plain git needs for the same answer: everything staged into
// an index of its own, then the list and the patch. Both run in turn, so that the ratio holds on a busy machine.
func BenchmarkDiff(b *testing.B) {
	const files = 20_000
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	git := func(at string, more []string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", at}, args...)...)
		cmd.Env = append(env, more...)
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	root, work := filepath.Join(dir, "project"), filepath.Join(dir, "work")
	write := func(text string, at string) {
		for i := range files {
			path := filepath.Join(at, fmt.Sprintf("d%d", i%200), fmt.Sprintf("f%d", i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, fmt.Append(nil, i, text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	write("\n", root)
	git(root, nil, "init", "-q", "-b", "main")
	git(root, nil, "add", ".")
	git(root, nil, "commit", "-q", "-m", "first")
	g, err := findIn(b.Context(), func(name string) (string, bool) {
		if name == "HOME" || name == "TMPDIR" {
			return dir, true
		}
		return os.LookupEnv(name)
	})
	if err != nil {
		b.Fatal(err)
	}
	r, err := g.Open(b.Context(), root)
	if err != nil {
		b.Fatal(err)
	}
	base, err := r.Resolve(b.Context(), "main")
	if err != nil {
		b.Fatal(err)
	}
	git(root, nil, "worktree", "add", "-q", "-b", "work", work)
	write("\nchanged\n", work)
	var ours, plain time.Duration
	for b.Loop() {
		begin := time.Now()
		d, err := r.Diff(b.Context(), work, base, DiffOptions{})
		if err != nil || d.Count != files {
			b.Fatal(d.Count, err)
		}
		ours += time.Since(begin)
		begin = time.Now()
		index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
		git(work, index, "read-tree", "HEAD")
		git(work, index, "add", "-A")
		git(work, index, "diff", "--cached", "--raw", "--numstat", "-z", string(base))
		git(work, index, "diff", "--cached", string(base))
		plain += time.Since(begin)
	}
	b.ReportMetric(float64(ours)/float64(plain), "x-plain-git")
}
