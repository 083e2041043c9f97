package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// load asks one server the same thing over kept connections, as cheaply as it can: on a small machine what the client
// costs is taken from the server.
type load struct {
	address string
	request []byte
	conns   []*pipe
}

// pipe is one connection.
type pipe struct {
	net.Conn
	reader *bufio.Reader
}

// call is one tools/call of task_status, as a client of revision 2026-07-28 sends it.
const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_status","arguments":{"task":"fix"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}`

func newLoad(address, token string) *load {
	return &load{address: address, request: fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: task_status\r\nContent-Length: %d\r\n\r\n%s",
		address, token, len(call), call)}
}

// connect opens connections until there are n.
func (l *load) connect(n int) error {
	for len(l.conns) < n {
		conn, err := net.Dial("tcp", l.address)
		if err != nil {
			return err
		}
		l.conns = append(l.conns, &pipe{conn, bufio.NewReader(conn)})
	}
	return nil
}

// once makes one call and returns the body of its answer.
func (l *load) once() ([]byte, error) {
	if err := l.connect(1); err != nil {
		return nil, err
	}
	return l.conns[0].ask(l.request)
}

// run asks over n connections at once for some time and returns how long each call took, in microseconds.
func (l *load) run(n int, length time.Duration) ([]int64, error) {
	if err := l.connect(n); err != nil {
		return nil, err
	}
	took := make([][]int64, n)
	failed := make([]error, n)
	var all sync.WaitGroup
	until := time.Now().Add(length)
	for i, conn := range l.conns[:n] {
		all.Go(func() {
			for begun := time.Now(); begun.Before(until) && failed[i] == nil; {
				_, failed[i] = conn.ask(l.request)
				done := time.Now()
				took[i] = append(took[i], done.Sub(begun).Microseconds())
				begun = done
			}
		})
	}
	all.Wait()
	var every []int64
	for _, some := range took {
		every = append(every, some...)
	}
	return every, errors.Join(failed...)
}

// ask makes one call and returns the body of its answer; anything but a result of the tool is an error.
func (p *pipe) ask(request []byte) ([]byte, error) {
	if _, err := p.Write(request); err != nil {
		return nil, err
	}
	length := -1
	for first := true; ; first = false {
		line, err := p.reader.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			rest, _ := p.reader.Peek(p.reader.Buffered())
			return nil, fmt.Errorf("answer is %s%s", line, rest)
		}
		if len(line) == 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, errors.New("answer has no length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(p.reader, body); err != nil {
		return nil, err
	}
	if !bytes.Contains(body, []byte(`"structuredContent"`)) || bytes.Contains(body, []byte(`"isError":true`)) {
		return nil, fmt.Errorf("answer is no result: %s", body)
	}
	return body, nil
}
