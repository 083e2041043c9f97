package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"termic/build/rig"
)

// storm is good, bad and slow clients of the endpoint while it is switched off and on, and once in a while its port is
// another's. What is asked through it leaves marks in a file, from which lost and doubled effects are told.
type storm struct {
	rig     *rig.Rig
	address string
	over    atomic.Bool
	clients sync.WaitGroup

	served, refused, broken atomic.Int64

	mu       sync.Mutex
	answered []int // marks whose answer said that they were handed over
	sent     int
}

// marksFile is where the marks end up, in the checkout of the task that is asked.
const marksFile = "marks"

// run lets the storm blow for some time and returns what the app held in each turn.
func (s *storm) run(length time.Duration) ([]reading, error) {
	task, err := s.rig.Do("new", "storm", "--project", "shop", "--agent", "shell", "--wait", "--json")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, task)
	}
	port, err := s.rig.Secret("mcp-port")
	if err != nil {
		return nil, err
	}
	s.address = "127.0.0.1:" + port
	s.start()
	readings, err := s.turns(time.Now().Add(length))
	s.over.Store(true)
	s.clients.Wait()
	fmt.Printf("storm: %d served, %d refused, %d broken off; %d marks sent, %d answered\n",
		s.served.Load(), s.refused.Load(), s.broken.Load(), s.sent, len(s.answered))
	if err != nil {
		return nil, err
	}
	return readings, s.checkMarks()
}

func (s *storm) start() {
	repeat := func(act func()) {
		s.clients.Go(func() {
			for !s.over.Load() {
				act()
			}
		})
	}
	for range 4 {
		repeat(func() { s.ask("task_status", `{"task":"storm"}`) })
	}
	repeat(s.mark)
	repeat(func() { s.ask("task_wait", `{"task":"storm","timeoutMs":200}`) })
	repeat(func() {
		s.raw(fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n", s.address), time.Second)
	})
	repeat(func() {
		s.raw("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9999999\r\n\r\n", time.Second)
	})
	repeat(func() { s.raw("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", time.Second) })
	repeat(func() { s.raw("POST /mcp HTTP/1.1\r\nHost: ", 3*time.Second) }) // and silence
	repeat(s.listen)
}

// turns switches the endpoint off and on until the deadline.
func (s *storm) turns(deadline time.Time) ([]reading, error) {
	var readings []reading
	for n := 0; time.Now().Before(deadline) || n < 8; n++ {
		time.Sleep(time.Second)
		if _, err := s.rig.Do("settings", "set", "mcp.enabled", "false"); err != nil {
			return nil, err
		}
		// Off, it holds no connection of a client; what there is more each time is left of the turn before.
		now, err := look(s.rig.Pid)
		if err != nil {
			return nil, err
		}
		readings = append(readings, now)
		if n%5 == 4 {
			if err := s.stealPort(); err != nil {
				return nil, err
			}
		} else if err := s.switchOn(); err != nil {
			return nil, err
		}
		if port, err := s.rig.Secret("mcp-port"); err != nil || "127.0.0.1:"+port != s.address {
			return nil, fmt.Errorf("it serves on port %q, %v; was %s", port, err, s.address)
		}
	}
	return readings, nil
}

// stealPort holds the port while the endpoint is switched on, which must be refused, and waits until it serves again
// once the port is free.
func (s *storm) stealPort() error {
	var thief net.Listener
	for deadline := time.Now().Add(10 * time.Second); thief == nil; time.Sleep(10 * time.Millisecond) {
		var err error
		if thief, err = net.Listen("tcp", s.address); err != nil && time.Now().After(deadline) {
			return err
		}
	}
	out, err := s.rig.Do("settings", "set", "mcp.enabled", "true")
	closed := thief.Close()
	if err == nil {
		return fmt.Errorf("it serves although its port is another's: %s", out)
	}
	return errors.Join(closed, s.serves())
}

// switchOn switches the endpoint on. While it was off the system may have given its port to another program for a moment; then
// it must serve by itself once the port is free.
func (s *storm) switchOn() error {
	out, err := s.rig.Do("settings", "set", "mcp.enabled", "true")
	if err == nil {
		return nil
	}
	if !strings.Contains(out+err.Error(), "is taken by another program") {
		return fmt.Errorf("%w: %s", err, out)
	}
	return s.serves()
}

// serves returns when the endpoint serves.
func (s *storm) serves() error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if port, err := s.rig.Secret("mcp-port"); err == nil && port != "" {
			return nil
		}
	}
	return errors.New("the port is free, and it does not serve again")
}

// ask calls a tool with the token that is in its file now, and returns the text of the answer where there is one.
func (s *storm) ask(tool, arguments string) string {
	request, err := s.request("tools/call", tool, `"name":"`+tool+`","arguments":`+arguments+`,`)
	if err != nil {
		time.Sleep(10 * time.Millisecond) // it is switched off
		return ""
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		s.broken.Add(1)
		time.Sleep(10 * time.Millisecond)
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.refused.Add(1)
		return ""
	}
	s.served.Add(1)
	return string(text)
}

func (s *storm) request(method, name, params string) (*http.Request, error) {
	token, err := s.rig.Secret("mcp-token")
	if err != nil {
		return nil, err
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request, err := http.NewRequest(http.MethodPost, "http://"+s.address+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for header, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		if value != "" {
			request.Header.Set(header, value)
		}
	}
	return request, nil
}

// mark sends a mark once, and never again: an answer that got lost leaves it open whether the mark is there, and so does
// one that it is queued, since a queued text is dropped when its sender's token ends.
func (s *storm) mark() {
	s.mu.Lock()
	s.sent++
	n := s.sent
	s.mu.Unlock()
	text := s.ask("task_send", fmt.Sprintf(`{"task":"storm","text":"echo mark-%d- >>%s"}`, n, marksFile))
	if strings.Contains(text, `"structuredContent":`) && strings.Contains(text, `"delivery":"submitted"`) {
		s.mu.Lock()
		s.answered = append(s.answered, n)
		s.mu.Unlock()
	}
	s.ask("task_wait", `{"task":"storm","timeoutMs":2000}`) // so that the next one is not only queued
}

// listen holds a subscription and reads nothing of it.
func (s *storm) listen() {
	request, err := s.request("subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return
	}
	<-ctx.Done()
	_ = answer.Body.Close()
}

// raw sends bytes and waits for the end of the connection, or for as long as it has patience.
func (s *storm) raw(text string, patience time.Duration) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, text)
	_, _ = io.Copy(io.Discard, conn)
	s.refused.Add(1)
}

// checkMarks waits until nothing is queued and counts: what was answered is there once, and nothing is there twice.
func (s *storm) checkMarks() error {
	if _, err := s.rig.Do("wait", "storm", "--timeout", "60s"); err != nil {
		return err
	}
	path, err := s.rig.Do("status", "storm", "--json")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(path, `"path":`)
	_, rest, _ = strings.Cut(rest, `"`)
	dir, _, _ := strings.Cut(rest, `"`)
	text, err := os.ReadFile(filepath.Join(dir, marksFile))
	if err != nil {
		return err
	}
	for n := 1; n <= s.sent; n++ {
		if times := strings.Count(string(text), fmt.Sprintf("mark-%d-\n", n)); times > 1 {
			return fmt.Errorf("mark %d is there %d times", n, times)
		}
	}
	for _, n := range s.answered {
		if !strings.Contains(string(text), fmt.Sprintf("mark-%d-\n", n)) {
			return fmt.Errorf("mark %d was answered and is not there", n)
		}
	}
	if len(s.answered) == 0 || s.served.Load() == 0 {
		return errors.New("the storm got no answer at all")
	}
	return nil
}
