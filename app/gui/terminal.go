package gui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"termic/registry/refusal"
)

const (
	// maxUndrawn is how much output may be under way to the page before it says that it has drawn some. 512 KiB
	// kept a flood at full speed in the trials behind docs/decisions/0010; what waits beyond it is held back at
	// the tab, which drops it for a fresh picture when it is too much.
	maxUndrawn = 512 << 10
	// pieceSize is the largest piece written at once; pieces of 64 KiB went through twice as fast as of 11 KiB.
	pieceSize = 64 << 10
	// maxInput bounds one piece of input; the longest paste is 1 MiB.
	maxInput = 1 << 20
)

// terminal is one open stream of a page.
type terminal struct {
	stream Stream

	input sync.Mutex // held while input is written; guards next
	next  uint64     // number of the piece of input that comes next

	mu    sync.Mutex // guards sent and drawn
	sent  uint64
	drawn uint64
	more  chan struct{} // holds one token after an acknowledgement
}

var errGone = errors.New("the page is gone")

// output opens the stream of a ticket and carries its output until either end is done.
func (s *Server) output(w http.ResponseWriter, r *http.Request) {
	ticket := r.PathValue("ticket")
	s.mu.Lock()
	owner := s.pages[r.URL.Query().Get("page")]
	s.mu.Unlock()
	if owner == nil {
		refuse(w, http.StatusGone, refusal.New(refusal.NotFound, "the page's feed is not open", "load the page again"))
		return
	}
	stream, err := s.Streams.Open(r.Context(), ticket)
	if err != nil {
		refuse(w, http.StatusGone, refusal.Of(err))
		return
	}
	defer stream.Close()
	// Before the first picture is taken: one with more rows than the page's terminal would scroll out of it.
	cols, _ := strconv.Atoi(r.URL.Query().Get("cols"))
	rows, _ := strconv.Atoi(r.URL.Query().Get("rows"))
	if cols > 0 && rows > 0 && cols <= maxCells && rows <= maxCells {
		_ = stream.Resize(cols, rows) // a terminal that has ended keeps its size
	}
	t := &terminal{stream: stream, next: 1, more: make(chan struct{}, 1)}
	s.mu.Lock()
	s.terminals[ticket] = t
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.terminals, ticket)
	}()
	defer context.AfterFunc(owner.ctx, func() { stream.Close() })()
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &flushing{w, http.NewResponseController(w)}
	if err := t.carry(owner.ctx, r.Context(), out); !errors.Is(err, errGone) && !errors.Is(err, io.EOF) {
		s.Log.Debug("terminal let go", "cause", err)
	}
}

// carry sends until it cannot: it always returns an error, io.EOF when what ran in the tab has ended and all of its
// output was sent.
func (t *terminal) carry(page, request context.Context, out io.Writer) error {
	buffer := make([]byte, pieceSize)
	for {
		if err := t.wait(page, request); err != nil {
			return err
		}
		n, err := t.stream.Read(buffer)
		if n > 0 {
			t.mu.Lock()
			t.sent += uint64(n)
			t.mu.Unlock()
			if _, err := out.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// wait returns when little enough is under way.
func (t *terminal) wait(page, request context.Context) error {
	for {
		t.mu.Lock()
		full := t.sent-t.drawn >= maxUndrawn
		t.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-t.more:
		case <-page.Done():
			return errGone
		case <-request.Done():
			return errGone
		}
	}
}

// find returns the open terminal of a request, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.terminals[r.PathValue("ticket")]
	if t == nil {
		refuse(w, http.StatusGone, refusal.New(refusal.NotFound, "no such terminal is open", "attach again"))
	}
	return t
}

// number reads a query parameter that is a whole number from 0.
func number(w http.ResponseWriter, r *http.Request, name string) (uint64, bool) {
	n, err := strconv.ParseUint(r.URL.Query().Get(name), 10, 63)
	if err != nil {
		refuse(w, http.StatusBadRequest, refusal.New(refusal.BadInput, name+" is not a number", ""))
		return 0, false
	}
	return n, true
}

// input types one piece. Pieces carry numbers because requests are not answered in the order in which they are
// made; the page sends one at a time, and one that comes out of turn is refused and not typed.
func (s *Server) input(w http.ResponseWriter, r *http.Request) {
	t := s.find(w, r)
	if t == nil {
		return
	}
	seq, ok := number(w, r, "seq")
	if !ok {
		return
	}
	keys, no := readBody(w, r, maxInput)
	if no != nil {
		refuse(w, http.StatusBadRequest, no)
		return
	}
	t.input.Lock()
	defer t.input.Unlock()
	if seq != t.next {
		refuse(w, http.StatusConflict, refusal.Newf(refusal.Conflict, "attach again", "input %d came, and %d is next", seq, t.next))
		return
	}
	t.next++
	if _, err := t.stream.Write(keys); err != nil {
		refuse(w, http.StatusGone, refusal.New(refusal.NotDelivered, "the program in the terminal does not read, or has ended", "try again").Because(err))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// ack takes how much the page has drawn since the stream began.
func (s *Server) ack(w http.ResponseWriter, r *http.Request) {
	t := s.find(w, r)
	if t == nil {
		return
	}
	n, ok := number(w, r, "bytes")
	if !ok {
		return
	}
	t.mu.Lock()
	t.drawn = max(t.drawn, min(n, t.sent))
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) size(w http.ResponseWriter, r *http.Request) {
	t := s.find(w, r)
	if t == nil {
		return
	}
	cols, ok := number(w, r, "cols")
	if !ok {
		return
	}
	rows, ok := number(w, r, "rows")
	if !ok {
		return
	}
	if cols == 0 || rows == 0 || cols > maxCells || rows > maxCells {
		refuse(w, http.StatusBadRequest, refusal.New(refusal.BadInput, "no terminal has that size", ""))
		return
	}
	_ = t.stream.Resize(int(cols), int(rows)) // a terminal that has ended keeps its size
	w.WriteHeader(http.StatusNoContent)
}

// answered takes that the person has answered what the tab offered to the clipboard.
func (s *Server) answered(w http.ResponseWriter, r *http.Request) {
	t := s.find(w, r)
	if t == nil {
		return
	}
	t.stream.Answered()
	w.WriteHeader(http.StatusNoContent)
}

// maxCells bounds a terminal's sides: 1000 columns are more than three wide screens show, and each cell costs memory.
const maxCells = 1000
