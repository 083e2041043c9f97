// Package gui is the way in for the window's page: an http.Handler that the window serves to its own page, with
// no port. The page may call verbs as the person, follow what changes, and hold terminals; what verbs do not
// cover (a directory dialog, the browser, quitting) is in Host, and there is nothing else.
//
//	GET  /                      the page and its assets
//	POST /call/<verb>           body: the arguments; answer: {"result": …} or {"refusal": …}
//	POST /call/<verb>?call=ID   the same, with lines of {"progress": …} before the answer
//	POST /cancel/<ID>           gives that call up
//	GET  /feed/<ticket>         of window_watch: changes, one JSON object a line, for as long as the page lives
//	GET  /pty/<ticket>?page=…&cols=…&rows=…   of task_attach: output, first what draws the screen, then live
//	POST /pty/<ticket>/input?seq=N   keys, in the order of N
//	POST /pty/<ticket>/ack?bytes=N   how much output the page has drawn, in all
//	POST /pty/<ticket>/size?cols=N&rows=N
//	POST /host/<act>            see Host
//
// Whoever can ask this handler is the person. In the window only the page can: the scheme wails:// is the
// window's own. Everything that comes in is treated as hostile all the same, since the page shows what agents
// write.
package gui

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"termic/registry"
)

// Router carries a call to its outcome. *registry.Router is one.
type Router interface {
	Dispatch(ctx context.Context, caller registry.Caller, verb string, raw json.RawMessage) (json.RawMessage, error)
}

// Streams opens what a ticket of task_attach stands for, once.
type Streams interface {
	Open(ctx context.Context, ticket string) (Stream, error)
}

// Stream is the page's view of a tab's terminal. Read is called by one goroutine, Write and Resize by others;
// Close may come at any time and ends all of them.
type Stream interface {
	// Read returns output: first what draws the screen as it is, then everything live. io.EOF means that
	// what ran has ended and all of its output was returned.
	Read(p []byte) (n int, err error)
	Write(p []byte) (n int, err error)
	Resize(cols, rows int) error
	// Answered says that the person was asked about the last text that the tab offered to the clipboard: it is not offered again.
	Answered()
	Close() error
}

// Host is what the page may ask of the window itself.
type Host interface {
	// PickDirectory lets the person choose a directory, and returns nothing when they choose none.
	PickDirectory(title string) (string, error)
	// OpenURL shows a web address in the person's browser. The address is http or https.
	OpenURL(url string) error
	// Renderer tells what terminals are to be drawn with: webgl or dom.
	Renderer() string
	// Front brings the window to the front.
	Front()
	// Quit ends the app without asking again.
	Quit()
}

// Options say what a Server serves.
type Options struct {
	Router  Router
	Streams Streams
	Feed    *Feed
	Host    Host
	// Working returns how many agents work right now.
	Working func() int
	// InView is told which tabs the person looks at: those that pages show while they have the focus.
	InView func(tabs []string)
	// Assets is the built page, with index.html at its top.
	Assets fs.FS
	Log    *slog.Logger
}

// Server answers the page. It is safe for concurrent use.
type Server struct {
	Options
	mux *http.ServeMux

	mu        sync.Mutex
	pages     map[string]*page
	terminals map[string]*terminal
	calls     map[string]context.CancelFunc // that can be given up, by the page's id for them
	stay      func()                        // what to do when the person chooses not to quit
}

// page is one loaded page, for as long as its feed is open.
type page struct {
	ctx context.Context
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux(), pages: map[string]*page{}, terminals: map[string]*terminal{}, calls: map[string]context.CancelFunc{}}
	s.mux.HandleFunc("POST /call/{verb}", s.call)
	s.mux.HandleFunc("POST /cancel/{id}", s.giveUp)
	s.mux.HandleFunc("GET /feed/{ticket}", s.feed)
	s.mux.HandleFunc("GET /pty/{ticket}", s.output)
	s.mux.HandleFunc("POST /pty/{ticket}/input", s.input)
	s.mux.HandleFunc("POST /pty/{ticket}/ack", s.ack)
	s.mux.HandleFunc("POST /pty/{ticket}/size", s.size)
	s.mux.HandleFunc("POST /pty/{ticket}/answered", s.answered)
	s.mux.HandleFunc("POST /host/{act}", s.host)
	s.mux.Handle("GET /", http.FileServerFS(o.Assets))
	return s
}

// policy is the page's Content-Security-Policy: it fetches nothing from outside and talks to nobody but this
// handler. Styles may be inline because xterm.js and CodeMirror make theirs at run time.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers one request. A panic becomes status 500: the window must not die of one button.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic while answering the page", "path", r.URL.Path, "cause", p, "stack", string(debug.Stack()))
			w.WriteHeader(http.StatusInternalServerError)
		}
	}()
	restrict(w.Header())
	s.mux.ServeHTTP(w, r)
}

// restrict says in an answer's header what the page may do.
func restrict(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
}

// AskQuit lets the page ask whether to quit, and returns true, when agents work and a page is there to ask.
// stay is called when the person chooses to go on.
func (s *Server) AskQuit(stay func()) bool {
	working := s.Working()
	if working == 0 || s.Feed.Pages() == 0 {
		return false
	}
	s.mu.Lock()
	s.stay = stay
	s.mu.Unlock()
	s.Feed.AskQuit(working)
	return true
}

func (s *Server) goOn() {
	s.mu.Lock()
	stay := s.stay
	s.stay = nil
	s.mu.Unlock()
	if stay != nil {
		stay()
	}
}
