package mcpserver

import (
	"bufio"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestNothingIsLeftOfAStorm: good, bad and slow clients while the endpoint is switched off and on at the same port
// leave no goroutine, connection, subscription, place or descriptor behind, and every begun write ends.
func TestNothingIsLeftOfAStorm(t *testing.T) {
	f := newFixture(t, Limits{})
	f.stop()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	f.start(int(f.address.Port()))
	close(f.proceed)
	address := f.address.String()
	var over atomic.Bool
	var served atomic.Int64
	var clients sync.WaitGroup
	for _, request := range []string{
		f.echo(fullToken).String(), f.echo(scopedToken).String(),
		f.call(fullToken, "thing_write", `{"task":"a"}`).String(),
		f.call(fullToken, "thing_wait", `{"task":"a"}`).withProgress().String(),
		f.call(fullToken, "thing_tell", `{"task":"a"}`).withProgress().String(),
		f.listen(fullToken).String(), f.listen(scopedToken).String(),
		f.echo("wrong").String(), f.echo(fullToken).set("Host: evil.example").String(),
		f.echo(fullToken).head()[:60], f.echo(fullToken).head(), "\x00\x01\x02\r\n\r\n", "",
	} {
		clients.Go(func() {
			for !over.Load() {
				if stormOnce(address, request) {
					served.Add(1)
				}
			}
		})
	}
	for range 25 {
		before := served.Load()
		f.eventually(func() bool { return served.Load() > before+20 })
		f.endpoint.Server.ToolsChanged()
		f.stop()
		drain(f)
		f.start(int(f.address.Port()))
	}
	over.Store(true)
	clients.Wait()
	f.stop()
	drain(f)
	server := f.endpoint.Server
	f.eventually(func() bool { return runtime.NumGoroutine() <= goroutines })
	if got := openFiles(t); got > files {
		t.Errorf("%d descriptors, were %d", got, files)
	}
	if server.rates.underWay != 0 || server.tarpit.held != 0 || len(server.listeners.open) != 0 {
		t.Errorf("left: %d requests, %d held back, %d subscriptions", server.rates.underWay, server.tarpit.held, len(server.listeners.open))
	}
	for key, bucket := range server.rates.buckets {
		if bucket.underWay != 0 {
			t.Errorf("%v: %d requests under way", key, bucket.underWay)
		}
	}
	if strings.Contains(f.log.String(), "panicked") {
		t.Error(f.log.String())
	}
	decided, finished := 0, 0
	for _, event := range f.audit.events {
		switch {
		case event.Phase == "finished":
			finished++
		case event.Allow:
			decided++
		}
	}
	if decided == 0 || decided != finished {
		t.Errorf("%d calls were allowed, %d ended", decided, finished)
	}
}

// stormOnce sends a request, reads for a moment and hangs up; it tells whether an answer began.
func stormOnce(address, request string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		time.Sleep(time.Millisecond) // it is switched off
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := io.WriteString(conn, request); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "HTTP/1.1 ")
}

// openFiles returns how many descriptors the process has; nothing where the system does not say.
func openFiles(t *testing.T) int {
	t.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if files, err := os.ReadDir(dir); err == nil {
			return len(files)
		}
	}
	return 0
}
