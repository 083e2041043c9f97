// Command plain is the floor under the MCP benchmark: a handler of net/http that reads the body and answers the bytes
// of its argument. It prints its address and serves until its standard input ends.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"termic/build/bench/cost"
)

func main() {
	answer := []byte(os.Args[1])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}))
	}()
	cost.Answer()
}
