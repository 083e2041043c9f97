package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestGitsProgressIsPassedOnAndTakenOut: however its bytes come, and what says why git failed stays whole.
func TestGitsProgressIsPassedOnAndTakenOut(t *testing.T) {
	const stderr = "Preparing worktree (new branch 'x')\n" +
		"remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\n" +
		"Receiving objects:   7% (7/100), 1.20 MiB | 2.00 MiB/s\rReceiving objects: 100% (100/100), done.\n" +
		"Updating files:   0% (3/2000)\rUpdating files:  42% (840/2000)\rFiltering content: 100% (4/4), 1 MiB | 1 MiB/s, done.\n" +
		"Updating files: 101% (1/1)\nUpdating mice: 10% (1/10)\nfatal: it broke"
	said := []string{
		"fetching: 7% (7 of 100 objects)", "fetching: 100% (100 of 100 objects)",
		"checking out: 0% (3 of 2000 files)", "checking out: 42% (840 of 2000 files)", "filtering: 100% (4 of 4 files)",
	}
	const kept = "Preparing worktree (new branch 'x')\nremote: Counting objects: 100% (2/2), done.\nUpdating files: 101% (1/1)\nUpdating mice: 10% (1/10)\nfatal: it broke"
	for _, piece := range []int{1, 2, 3, 7, 64, len(stderr)} {
		var out bytes.Buffer
		var told []string
		w := &progressLines{to: &out, say: func(text string) { told = append(told, text) }}
		for rest := []byte(stderr); len(rest) > 0; {
			n := min(piece, len(rest))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("wrote %d, %v", got, err)
			}
			rest = rest[n:]
		}
		if err := w.rest(); err != nil || out.String() != kept || !slices.Equal(told, said) {
			t.Errorf("in pieces of %d: %v\n%q\nsaid %q", piece, err, out.String(), told)
		}
	}
}

func FuzzProgressLines(f *testing.F) {
	f.Add([]byte("Updating files:  42% (420/1000)\rfatal: no\n"), 3)
	f.Add([]byte("\r\n\r\r\n"), 1)
	text := regexp.MustCompile(`^(checking out|filtering|fetching|unpacking what was fetched): (100|[0-9]?[0-9])% \([0-9]+ of [0-9]+ (files|objects)\)$`)
	f.Fuzz(func(t *testing.T, stderr []byte, piece int) {
		var out bytes.Buffer
		w := &progressLines{to: &out, say: func(said string) {
			if !text.MatchString(said) {
				t.Errorf("said %q", said)
			}
		}}
		piece = 1 + max(piece, -piece, 0)%64
		for rest := stderr; len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			if len(w.part) > maxProgressLine+64 {
				t.Fatal("a line that never ends is kept")
			}
		}
		if err := w.rest(); err != nil || out.Len() > len(stderr) {
			t.Errorf("%v, %d bytes of %d", err, out.Len(), len(stderr))
		}
	})
}

// TestACheckoutSaysHowFarItIs: with git's own progress, on a repository that takes longer than git waits with it.
func TestACheckoutSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("shop")
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(r.Root, "f"+strconv.Itoa(i)), []byte(strconv.Itoa(i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.Root, ".gitattributes"), []byte("f* filter=slow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.sh(r.Root, "add", ".")
	h.sh(r.Root, "commit", "-qm", "many")
	h.sh(r.Root, "config", "filter.slow.smudge", "sleep 0.1; cat")
	var said []string
	err := r.AddWorktree(context.Background(), AddOptions{
		Dir: h.path("task"), Branch: "task", Base: h.oid(r.Root, "HEAD"), Progress: func(text string) { said = append(said, text) },
	})
	if err != nil || len(said) < 2 || !strings.HasPrefix(said[0], "checking out: ") || !strings.HasSuffix(said[len(said)-1], " files)") {
		t.Errorf("%v, said %q", err, said)
	}
}
