// Package audit is the append-only record of what was asked of termic and how it was decided.
//
// It is JSON lines, one an entry, in files that rotate. Each line holds the hash of the line before it, so that a change, a
// removal or a swap in the middle is found by Verify, and a small head file tells when the end was cut off. Whoever can write
// the directory and recomputes everything from a point on, head included, is not found: there is no key that the
// person's own account could not read. The log is evidence against accidents, other users and caged agents (none of whom reach
// the directory), not against the person.
package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"termic/registry"
	"termic/registry/ident"
)

// Defaults of Options.
const (
	defaultMaxFile = 10 << 20  // 10 MiB, about 20,000 events
	defaultKeep    = 20        // 200 MiB in all
	defaultQuota   = 4 << 20   // 4 MiB, about 4,000 calls an hour; an agent that polls every second makes 3,600
	defaultReserve = 256 << 10 // 256 KiB, about 500 events that take power away
)

// flushAfter is how long an event that nobody waits for may stay unsynced (design, section 8).
const flushAfter = 100 * time.Millisecond

var (
	// ErrNoSpace: the disk, a quota or a file size limit is full.
	ErrNoSpace = errors.New("no space left for the audit log")
	// ErrQuota: a grant has written its share of this hour; see QuotaError.
	ErrQuota = errors.New("audit quota is used up")
	// ErrClosed: the log is closed.
	ErrClosed = errors.New("audit log is closed")
)

// Options are the log's limits. A zero member means its default.
type Options struct {
	MaxFile int64 // bytes after which the log goes on in a new file
	Keep    int   // number of files, the current one included; older ones are removed
	Quota   int64 // bytes that one grant may cause in an hour
	Reserve int64 // bytes of disk kept for events that Always accepts and for outcomes
	// Always tells events that take power away: they may use the reserve. nil accepts none.
	Always func(registry.Event) bool
}

func (o Options) withDefaults() Options {
	if o.MaxFile == 0 {
		o.MaxFile = defaultMaxFile
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	if o.Quota == 0 {
		o.Quota = defaultQuota
	}
	if o.Reserve == 0 {
		o.Reserve = defaultReserve
	}
	if o.Always == nil {
		o.Always = func(registry.Event) bool { return false }
	}
	return o
}

// Log is an open audit log. Only one process may have a directory open at a time: the caller holds the data directory's lock.
type Log struct {
	root *os.Root
	opts Options
	// os.File.Sync and allocate; tests count and fail them.
	fsync func(*os.File) error
	alloc func(f *os.File, from, to int64) error

	mu sync.Mutex // guards everything below; released only while syncing
	// idle is signalled when an fsync has ended.
	idle    *sync.Cond
	syncing bool

	file     *os.File
	name     string
	size     int64 // end of the last whole line
	reserved int64 // end of the disk blocks that are known to be ours; at least size
	torn     bool  // the file may be longer than size
	starving bool  // the disk was full when last asked
	rotating bool

	last    state         // the last entry written
	line    []byte        // of the last entry; its room is used again
	grown   chan struct{} // closed when an entry is written; nil while nobody waits for one
	durable state         // the last entry known to be on disk
	// unsynced are the bytes of the file from the end of durable on, kept for repair.
	unsynced []byte
	failed   error // the last fsync's; nothing is recorded until repair succeeds

	timer  *time.Timer // pending flush, or nil
	quotas map[ident.Grant]*window
	head   *os.File
	closed bool
}

var _ registry.Sink = (*Log)(nil)

// Open opens the log in dir, created with mode 0700 where it is missing, and continues its chain.
//
// What a crash left behind the last whole line is moved to a side file and noted. A file that was changed from outside is left as it
// is, noted, and continued in a new file. Neither is an error: Verify reports it.
func Open(dir string, opts Options) (*Log, error) {
	l, err := open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", classify(err))
	}
	return l, nil
}

func open(dir string, opts Options) (_ *Log, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	l := &Log{root: root, opts: opts.withDefaults(), fsync: (*os.File).Sync, alloc: allocate, quotas: map[ident.Grant]*window{}}
	l.idle = sync.NewCond(&l.mu)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.resume(); err != nil {
		l.closeFiles()
		return nil, err
	}
	return l, nil
}

// Close makes everything durable and closes the log. It may be called twice.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	err := l.sync(l.last.seq)
	for l.syncing {
		l.idle.Wait()
	}
	if err := errors.Join(err, l.closeFiles()); err != nil {
		return fmt.Errorf("close audit log: %w", err)
	}
	return nil
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{l.file, l.head} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(append(errs, l.root.Close())...)
}
