// Package fakemodel is a vendor's model on a loopback port, for trying real agent programs: it does what the prompt says. A prompt is
// `TEXT @@ STEP ;; STEP`, and a step one of
//
//	say TEXT     answer with the text
//	bash CMD     run a command with the agent's own tool
//	esc CMD      run one that the person has to permit (codex; claude asks by itself for what writes)
//	bg CMD       run one in the background (claude, codex, gemini)
//	ask          ask the person a question
//	agent STEPS  start a sub-agent that does STEPS, which are separated by ,, (claude)
//	slow N       answer word by word, for N seconds
//	err          answer with an error
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Model is a server that runs. URL is its address, without a path.
type Model struct {
	URL    string
	server *http.Server
	asked  atomic.Int64
}

// Asked is how often an agent has asked it for something.
func (m *Model) Asked() int64 { return m.asked.Load() }

// New starts one.
func New() (*Model, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{URL: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", messages)
	mux.HandleFunc("POST /v1/responses", responses)
	mux.HandleFunc("POST /v1/chat/completions", chat)
	mux.HandleFunc("POST /v1beta/models/{call}", generate)
	m.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		mux.ServeHTTP(w, r)
	})}
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

// Close ends it.
func (m *Model) Close() { _ = m.server.Close() }

type object = map[string]any

// step is one thing to do.
type step struct{ verb, arg string }

// stepOf returns the step of a prompt that comes after done tool calls.
func stepOf(prompt string, done int) step {
	_, script, ok := strings.Cut(prompt, "@@")
	if !ok {
		return step{"say", "Title"}
	}
	steps := strings.Split(script, ";;")
	if len(steps) == 1 && strings.Contains(script, ",,") && !strings.Contains(script, "agent ") {
		steps = strings.Split(script, ",,")
	}
	if done >= len(steps) {
		return step{"say", "END."}
	}
	// Agents frame a prompt; what follows the line is theirs.
	line, _, _ := strings.Cut(strings.TrimSpace(steps[done]), "\n")
	verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	return step{verb, arg}
}

// stream writes server-sent events.
type stream struct {
	w http.ResponseWriter
}

func (s stream) send(name string, data object) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // literals of ours
	}
	_, _ = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, text)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// data writes an event that has no name.
func (s stream) data(data object) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // literals of ours
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", text)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func begin(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return stream{w}
}

const slowText = "Slow answer streaming now, word by word, until the end of the line."

// pieces returns the words of an answer and how long to wait after each.
func (s step) pieces() ([]string, time.Duration) {
	if s.verb != "slow" {
		return []string{s.arg}, 0
	}
	seconds, _ := strconv.Atoi(s.arg)
	words := strings.SplitAfter(slowText, " ")
	return words, time.Duration(seconds) * time.Second / time.Duration(len(words))
}

func (s step) fails(w http.ResponseWriter) bool {
	if s.verb != "err" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the fake model was told to fail"}}`)
	return true
}
