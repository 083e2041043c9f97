//go:build unix

package gitview

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/git"
)

// The project collects an object that the new commits borrow and nothing keeps, after we looked and before we
// pinned. The import says so and leaves no pin; the twin without the collection succeeds.
func TestObjectsThatGoWhileCommitsComeIn(t *testing.T) {
	for name, collect := range map[string]bool{"nothing is collected": false, "a borrowed file is collected": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			borrowed := r.projectObject("blob", "kept by nothing\n")
			tree := r.treeOf(line("100644", "x", borrowed))
			tip := r.commitOf(tree)
			p, err := r.task.pins(t.Context())
			must(t, err)
			q, err := r.task.Repo.Quarantine(t.Context(), "")
			must(t, err)
			defer q.Remove()
			in := &incoming{Task: r.task, q: q, lim: Limits{}.filled(), pins: p, tips: []git.OID{tip}}
			must(t, in.receive(t.Context(), bytes.NewReader(r.packOf(tip, tree))))
			must(t, in.examine(t.Context()))
			if collect {
				r.host("prune", "--expire=now")
			}
			err = in.accept(t.Context())
			if collect != errors.Is(err, ErrRaced) || !collect && err != nil {
				t.Errorf("%v", err)
			}
			if pinned := strings.Contains(r.host("for-each-ref"), string(tip)); pinned == collect {
				t.Errorf("pinned: %v", pinned)
			}
		})
	}
}

// Another file system than the project's: the pack is copied.
func TestPackAcrossFileSystems(t *testing.T) {
	r := newRig(t)
	tip := r.commit("a.txt", "agent\n")
	pack := r.packed(Claim{Tip: tip})
	from, to := t.TempDir(), t.TempDir()
	name := "pack-" + strings.Repeat("a", 40) + ".pack"
	r.write(filepath.Join(from, name), string(pack))
	must(t, copyAcross(filepath.Join(from, name), filepath.Join(to, name)))
	got, err := readIn(to, name, 1<<20)
	if err != nil || !bytes.Equal(got, pack) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := readIn(from, name, 1<<20); err == nil {
		t.Error("the original is still there")
	}
}
