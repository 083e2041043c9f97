package gui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"termic/registry"
	"termic/registry/refusal"
)

// maxBody bounds a call's arguments: the longest text is 1 MiB, and JSON may escape it.
const maxBody = 2 << 20

// call carries one verb, as the person at the window. The answer's status is 200 whether or not it is a
// refusal, since the request itself was understood.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	body, no := readBody(w, r, maxBody)
	if no != nil {
		answer(w, nil, no)
		return
	}
	if id := r.URL.Query().Get("call"); id != "" {
		s.callTold(w, r, id, body)
		return
	}
	result, err := s.Router.Dispatch(r.Context(), registry.Person(registry.Window), r.PathValue("verb"), body)
	if err != nil {
		answer(w, nil, refusal.Of(err))
		return
	}
	answer(w, result, nil)
}

// progressGap is how long there is at least between two reports: what a person can read.
const progressGap = 100 * time.Millisecond

// callTold carries one verb and tells meanwhile how far it has come: {"progress": …} a line, and the answer is the last. The
// page gives it an id by which it can be given up: the window does not say when a page stops to read.
func (s *Server) callTold(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !s.register(id, cancel) {
		answer(w, nil, refusal.New(refusal.Conflict, "a call of that id is under way", ""))
		return
	}
	defer s.unregister(id)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := &flushing{w, http.NewResponseController(w)}
	var result json.RawMessage
	var err error
	registry.Watched(ctx, progressGap, func(text string) {
		if line, err := json.Marshal(map[string]string{"progress": text}); err == nil {
			_, _ = out.Write(append(line, '\n')) // a page that went away needs no progress
		}
	}, func(ctx context.Context) {
		result, err = s.Router.Dispatch(ctx, registry.Person(registry.Window), r.PathValue("verb"), body)
	})
	if err != nil {
		answer(w, nil, refusal.Of(err))
		return
	}
	answer(w, result, nil)
}

func (s *Server) register(id string, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[id] != nil {
		return false
	}
	s.calls[id] = cancel
	return true
}

func (s *Server) unregister(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
}

// giveUp ends a call as if its caller had gone away.
func (s *Server) giveUp(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	cancel := s.calls[r.PathValue("id")]
	s.mu.Unlock()
	if cancel == nil {
		refuse(w, http.StatusNotFound, refusal.New(refusal.NotFound, "no such call is under way", ""))
		return
	}
	cancel()
	answer(w, json.RawMessage("true"), nil)
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *refusal.Refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, refusal.Newf(refusal.BadInput, "send less", "that is longer than %d bytes", limit)
	case err != nil:
		return nil, refusal.New(refusal.BadInput, "the request did not arrive whole", "try again").Because(err)
	}
	return body, nil
}

// answer sends a result or a refusal.
func answer(w http.ResponseWriter, result json.RawMessage, no *refusal.Refusal) {
	var body struct {
		Result  json.RawMessage  `json:"result,omitempty"`
		Refusal *refusal.Refusal `json:"refusal,omitempty"`
	}
	body.Result, body.Refusal = result, no
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write(text) // a page that went away needs no answer
}

// maxHostBody bounds what an act of the host is told: a title or a web address.
const maxHostBody = 8 << 10

// host does what the page asks of the window itself. The body is one JSON string.
func (s *Server) host(w http.ResponseWriter, r *http.Request) {
	body, no := readBody(w, r, maxHostBody)
	var text string
	if no == nil && len(body) > 0 && json.Unmarshal(body, &text) != nil {
		no = refusal.New(refusal.BadInput, "the body is not a JSON string", "")
	}
	if no != nil {
		answer(w, nil, no)
		return
	}
	result, err := s.act(r.PathValue("act"), text)
	if err != nil {
		answer(w, nil, refusal.Of(err))
		return
	}
	encoded, err := json.Marshal(result)
	if err != nil { // a string always encodes
		panic(err)
	}
	answer(w, encoded, nil)
}

func (s *Server) act(name, text string) (string, error) {
	switch name {
	case "pick-directory":
		return s.Host.PickDirectory(text)
	case "open-url":
		if err := checkURL(text); err != nil {
			return "", err
		}
		return "", s.Host.OpenURL(text)
	case "renderer":
		return s.Host.Renderer(), nil
	case "quit":
		s.Host.Quit()
		return "", nil
	case "stay":
		s.goOn()
		return "", nil
	case "in-view": // ids of tabs, separated by spaces
		s.InView(strings.Fields(text))
		return "", nil
	case "report":
		s.Log.Warn("the page reports", "text", text)
		return "", nil
	}
	return "", refusal.New(refusal.UnknownVerb, "the window has no such act", "")
}

// checkURL admits web addresses only: a terminal's link is an agent's text, and other schemes start programs.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return refusal.New(refusal.BadInput, "only web addresses are opened (http, https)", "copy it instead").Because(fmt.Errorf("open %q: %w", text, err))
	}
	return nil
}
