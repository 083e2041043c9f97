package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// countSyncs makes l count its calls of fsync.
func countSyncs(l *Log) *atomic.Int32 {
	var n atomic.Int32
	l.fsync = func(f *os.File) error { n.Add(1); return f.Sync() }
	return &n
}

func TestCallersThatWaitAtTheSameTimeShareAnFsync(t *testing.T) {
	dir := logDir(t)
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, dir, Options{})
		syncs := 0
		gate := make(chan struct{})
		l.fsync = func(f *os.File) error {
			syncs++
			<-gate
			return f.Sync()
		}
		returned := atomic.Int32{}
		var wg sync.WaitGroup
		start := func(n int) {
			wg.Go(func() {
				if err := l.Record(context.Background(), decided(n)); err != nil {
					t.Error(err)
				}
				returned.Add(1)
			})
		}
		start(0)
		synctest.Wait() // the first is in its fsync
		for n := range 50 {
			start(n + 1)
		}
		synctest.Wait() // the others have written, and wait
		if got := len(lines(t, files(t, dir)[0])); got != 51 || syncs != 1 || returned.Load() != 0 {
			t.Errorf("%d lines, %d fsyncs, %d callers back; want 51, 1, 0", got, syncs, returned.Load())
		}
		gate <- struct{}{}
		synctest.Wait()
		if returned.Load() != 1 || syncs != 2 {
			t.Errorf("after the first fsync %d callers are back and %d fsyncs begun; want 1 and 2", returned.Load(), syncs)
		}
		gate <- struct{}{}
		wg.Wait()
		if syncs != 2 {
			t.Errorf("%d fsyncs for 51 decisions, want 2", syncs)
		}
	})
	whole(t, dir)
}

func TestADecisionOfAWriteIsOnDiskWhenRecordReturns(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	n := countSyncs(l)
	for i := range 5 {
		record(t, l, decided(i))
		if got := n.Load(); got != int32(i+1) {
			t.Fatalf("%d fsyncs after %d decisions", got, i+1)
		}
		if head, _, err := readHead(l.root); err != nil || head.seq != uint64(i+1) {
			t.Fatalf("head is %+v, %v", head, err)
		}
	}
}

func TestWhatNobodyWaitsForIsOnDiskWithin100Milliseconds(t *testing.T) {
	dir := logDir(t)
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, dir, Options{})
		n := countSyncs(l)
		record(t, l, read(1), finished(2), read(3))
		if n.Load() != 0 {
			t.Errorf("%d fsyncs before anybody waits", n.Load())
		}
		if got := len(lines(t, files(t, dir)[0])); got != 3 {
			t.Errorf("%d lines written, want 3: they must survive a crash of the process at once", got)
		}
		time.Sleep(flushAfter)
		synctest.Wait()
		if head, _, err := readHead(l.root); n.Load() != 1 || err != nil || head.seq != 3 {
			t.Errorf("after 100 ms %d fsyncs, head %+v, %v", n.Load(), head, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n.Load() != 1 {
			t.Errorf("%d fsyncs while nothing happens", n.Load())
		}
		record(t, l, read(4))
		shut(t, l)
	})
	if head, _, err := readHead(mustRoot(t, dir)); err != nil || head.seq != 4 {
		t.Errorf("after Close the head is %+v, %v", head, err)
	}
}

func mustRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestAFailedFsyncRefusesUntilTheBytesAreWrittenAgain(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	record(t, l, decided(0))
	bad := true
	l.fsync = func(f *os.File) error {
		if !bad {
			return f.Sync()
		}
		// As a failed write-back does: the pages count as clean, and what they held is gone.
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(make([]byte, fi.Size()-l.size+int64(len(l.unsynced))), l.size-int64(len(l.unsynced))); err != nil {
			return err
		}
		return syscall.EIO
	}
	for n := range 3 {
		if err := l.Record(t.Context(), decided(n+1)); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Record: %v, want EIO", err)
		}
	}
	if err := l.Record(t.Context(), read(9)); !errors.Is(err, syscall.EIO) {
		t.Errorf("Record of a read: %v, want EIO", err)
	}
	bad = false
	record(t, l, decided(5))
	r := whole(t, dir)
	if kinds(r.Noted) != "unsynced" || r.Noted[0].Count != 1 || r.Noted[0].Seq != 2 {
		t.Errorf("notes %+v; want that entry 2 is doubtful", r.Noted)
	}
	if got := requests(all(t, l)); got != "0 1 5" {
		t.Errorf("events %s", got)
	}
}

func TestAWaiterIsToldThatTheSharedFsyncFailed(t *testing.T) {
	dir := logDir(t)
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, dir, Options{})
		gate := make(chan error)
		l.fsync = func(*os.File) error { return <-gate }
		var wg sync.WaitGroup
		failures := atomic.Int32{}
		for n := range 10 {
			wg.Go(func() {
				if err := l.Record(context.Background(), decided(n)); errors.Is(err, ErrNoSpace) {
					failures.Add(1)
				}
			})
		}
		synctest.Wait()
		gate <- syscall.ENOSPC
		wg.Wait()
		if failures.Load() != 10 {
			t.Errorf("%d of 10 callers were told", failures.Load())
		}
		l.fsync = (*os.File).Sync
		record(t, l, decided(11))
		shut(t, l)
	})
	if r := whole(t, dir); kinds(r.Noted) != "unsynced" || r.Noted[0].Count != 10 {
		t.Errorf("notes %+v", r.Noted)
	}
}

func TestAHalfWrittenLineIsTakenBack(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{})
	record(t, l, decided(1))
	// What a failed write leaves, where even truncation failed.
	p := files(t, dir)[0]
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":2,` + string(make([]byte, 5000))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l.torn = true
	record(t, l, decided(2))
	if r := whole(t, dir); r.Entries != 2 {
		t.Errorf("report %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, nameHead)); err != nil {
		t.Error(err)
	}
}

func TestAFileIsOnDiskWholeBeforeTheLogGoesOnInTheNext(t *testing.T) {
	dir := logDir(t)
	l := opened(t, dir, Options{MaxFile: 2000, Keep: 100})
	onDisk := map[string]int64{}
	l.fsync = func(f *os.File) error {
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		onDisk[filepath.Base(f.Name())] = fi.Size()
		return f.Sync()
	}
	for n := 0; len(files(t, dir)) < 4; n++ {
		record(t, l, read(n)) // nobody waits for these
	}
	for _, p := range files(t, dir)[:3] {
		if fi, err := os.Stat(p); err != nil || onDisk[filepath.Base(p)] != fi.Size() {
			t.Errorf("%s: %d of %d bytes are on disk, %v", p, onDisk[filepath.Base(p)], fi.Size(), err)
		}
	}
}
