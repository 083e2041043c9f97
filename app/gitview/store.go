//go:build unix

package gitview

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"termic/app/git"
)

// storeTime bounds packing the history of a project: a kernel's takes minutes.
const storeTime = 30 * time.Minute

// makeStore makes the base store of isolated history: an object directory that holds what the tips reach, and borrows
// nothing. One that is there is of a private directory that is gone, and goes too.
func (t Task) makeStore(ctx context.Context, tips []git.OID) error {
	if err := os.RemoveAll(t.Store); err != nil {
		return err
	}
	if t.Repo.Partial() {
		return &UnsupportedError{"isolated history of a partial clone", "fetch what is missing, or share the project's objects"}
	}
	half := t.Store + ".half-" + rand.Text()
	for _, d := range []string{"pack", "info"} {
		if err := os.MkdirAll(filepath.Join(half, d), 0o700); err != nil {
			return err
		}
	}
	err := t.packInto(ctx, half, tips, nil)
	if err == nil {
		err = os.Rename(half, t.Store)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make a store of isolated history: %w", err), os.RemoveAll(half))
	}
	return nil
}

// Lend puts commits of the project, with the history that they have since the base, into the base store of isolated
// history, where the cage can read them. Without such a store the cage reads the project's objects, and nothing is done.
func (t Task) Lend(ctx context.Context, commits ...git.OID) error {
	if t.Store == "" {
		return nil
	}
	p, err := t.pins(ctx)
	if err != nil {
		return err
	}
	if err := t.packInto(ctx, t.Store, commits, []git.OID{p.base}); err != nil {
		return fmt.Errorf("lend commits to isolated history: %w", err)
	}
	return nil
}

// packInto packs what the tips reach and have does not into an object directory.
func (t Task) packInto(ctx context.Context, dir string, tips, have []git.OID) error {
	q, err := t.Repo.Quarantine(ctx, filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer q.Remove()
	var in strings.Builder
	for _, oid := range tips {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	for _, oid := range have {
		fmt.Fprintf(&in, "^%s\n", oid)
	}
	out := filepath.Join(q.Dir(), "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		return err
	}
	_, err = q.Run(ctx, git.Sealed{Stdin: strings.NewReader(in.String()), Timeout: storeTime,
		Args: []string{"pack-objects", "--revs", "--delta-base-offset", "-q", filepath.Join(out, "pack")}})
	if err != nil {
		return err
	}
	return movePacks(out, filepath.Join(dir, "pack"))
}
