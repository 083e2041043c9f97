package mcpserver

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// withProgress returns the message with a progress token in its _meta.
func (m message) withProgress() message {
	m.body = strings.Replace(m.body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	return m
}

// told is a message of a stream, and when it came.
type told struct {
	Method string
	Params struct {
		Progress float64
		Message  string
	}
	at time.Duration
}

// listenTo reads an answer to its end and returns its head and its messages.
func listenTo(t *testing.T, conn net.Conn) (*http.Response, []told) {
	t.Helper()
	began := time.Now()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	var messages []told
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		text, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		message := told{at: time.Since(began)}
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		messages = append(messages, message)
	}
	return response, messages
}

func TestALongCallTellsThatItStillRuns(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		if _, err := io.WriteString(conn, f.call(fullToken, "thing_wait", `{"task":"a"}`).withProgress().String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
		go func() {
			time.Sleep(progressAfter + 2*(progressEvery+progressGap) + time.Millisecond)
			close(f.proceed)
		}()
		response, messages := listenTo(t, conn)
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" || len(messages) != 4 {
			t.Fatalf("a %s of %+v", kind, messages)
		}
		for i, message := range messages[:3] {
			want := progressAfter + time.Duration(i)*(progressEvery+progressGap)
			if message.at != want || message.Params.Progress != want.Seconds() || message.Params.Message != stillRunning {
				t.Errorf("report %d: %+v, want it after %s", i, message, want)
			}
		}
		if messages[3].Method != "" {
			t.Errorf("the last is no answer: %+v", messages[3])
		}
		_ = conn.Close()
	})
}

func TestALongCallWithoutATokenAnswersOnce(t *testing.T) {
	overPipes(t, Limits{}, func(t *testing.T, f *fixture, connect func() net.Conn) {
		conn := connect()
		if _, err := io.WriteString(conn, f.call(fullToken, "thing_wait", `{"task":"a"}`).String()); err != nil {
			t.Fatal(err)
		}
		f.whenBegun()
		go func() { time.Sleep(time.Minute); close(f.proceed) }()
		if response, messages := listenTo(t, conn); response.Header.Get("Content-Type") != "application/json" || len(messages) != 0 {
			t.Errorf("got %s %+v", response.Header.Get("Content-Type"), messages)
		}
		_ = conn.Close()
	})
}

// recorder is a reply whose events are kept.
type recorder struct {
	http.ResponseWriter
	header http.Header
	events []string
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(int)     {}
func (r *recorder) Write(p []byte) (int, error) {
	r.events = append(r.events, string(p))
	return len(p), nil
}
func (r *recorder) Flush() {}

func TestReportsHaveARateAndOnlyGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		out.header = http.Header{}
		feed := &progressFeed{reply: newReply(&out), token: []byte(`1`), began: time.Now(), reports: make(chan string, 1)}
		over, gone := make(chan struct{}), make(chan struct{})
		go func() { defer close(gone); feed.run(over) }()
		feed.reports.Say("a")
		synctest.Wait()
		feed.reports.Say("b")
		feed.reports.Say("c")
		time.Sleep(progressGap)
		synctest.Wait()
		feed.reports.Say("too late")
		close(over)
		<-gone
		var got []string
		last := 0.0
		for _, event := range out.events {
			var message told
			if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &message); err != nil {
				t.Fatal(err)
			}
			if message.Params.Progress <= last {
				t.Errorf("progress %v after %v", message.Params.Progress, last)
			}
			last = message.Params.Progress
			got = append(got, message.Params.Message)
		}
		if !reflect.DeepEqual(got, []string{"a", "c"}) {
			t.Errorf("told %q: b was replaced by c within the gap, and nothing is told after the end", got)
		}
	})
}
