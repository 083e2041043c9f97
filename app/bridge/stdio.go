package bridge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"termic/mcpserver/jsonrpc"
)

const (
	// maxLine bounds a message: the endpoint takes 4 MiB.
	maxLine = 4 << 20
	// maxAtOnce is how many requests are under way at once. The endpoint takes 32 of one token.
	maxAtOnce = 16
	// maxWaiting is how many more are held until there is room; the next line is read when fewer are. Meanwhile cancellations
	// come through.
	maxWaiting = 48
	// drainTimeout is how long what is under way may take once the client has closed its end. A client that goes
	// away closes it and waits for nothing; a script may have sent one line and wait for its answer.
	drainTimeout = 10 * time.Second
)

// Bridge carries messages between a client on standard input and output and the endpoint, each by itself.
type Bridge struct {
	Client
	// Version is what it says of itself, Instructions what a model should know of the tools together.
	Version, Instructions string

	out   *bufio.Writer
	write sync.Mutex // held while a line is written

	// drain is drainTimeout; tests set less.
	drain time.Duration

	mu     sync.Mutex
	to     connection                    // the last one that worked; empty at first
	active map[string]context.CancelFunc // by id as written
	// opened is the older revision that the client opened with; empty while it has not. Messages are carried without it: it
	// says only what may be left out of answers.
	opened string
}

// Serve answers until in ends or ctx does. Its errors are those of in.
func (b *Bridge) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	b.out, b.active = bufio.NewWriter(out), map[string]context.CancelFunc{}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }()
	room, held := make(chan struct{}, maxAtOnce), make(chan struct{}, maxAtOnce+maxWaiting)
	var all sync.WaitGroup
	for line := next(ctx, lines); line != nil; line = next(ctx, lines) {
		message, failure := decode(line)
		switch {
		case failure != nil:
			b.fail(message.ID, failure)
			continue
		case message.IsNotification():
			b.notified(message) // at once: a cancellation makes room
			continue
		}
		held <- struct{}{}
		own, done := b.begin(ctx, message)
		all.Go(func() {
			defer func() { done(); <-held }()
			select {
			case room <- struct{}{}:
				b.request(own, message)
				<-room
			case <-own.Done(): // a request that its client cancelled gets no answer
			}
		})
	}
	giveUp := time.AfterFunc(cmp.Or(b.drain, drainTimeout), cancel)
	defer giveUp.Stop()
	all.Wait()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done(): // a read that nothing ends
		return nil
	}
}

// next returns the next line, nil when there is none or ctx has ended.
func next(ctx context.Context, lines <-chan []byte) []byte {
	select {
	case line := <-lines:
		return line
	case <-ctx.Done():
		return nil
	}
}

// readLines sends each line that is not empty, until in or ctx ends, and then closes lines. When ctx ends first a
// read may stay behind: it ends with the process.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	defer close(lines)
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(reader)
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// errLong marks a line that is no message because it is too long. It is answered like one.
var errLong = []byte("too long")

// readLine returns the next line without its end; one that is too long is skipped and stands as errLong.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read standard input: %w", err)
		case long:
			return errLong, err
		}
		return line, err
	}
}

// begin registers a request, so that a later message can cancel it.
func (b *Bridge) begin(ctx context.Context, message jsonrpc.Message) (context.Context, func()) {
	own, cancel := context.WithCancel(ctx)
	id := string(message.ID)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active[id] = cancel
	return own, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.active, id)
		cancel()
	}
}

// decode reads a line.
func decode(line []byte) (jsonrpc.Message, *jsonrpc.Error) {
	if bytes.Equal(line, errLong) {
		return jsonrpc.Message{}, jsonrpc.ErrInvalidRequest.With(fmt.Sprintf("a message is longer than %d bytes", maxLine))
	}
	return jsonrpc.Decode(line)
}

// notified takes a notification. Only one is for the bridge itself; the endpoint has none.
func (b *Bridge) notified(message jsonrpc.Message) {
	if message.Method != "notifications/cancelled" || message.Params == nil {
		return
	}
	params, err := jsonrpc.Object(message.Params)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.active[string(params["requestId"])]; cancel != nil {
		cancel()
	}
}

// say writes one message on a line of its own. A client that does not read is no reason to end: it will be seen
// when it closes its end.
func (b *Bridge) say(message []byte) {
	b.write.Lock()
	defer b.write.Unlock()
	_, _ = b.out.Write(append(message, '\n'))
	_ = b.out.Flush()
}

func (b *Bridge) fail(id jsonrpc.ID, failure *jsonrpc.Error) {
	b.say(jsonrpc.AppendError(nil, id, failure))
}
