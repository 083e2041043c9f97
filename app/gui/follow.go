package gui

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"termic/registry/refusal"
)

// feed writes changes for as long as the page reads. Its end is the end of the page: the page's terminals are
// let go with it.
func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	ticket := r.PathValue("ticket")
	sub, err := s.Feed.open(ticket)
	if err != nil {
		refuse(w, http.StatusGone, refusal.Of(err))
		return
	}
	defer s.Feed.leave(ticket)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.enter(ticket, ctx)
	defer s.left(ticket)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := &flushing{w, http.NewResponseController(w)}
	// The first line goes out at once: it tells the page that the feed is open.
	if _, err := out.Write([]byte("{\"seq\":0}\n")); err != nil {
		return
	}
	_ = follow(ctx, out, sub) // whatever ended it, the page begins again
}

// follow returns when the page is gone, fell behind, or the app stops.
func follow(ctx context.Context, out *flushing, sub *subscriber) error {
	alive := time.NewTicker(beat)
	defer alive.Stop()
	var last uint64
	for {
		line := Change{Seq: last}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-alive.C: // the same number again: nothing happened
		case change, ok := <-sub.lines:
			if !ok {
				return nil
			}
			line, last = change, change.Seq
		}
		text, err := json.Marshal(line)
		if err != nil { // strings, numbers and booleans always encode
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}

// flushing writes through to the page at once. The window's own writer needs no flush and has none.
type flushing struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (f *flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		_ = f.control.Flush() // http.ErrNotSupported in the window
	}
	return n, err
}

func (s *Server) enter(id string, ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[id] = &page{ctx}
}

func (s *Server) left(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pages, id)
}

// refuse answers a stream that does not open.
func refuse(w http.ResponseWriter, status int, no *refusal.Refusal) {
	text, err := json.Marshal(no)
	if err != nil { // four strings always encode
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
