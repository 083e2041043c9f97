package gui

import (
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"termic/registry/refusal"
)

// Door answers a window's page from the moment that there is a window: the page's files at once, and everything else once the app has
// opened. So the web view loads the page while the app asks the login shell and looks at its tasks. It is safe for concurrent use.
type Door struct {
	assets http.Handler
	once   sync.Once
	opened chan struct{} // closed when server is known
	server *Server       // nil when the app could not open
}

// NewDoor returns a door that is closed.
func NewDoor(assets fs.FS) *Door {
	return &Door{assets: http.FileServerFS(assets), opened: make(chan struct{})}
}

// Open lets the page in. Nil says that the app could not open; only the first call counts.
func (d *Door) Open(s *Server) {
	d.once.Do(func() {
		d.server = s
		close(d.opened)
	})
}

// ServeHTTP answers one request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isAsset(r) {
		select {
		case <-d.opened:
		default:
			restrict(w.Header())
			d.assets.ServeHTTP(w, r)
			return
		}
	}
	select {
	case <-d.opened:
	case <-r.Context().Done():
		return
	}
	if d.server == nil {
		refuse(w, http.StatusServiceUnavailable, refusal.New(refusal.Unavailable, "termic could not start", ""))
		return
	}
	d.server.ServeHTTP(w, r)
}

// isAsset tells whether a request is for one of the page's files, which are everything that is not the app's.
func isAsset(r *http.Request) bool {
	for _, own := range []string{"/call/", "/feed/", "/pty/", "/host/"} {
		if strings.HasPrefix(r.URL.Path, own) {
			return false
		}
	}
	return r.Method == http.MethodGet
}
