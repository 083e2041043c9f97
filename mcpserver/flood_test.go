package mcpserver

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTenThousandWrongTokensASecondHoldNobodyUp plays three seconds of them in fake time, so that what is measured is waiting and
// nothing else: a good call waits for none of them, at most FailHeld answers are ever held back, and each of those for
// FailDelay and no longer.
func TestTenThousandWrongTokensASecondHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perSecond, seconds = 10_000, 3
		f := newFixture(t, Limits{FailDelay: 500 * time.Millisecond, FailHeld: 16})
		f.stop()
		server := f.endpoint.Server
		var flood sync.WaitGroup
		var mu sync.Mutex
		waited := map[time.Duration]int{}
		for n := range perSecond * seconds {
			flood.Go(func() {
				took, status := handled(t, f, "wrong")
				if status != http.StatusUnauthorized {
					t.Errorf("a wrong token got %d", status)
				}
				mu.Lock()
				defer mu.Unlock()
				waited[took]++
			})
			if n%100 == 99 {
				if took, status := handled(t, f, fullToken); status != http.StatusOK || took != 0 {
					t.Fatalf("after %d wrong ones a good one got %d after %s", n+1, status, took)
				}
				server.tarpit.mu.Lock()
				held := server.tarpit.held
				server.tarpit.mu.Unlock()
				if held > 16 {
					t.Fatalf("%d answers are held back", held)
				}
			}
			time.Sleep(time.Second / perSecond)
		}
		flood.Wait()
		held := waited[500*time.Millisecond]
		// 16 at a time for half a second each: 32 a second begin to be held, and the last ones end after the flood.
		if held < 32*(seconds-1) || held > 32*seconds+16 || held+waited[0] != perSecond*seconds {
			t.Errorf("they waited %v", waited)
		}
		if failures := server.Failures(); failures != perSecond*seconds {
			t.Errorf("%d failures were counted", failures)
		}
	})
}

// handled returns how long the handler took for a call with a token, and its answer's status.
func handled(t *testing.T, f *fixture, token string) (time.Duration, int) {
	m := f.echo(token)
	request := httptest.NewRequest(http.MethodPost, "http://"+f.address.String()+Path, strings.NewReader(m.body))
	for _, line := range m.headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	local := net.TCPAddrFromAddrPort(f.address)
	request = request.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, local))
	answer, began := httptest.NewRecorder(), time.Now()
	f.endpoint.Server.ServeHTTP(answer, request)
	return time.Since(began), answer.Code
}
