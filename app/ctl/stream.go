package ctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"termic/registry/refusal"
)

const streamProtocol = "termic-stream/1"

// Streams opens what a ticket stands for. The ticket comes from the result of a verb that is a stream, so the
// call was dispatched and recorded; opening it checks no rights again.
type Streams interface {
	// Open returns the stream of a ticket, once: a ticket that is unknown, used or too old is a
	// *refusal.Refusal with code not_found.
	Open(ctx context.Context, ticket string) (Stream, error)
}

// Stream is one client's view of a tab's terminal. Read is called by one goroutine, Write and Resize by
// another; Close may come at any time and ends all of them.
type Stream interface {
	// Read returns output: first what draws the screen as it is now, then everything live, in order. It
	// blocks until there is some. io.EOF means that what ran in the tab has ended and that all of its
	// output was returned; Status is known then. After Close it returns an error at once.
	//
	// A client that reads slowly, or not at all while it is suspended, shows as Read not being called. The
	// implementation then holds a bounded amount and never holds up the tab or its other watchers: when the
	// bound is reached it drops what it holds, and the next Read returns a fresh drawing of the screen.
	Read(p []byte) (n int, err error)
	// Write types p into the terminal. It may block while the program in it does not read.
	Write(p []byte) (n int, err error)
	// Resize tells the size of the client's terminal, in cells.
	Resize(cols, rows int) error
	// Status is the exit status of what ran in the tab, once Read has returned io.EOF.
	Status() int
	// Close ends the stream; the tab goes on.
	Close() error
}

// serveStream opens a ticket and carries its frames until either end is done.
func (s *server) serveStream(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), streamProtocol) {
		w.Header().Set("Upgrade", streamProtocol)
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	if !s.streams.enter() {
		refuse(w, refusal.New(refusal.Busy, "too many streams are open", "detach one, then try again"))
		return
	}
	defer s.streams.leave()
	stream, err := s.source.Open(r.Context(), r.PathValue("ticket"))
	if err != nil {
		refuse(w, s.explain(err))
		return
	}
	defer stream.Close()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.log.Error("stream not taken over", "cause", err)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(s.stopping, func() { conn.Close() })()
	if err := upgrade(conn); err != nil {
		return
	}
	if err := carry(conn, buffered.Reader, stream); err != nil {
		s.log.Info("stream ended early", "cause", err)
	}
}

func upgrade(conn net.Conn) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", streamProtocol)
	return err
}

// carry moves frames both ways until the client is gone (nil), the tab's process has ended (nil) or something
// breaks. It closes conn and stream. Memory: one frame each way; the socket's own buffers are the flow control.
//
// While the program in the tab reads nothing and writes nothing, and the client had sent more than it takes,
// a client that went away is noticed only when the program goes on or ends.
func carry(conn net.Conn, from *bufio.Reader, stream Stream) error {
	var once sync.Once
	end := func() { once.Do(func() { stream.Close(); conn.Close() }) }
	defer end()
	inputEnded := make(chan error, 1)
	go func() {
		defer end()
		inputEnded <- takeInput(from, stream)
	}()
	outputErr := sendOutput(conn, stream)
	end()
	inputErr := <-inputEnded
	if outputErr == nil || inputErr == nil || errors.Is(inputErr, net.ErrClosed) {
		return nil
	}
	return inputErr
}

// sendOutput returns nil when the stream came to its end and the client was told.
func sendOutput(conn io.Writer, stream Stream) error {
	buf := make([]byte, frameHead+maxPayload)
	for {
		n, err := stream.Read(buf[frameHead:])
		if n > 0 {
			appendHead(buf[:0], frameOutput, n)
			if _, err := conn.Write(buf[:frameHead+n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			_, err := conn.Write(appendFrame(nil, frameExit, exitPayload(stream.Status())))
			return err
		case err != nil:
			return err
		}
	}
}

// takeInput returns nil when the client has closed its end.
func takeInput(from *bufio.Reader, stream Stream) error {
	buf := make([]byte, maxPayload)
	for {
		kind, payload, err := readFrame(from, buf)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case kind == frameInput:
			_, err = stream.Write(payload)
		case kind == frameResize:
			var cols, rows int
			if cols, rows, err = resizeTo(payload); err == nil {
				// A tab that keeps its size goes on, and one that has ended ends Read.
				_ = stream.Resize(cols, rows)
			}
		default:
			err = fmt.Errorf("take input: type %d is not a client's", kind)
		}
		if err != nil {
			return err
		}
	}
}
