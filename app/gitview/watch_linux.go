package gitview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"termic/app/safefile"
)

const (
	// quiet is how long nothing may have happened before a change is told: a rebase moves the branch many times.
	quiet = 500 * time.Millisecond
	// overdue is when it is told all the same.
	overdue = 5 * time.Second
)

// Watch calls changed after the task's branch in the private directory may have changed, once for many changes, until
// ctx ends; it returns then, or with the reason why it cannot watch. It looks at directories through descriptors that
// it got without following a link, and reads nothing: what has changed, Sync finds out.
func (t Task) Watch(ctx context.Context, changed func()) error {
	w, err := t.watcher()
	if err != nil {
		return fmt.Errorf("watch the branch of %s: %w", t.ID, err)
	}
	defer w.close()
	stop := context.AfterFunc(ctx, func() { w.events.SetReadDeadline(time.Unix(1, 0)) }) //nolint:errcheck // it is a pollable file
	defer stop()
	seen, over := make(chan error), make(chan struct{})
	defer close(over)
	go func() {
		for {
			err := w.wait()
			select {
			case seen <- err:
			case <-over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return settleEvents(ctx, seen, changed)
}

// settleEvents tells of events once they have stopped, or when they do not.
func settleEvents(ctx context.Context, seen <-chan error, changed func()) error {
	var idle, late <-chan time.Time
	for {
		select {
		case err := <-seen:
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			idle = time.After(quiet)
			if late == nil {
				late = time.After(overdue)
			}
			continue
		case <-ctx.Done():
			return nil
		case <-idle:
		case <-late:
		}
		idle, late = nil, nil
		changed()
	}
}

// watcher is an inotify descriptor with the directories on the way to one ref.
type watcher struct {
	events  *os.File
	fd      int
	private string
	parts   []string // directories from the top to the ref
}

func (t Task) watcher() (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	w := &watcher{events: os.NewFile(uintptr(fd), "inotify"), fd: fd, private: t.Private}
	ref := strings.Split(t.branchRef(), "/")
	w.parts = ref[:len(ref)-1]
	if err := w.look(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *watcher) close() { w.events.Close() }

// look puts a watch on each directory that is there now. A directory that is watched already stays so: the same inode
// has the same watch (inotify(7)). The top one must be there, and is: it is a mount in the cage.
func (w *watcher) look() error {
	d, err := safefile.Hold(w.private)
	if err != nil {
		return err
	}
	defer func() { d.Close() }()
	for i := 0; ; i++ {
		if err := d.Watch(w.fd, unix.IN_MOVED_TO|unix.IN_CREATE|unix.IN_CLOSE_WRITE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_ONLYDIR); err != nil {
			return err
		}
		if i == len(w.parts) {
			return nil
		}
		next, err := d.Dir(w.parts[i])
		if err != nil { // it is not there, or no directory: then the watch above says when that changes
			return nil
		}
		d.Close()
		d = next
	}
}

// wait returns after something happened, and after the watches have been renewed.
func (w *watcher) wait() error {
	buf := make([]byte, 64<<10)
	n, err := w.events.Read(buf)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("inotify has ended")
	}
	return w.look()
}
