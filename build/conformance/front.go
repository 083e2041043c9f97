package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
)

// front is a loopback proxy that adds the token: the suite has no way to send a header of its own. It changes nothing
// else, but for its own address in Host, which stands for the endpoint's.
type front struct {
	listener net.Listener
	server   *http.Server
}

func newFront(endpoint, token string) (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	own := listener.Addr().String()
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // events pass as they come
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", endpoint
			r.Out.Host = r.In.Host
			if r.In.Host == own {
				r.Out.Host = endpoint
			}
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
	}
	f := &front{listener, &http.Server{Handler: whole(proxy)}}
	go func() { _ = f.server.Serve(listener) }()
	return f, nil
}

// whole reads each request to its end before it is passed on: net/http cuts a body off once the answer to it begins, and
// would then break the connection on which that answer comes.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// URL is the address to give to the suite.
func (f *front) URL() string { return fmt.Sprintf("http://%s/mcp", f.listener.Addr()) }

// Close stops the proxy.
func (f *front) Close() error { return f.server.Close() }
