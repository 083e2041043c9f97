package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// body is one tools/call of task_status, as a client of revision 2026-07-28 sends it.
const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_status","arguments":{"task":"fix"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}`

// caller calls task_status of one server over kept connections.
type caller struct {
	url, token string
	client     *http.Client
}

func newCaller(url, token string) *caller {
	return &caller{url, token, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
}

// call makes one call; anything but a result of the tool is an error.
func (c *caller) call() error {
	request, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "task_status",
	} {
		request.Header.Set(name, value)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"structuredContent"`)) || bytes.Contains(text, []byte(`"isError":true`)) {
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return nil
}

// together makes n calls over `at` connections at once.
func (c *caller) together(at, n int) error {
	var all sync.WaitGroup
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	close(left)
	failed := make(chan error, n)
	for range at {
		all.Go(func() {
			for range left {
				if err := c.call(); err != nil {
					failed <- err
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed // nil when none failed
}
