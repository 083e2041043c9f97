package ctl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"termic/registry/refusal"
)

// Terminal is the client's end of a stream. Its methods may be called from several goroutines, Copy from one.
type Terminal struct {
	conn net.Conn
	from *bufio.Reader
	mu   sync.Mutex // held while a frame is written
}

// Open opens the stream of a ticket. Every error is a *refusal.Refusal, as with Call. ctx ends the opening,
// not the stream.
func (c *Client) Open(ctx context.Context, ticket string) (*Terminal, error) {
	header := http.Header{"Connection": {"Upgrade"}, "Upgrade": {streamProtocol}}
	x, err := c.post(ctx, "/stream/"+url.PathEscape(ticket), header, nil)
	if err != nil {
		return nil, explainFailure(ctx, err)
	}
	if x.response.StatusCode == http.StatusSwitchingProtocols {
		return &Terminal{conn: x.conn, from: x.from}, nil
	}
	defer x.conn.Close()
	if _, err = readAnswer(x.response, nil); err == nil {
		err = fmt.Errorf("the app answered %s instead of opening the stream", x.response.Status)
	}
	return nil, explainFailure(ctx, err)
}

// Copy writes the tab's output to w until what runs in the tab ends, and returns its exit status. When the
// connection ends first the error is a *refusal.Refusal with code not_running.
func (t *Terminal) Copy(w io.Writer) (status int, err error) {
	buf := make([]byte, maxPayload)
	for {
		kind, payload, err := readFrame(t.from, buf)
		switch {
		case err != nil:
			return 0, refusal.New(refusal.NotRunning, "the connection to the app ended", startIt).Because(err)
		case kind == frameExit:
			return exitStatus(payload), nil
		case kind != frameOutput:
			return 0, refusal.Of(fmt.Errorf("read output: type %d is not the app's", kind))
		}
		if _, err := w.Write(payload); err != nil {
			return 0, fmt.Errorf("write the tab's output: %w", err)
		}
	}
}

// Type sends p as typed. It blocks while the program in the tab does not read.
func (t *Terminal) Type(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), maxPayload)
		if err := t.send(frameInput, p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Resize tells the size of this terminal in cells, within what a tab can have.
func (t *Terminal) Resize(cols, rows int) error {
	return t.send(frameResize, resizePayload(cols, rows))
}

func (t *Terminal) send(kind byte, payload []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.conn.Write(appendFrame(nil, kind, payload))
	return err
}

// Close detaches: the tab goes on.
func (t *Terminal) Close() error { return t.conn.Close() }
