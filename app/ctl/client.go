package ctl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"syscall"

	"termic/registry/refusal"
)

const startIt = "start it with: termic serve"

// Client calls the app that runs on a data directory. It keeps nothing open between calls.
type Client struct {
	dir string
}

// NewClient returns a client of the app on that data directory, whether or not one runs.
func NewClient(dir string) *Client { return &Client{dir} }

// Call asks the app and returns the result. Every error is a *refusal.Refusal: the app's own, or not_running
// when nothing answers, not_permitted when what answers is not ours, cancelled when ctx ended first.
//
// A call that ends in not_running because the app went away may have been carried out.
func (c *Client) Call(ctx context.Context, verb string, arguments json.RawMessage) (json.RawMessage, error) {
	return c.CallTold(ctx, verb, arguments, nil)
}

// CallTold is Call; unless it is nil, say is told meanwhile in a few words how far the call has come.
func (c *Client) CallTold(ctx context.Context, verb string, arguments json.RawMessage, say func(text string)) (json.RawMessage, error) {
	var header http.Header
	if say != nil {
		header = http.Header{"Accept": {linesType}}
	}
	x, err := c.post(ctx, "/call/"+url.PathEscape(verb), header, arguments)
	if err != nil {
		return nil, explainFailure(ctx, err)
	}
	defer x.conn.Close()
	defer context.AfterFunc(ctx, func() { x.conn.Close() })()
	result, err := readAnswer(x.response, say)
	if err != nil {
		return nil, explainFailure(ctx, err)
	}
	return result, nil
}

// exchange is a request that was answered: the response's header is read, its body is not.
type exchange struct {
	conn     net.Conn
	from     *bufio.Reader
	response *http.Response
}

// post sends one request on a connection of its own. A token that the app does not know is read again, once:
// the app may just have been restarted, and nothing was done.
func (c *Client) post(ctx context.Context, path string, header http.Header, body []byte) (*exchange, error) {
	for attempt := 0; ; attempt++ {
		x, err := c.postOnce(ctx, path, header, body)
		if err != nil {
			return nil, err
		}
		if x.response.StatusCode != http.StatusUnauthorized {
			return x, nil
		}
		x.conn.Close()
		if attempt > 0 {
			return nil, refusal.New(refusal.NotPermitted, "the app does not accept the token in its data directory", "restart the app")
		}
	}
}

func (c *Client) postOnce(ctx context.Context, path string, header http.Header, body []byte) (*exchange, error) {
	conn, token, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	x, err := roundTrip(conn, path, token, header, body)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return x, nil
}

// dial connects to the app's socket. The token is returned only with a connection whose other end the kernel
// says to be ours.
func (c *Client) dial(ctx context.Context) (net.Conn, string, error) {
	path, err := findSocket(c.dir)
	if err != nil {
		return nil, "", err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, "", err
	}
	if err := checkPeer(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, "", err
	}
	token, err := readPrivate(filepath.Join(c.dir, tokenName))
	if err != nil {
		conn.Close()
		return nil, "", err
	}
	return conn, token, nil
}

func roundTrip(conn net.Conn, path, token string, header http.Header, body []byte) (*exchange, error) {
	request, err := http.NewRequest(http.MethodPost, "http://termic"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		request.Header = header.Clone()
	}
	request.Header.Set("Authorization", bearer+token)
	request.Header.Set("Content-Type", "application/json")
	// The reader holds one whole frame, so that a stream's output is written as it was sent.
	from := bufio.NewReaderSize(conn, frameHead+maxPayload)
	// A server that refuses early answers and closes before it has read a long body; its answer counts.
	writeErr := request.Write(conn)
	response, err := http.ReadResponse(from, request)
	if err != nil {
		return nil, errors.Join(writeErr, err)
	}
	return &exchange{conn, from, response}, nil
}

func readAnswer(response *http.Response, say func(string)) (json.RawMessage, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the app answered %s", response.Status)
	}
	body := &io.LimitedReader{R: response.Body, N: maxAnswer + 1}
	from := json.NewDecoder(body)
	var a answer
	for {
		a = answer{}
		err := from.Decode(&a)
		switch {
		case err != nil && body.N == 0:
			return nil, fmt.Errorf("the app's answer is longer than %d bytes", maxAnswer)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("read the app's answer: %w", err)
		}
		if a.Progress == "" {
			break
		}
		if say != nil {
			say(a.Progress)
		}
	}
	if a.Refusal != nil {
		no := new(refusal.Refusal)
		if err := json.Unmarshal(a.Refusal, no); err != nil {
			return nil, fmt.Errorf("read the app's refusal: %w", err)
		}
		return nil, no
	}
	if a.Result == nil {
		return nil, errors.New("the app's answer is empty")
	}
	return a.Result, nil
}

// explainFailure says what the caller can do about an error on the way to the app.
func explainFailure(ctx context.Context, err error) *refusal.Refusal {
	var owner *ownerError
	var peer *peerError
	if no, ok := refusal.From(err); ok {
		return no
	}
	switch {
	case ctx.Err() != nil:
		return refusal.New(refusal.Cancelled, "the call was given up", "").Because(err)
	case errors.As(err, &owner):
		return refusal.New(refusal.NotPermitted, owner.reason, "make the data directory yours alone, or name another with --data-dir").Because(err)
	case errors.As(err, &peer):
		return refusal.New(refusal.NotPermitted, "what answers on the socket is not run by this user", "run this command as the user who runs the app").Because(err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return refusal.New(refusal.NotRunning, "the app is not running", startIt).Because(err)
	case errors.Is(err, fs.ErrPermission):
		return refusal.New(refusal.NotPermitted, "the data directory may not be read by this user", "run this command as the user who runs the app").Because(err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return refusal.New(refusal.NotRunning, "the app went away before it answered; what was asked may have been done", startIt).Because(err)
	}
	return refusal.Of(err)
}
