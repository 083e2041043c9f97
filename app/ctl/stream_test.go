package ctl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"termic/registry/refusal"
)

// fakeStream is a tab's terminal: what the test puts into output comes out, what the client types is in typed.
type fakeStream struct {
	output *io.PipeReader
	input  *io.PipeWriter // its program's end of output
	typed  chan string
	sizes  chan [2]int
	status int
	closed chan struct{}
	once   sync.Once
}

func newFakeStream() *fakeStream {
	s := &fakeStream{typed: make(chan string, 100), sizes: make(chan [2]int, 100), closed: make(chan struct{})}
	s.output, s.input = io.Pipe()
	return s
}

func (s *fakeStream) Read(p []byte) (int, error) { return s.output.Read(p) }
func (s *fakeStream) Write(p []byte) (int, error) {
	s.typed <- string(p)
	return len(p), nil
}
func (s *fakeStream) Resize(cols, rows int) error {
	s.sizes <- [2]int{cols, rows}
	return errors.New("this tab keeps its size")
}
func (s *fakeStream) Status() int { return s.status }
func (s *fakeStream) Close() error {
	s.once.Do(func() { s.output.CloseWithError(net.ErrClosed); close(s.closed) })
	return nil
}

// fakeStreams has one stream, under the ticket "once".
type fakeStreams struct {
	mu     sync.Mutex
	stream *fakeStream
}

func (s *fakeStreams) Open(_ context.Context, ticket string) (Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ticket != "once" || s.stream == nil {
		return nil, refusal.New(refusal.NotFound, "no such ticket", "attach again")
	}
	stream := s.stream
	s.stream = nil
	return stream, nil
}

func open(t *testing.T) (*fakeStream, *Terminal, func() error) {
	t.Helper()
	dir := privateDir(t)
	stream := newFakeStream()
	_, stop := start(t, dir, routerFunc(echo), &fakeStreams{stream: stream})
	terminal, err := NewClient(dir).Open(t.Context(), "once")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return stream, terminal, stop
}

func TestOutputComesWholeAndTheExitStatusLast(t *testing.T) {
	stream, terminal, _ := open(t)
	stream.status = 3
	want := strings.Repeat("0123456789abcdef", 20000) // several frames
	go func() {
		_, _ = io.WriteString(stream.input, want)
		stream.input.Close()
	}()
	var got bytes.Buffer
	status, err := terminal.Copy(&got)
	if err != nil || status != 3 {
		t.Errorf("status %d, %v", status, err)
	}
	if got.String() != want {
		t.Errorf("%d bytes of output, want %d", got.Len(), len(want))
	}
	<-stream.closed
}

func TestTypedTextAndSizesArriveInOrder(t *testing.T) {
	stream, terminal, _ := open(t)
	if err := terminal.Resize(120, 40); err != nil {
		t.Fatal(err)
	}
	paste := strings.Repeat("p", maxPayload+1)
	for _, text := range []string{"ls\r", paste} {
		if err := terminal.Type([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if size := <-stream.sizes; size != [2]int{120, 40} {
		t.Errorf("size is %v", size)
	}
	if got := <-stream.typed; got != "ls\r" {
		t.Errorf("typed %q", got)
	}
	if got := <-stream.typed + <-stream.typed; got != paste {
		t.Errorf("a paste of %d bytes arrives with %d", len(paste), len(got))
	}
}

func TestDetachingClosesTheStream(t *testing.T) {
	stream, terminal, _ := open(t)
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	<-stream.closed
}

func TestStoppingTheAppEndsStreams(t *testing.T) {
	stream, terminal, stop := open(t)
	copied := make(chan error, 1)
	go func() {
		_, err := terminal.Copy(io.Discard)
		copied <- err
	}()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	wantCode(t, <-copied, refusal.NotRunning)
	<-stream.closed
}

func TestAServersFrameFromAClientEndsTheStream(t *testing.T) {
	stream, terminal, _ := open(t)
	if err := terminal.send(frameOutput, []byte("forged")); err != nil {
		t.Fatal(err)
	}
	<-stream.closed
	if len(stream.typed) > 0 {
		t.Errorf("typed %q", <-stream.typed)
	}
}

func TestATicketOpensOnce(t *testing.T) {
	dir := privateDir(t)
	start(t, dir, routerFunc(echo), &fakeStreams{stream: newFakeStream()})
	_, err := NewClient(dir).Open(t.Context(), "guess")
	wantCode(t, err, refusal.NotFound)
	terminal, err := NewClient(dir).Open(t.Context(), "once")
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	_, err = NewClient(dir).Open(t.Context(), "once")
	wantCode(t, err, refusal.NotFound)
}

func TestAStreamNeedsTokenAndUpgrade(t *testing.T) {
	rows := []struct{ name, token, upgrade, status string }{
		{"no token", "", streamProtocol, "401"},
		{"another token", newToken(), streamProtocol, "401"},
		{"no upgrade", "right", "", "426"},
		{"another protocol", "right", "websocket", "426"},
		{"both", "right", streamProtocol, "101"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			streams := &fakeStreams{stream: newFakeStream()}
			l, _ := start(t, privateDir(t), routerFunc(echo), streams)
			if row.token == "right" {
				row.token = l.token
			}
			got := raw(t, l, "POST /stream/once HTTP/1.1\r\nHost: termic\r\nConnection: Upgrade\r\nAuthorization: Bearer "+
				row.token+"\r\nUpgrade: "+row.upgrade+"\r\nContent-Length: 0\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 "+row.status) {
				t.Errorf("answer is %q", got)
			}
			streams.mu.Lock()
			defer streams.mu.Unlock()
			if opened := streams.stream == nil; opened != (row.status == "101") {
				t.Errorf("opened: %v", opened)
			}
		})
	}
}

// A client that does not read holds its stream up, and nothing grows: the server reads no more output than it
// has sent.
func TestAClientThatDoesNotReadIsNotReadAheadFor(t *testing.T) {
	client, server := net.Pipe() // no buffer at all
	defer client.Close()
	stream := newFakeStream()
	written := make(chan int, 10)
	go func() {
		for range 3 {
			n, err := stream.input.Write([]byte("12345678"))
			if err != nil {
				close(written)
				return
			}
			written <- n
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- sendOutput(server, stream) }()
	frame := make([]byte, frameHead+8)
	<-written // the first was read, and cannot be sent
	if _, err := io.ReadFull(client, frame); err != nil {
		t.Fatal(err)
	}
	<-written
	if len(written) > 0 {
		t.Error("output was read ahead of the client")
	}
	client.Close()
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("sending ended with %v", err)
	}
	stream.Close()
}
