package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Quarantine is an empty bare git directory of ours that borrows a project's objects: what is written into it is
// not in the project. Every call in it is sealed (package comment), so nothing that anybody configured runs.
type Quarantine struct{ s *scratch }

// Quarantine makes one below parent; "" is the temporary directory. The caller removes it.
func (r *Repo) Quarantine(ctx context.Context, parent string) (*Quarantine, error) {
	if parent == "" {
		parent = r.git.inherited["TMPDIR"]
	}
	s, err := r.bareScratch(parent, "", asPerson, config{"core.bare": "true", "core.sparsecheckout": "false"})
	if err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	q := &Quarantine{s: s}
	shallow, err := readSmall(filepath.Join(r.CommonDir, "shallow"), 16<<20)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "shallow"), shallow, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.Remove()
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	return q, nil
}

// Dir is the git directory: links resolved, for us only.
func (q *Quarantine) Dir() string { return q.s.dir }

// Remove removes the quarantine with what is still in it.
func (q *Quarantine) Remove() { q.s.remove() }

// Sealed is one call in a quarantine.
type Sealed struct {
	Args    []string  // the subcommand and its arguments
	Stdin   io.Reader // nil: nothing
	Stdout  io.Writer // instead of the returned bytes
	Limit   int64     // bytes of standard output; 0 is 64 MiB
	Timeout time.Duration
	Bounds  Bounds
}

// Bounds are what git may use up; zero is without a bound. Memory for one object holds everywhere. The others are
// kernel limits of the process (setrlimit(2)) and hold on Linux.
type Bounds struct {
	Object int64         // bytes of memory asked for at once
	Memory int64         // bytes of memory in all
	File   int64         // bytes of a file that git writes
	CPU    time.Duration // rounded up to a second
}

// Run runs git in the quarantine and returns its standard output. Errors are those of every call of this package.
func (q *Quarantine) Run(ctx context.Context, c Sealed) ([]byte, error) {
	sealed := call{args: c.Args, stdin: c.Stdin, stdout: c.Stdout, limit: c.Limit, timeout: c.Timeout, bounds: c.Bounds}
	if c.Bounds.Object > 0 {
		sealed.env = append(sealed.env, fmt.Sprintf("GIT_ALLOC_LIMIT=%d", c.Bounds.Object)) // git, wrapper.c
	}
	return q.s.run(ctx, sealed)
}
