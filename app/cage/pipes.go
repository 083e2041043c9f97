package cage

import (
	"io"
	"os"
	"sync"
)

// pipes are the standard files of a command in a cage: a cage takes nothing else, since a file or directory of the
// host would be a way out.
type pipes struct {
	theirs [3]*os.File // stdin, stdout, stderr in the cage
	ours   [3]*os.File
}

func newPipes() (*pipes, error) {
	p := &pipes{}
	for i := range p.theirs {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.close()
			return nil, err
		}
		p.theirs[i], p.ours[i] = w, r
		if i == 0 {
			p.theirs[i], p.ours[i] = r, w
		}
	}
	return p, nil
}

// close closes our ends; what waits for them goes on.
func (p *pipes) close() { closeAll(p.ours) }

func (p *pipes) closeTheirs() { closeAll(p.theirs) }

func closeAll(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a second time it is an error without meaning
		}
	}
}

// copy moves what there is until all pipes are at their end. The channel gets the first error of stdout; that stdin
// was not read to its end is none.
func (p *pipes) copy(stdin io.Reader, stdout, stderr io.Writer) <-chan error {
	if stdin == nil {
		_ = p.ours[0].Close()
	} else {
		go func() {
			_, _ = io.Copy(p.ours[0], stdin)
			_ = p.ours[0].Close()
		}()
	}
	done := make(chan error, 1)
	var reading sync.WaitGroup
	var failed error
	reading.Go(func() {
		_, failed = io.Copy(stdout, p.ours[1])
		if failed != nil {
			_ = p.ours[1].Close() // the program gets SIGPIPE and does not wait for a reader
		}
	})
	reading.Go(func() { _, _ = io.Copy(stderr, p.ours[2]) })
	go func() {
		reading.Wait()
		done <- failed
	}()
	return done
}

// tail keeps the last bytes of what is written.
type tail struct {
	mu    sync.Mutex
	limit int
	kept  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-t.limit):]...)
	t.kept = t.kept[max(0, len(t.kept)-t.limit):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
