package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"termic/registry"
	"termic/registry/refusal"
)

// Serve answers calls and streams on l until ctx ends, then stops: waits and reads are given up, streams
// are closed, begun writes may finish for a while. It closes l, and returns nil after an orderly stop.
func Serve(ctx context.Context, l *Listener, router Router, streams Streams, log *slog.Logger) error {
	// Calls see stopping and not ctx: what the values of ctx are is no business of theirs.
	stopping, stop := context.WithCancel(context.Background())
	defer stop()
	s := &server{
		router: router, source: streams, log: log, token: l.token, stopping: stopping,
		calls: make(gate, maxCalls), streams: make(gate, maxStreams),
	}
	web := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       headerTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return stopping },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		stop()
		grace, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		stopped <- errors.Join(l.Close(), web.Shutdown(grace))
	})()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return errors.Join(fmt.Errorf("serve the control socket: %w", err), l.Close(), web.Close())
	}
	if err := <-stopped; err != nil {
		return errors.Join(fmt.Errorf("stop the control socket: %w", err), web.Close())
	}
	return nil
}

type server struct {
	router         Router
	source         Streams
	log            *slog.Logger
	token          string
	stopping       context.Context
	calls, streams gate
}

// gate lets as many in as it has room for.
type gate chan struct{}

func (g gate) enter() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g gate) leave() { <-g }

// handler checks the token before anything else is looked at. A browser never gets here, for it has no unix
// sockets; a request that says it comes from a page is refused all the same.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call/{verb}", s.serveCall)
	mux.HandleFunc("POST /stream/{ticket}", s.serveStream)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case len(r.Header["Origin"]) > 0:
			w.WriteHeader(http.StatusForbidden)
		case !carries(r, s.token):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

func (s *server) serveCall(w http.ResponseWriter, r *http.Request) {
	if !s.calls.enter() {
		refuse(w, refusal.New(refusal.Busy, "too many calls run at once", "try again"))
		return
	}
	defer s.calls.leave()
	body, err := readBody(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	var result json.RawMessage
	var callErr error
	call := func(ctx context.Context) {
		result, callErr = s.router.Dispatch(ctx, registry.Person(registry.CLI), r.PathValue("verb"), body)
	}
	if r.Header.Get("Accept") == linesType {
		w.Header().Set("Content-Type", linesType)
		registry.Watched(r.Context(), progressGap, func(text string) {
			respond(w, answer{Progress: text})
			_ = http.NewResponseController(w).Flush() // who is gone needs none
		}, call)
	} else {
		call(r.Context())
	}
	if callErr != nil {
		refuse(w, s.explain(callErr))
		return
	}
	respond(w, answer{Result: result})
}

// linesType is asked for and answered by a call that tells its progress: one answer a line.
const linesType = "application/x-ndjson"

// progressGap is how long there is at least between two reports: what a person can read.
const progressGap = 100 * time.Millisecond

// readBody returns the arguments. The deadline holds for the body alone: a wait lasts longer.
func readBody(w http.ResponseWriter, r *http.Request) (json.RawMessage, *refusal.Refusal) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, refusal.Of(fmt.Errorf("limit the time of a request: %w", err))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, refusal.Newf(refusal.BadInput, "send less", "the arguments are longer than %d bytes", maxBody)
	case err != nil:
		return nil, refusal.New(refusal.BadInput, "the arguments did not arrive", "send them again").Because(err)
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, refusal.Of(fmt.Errorf("lift the limit on a request's time: %w", err))
	}
	return body, nil
}

// explain turns an error into the refusal that the caller is told. What was given up because the app stops
// says so: the caller did not go away.
func (s *server) explain(err error) *refusal.Refusal {
	no := refusal.Of(err)
	if no.Code == refusal.Cancelled && s.stopping.Err() != nil {
		return refusal.New(refusal.NotRunning, "the app is stopping", startIt).For(no.Request)
	}
	return no
}

func refuse(w http.ResponseWriter, no *refusal.Refusal) {
	text, err := json.Marshal(no)
	if err != nil { // four strings always encode
		panic(err)
	}
	respond(w, answer{Refusal: text})
}

// respond sends an answer: status 200 whether or not it is a refusal, since the request itself was understood.
// A client that does not read it is given up; the outcome is recorded already.
func respond(w http.ResponseWriter, a answer) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	_ = json.NewEncoder(w).Encode(a)
}
