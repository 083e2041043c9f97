package mcpserver

import (
	"net/http"
	"time"
)

// stream makes the answer a stream of events (text/event-stream), on which each message is one event. From now on
// result and fail write the last event instead of a body.
func (p *reply) stream() {
	p.streaming = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	// Tells proxies to pass each event on as it comes (MCP 2026-07-28, transports, "Receiving Messages").
	p.w.Header().Set("X-Accel-Buffering", "no")
	p.w.WriteHeader(http.StatusOK)
}

// event sends one JSON message. That a client went away shows in its request's context, which net/http ends.
func (p *reply) event(message []byte) {
	// A line break between the parts of a JSON text would end the event's line; within its strings there is none.
	line := make([]byte, 0, len(message)+8)
	line = append(append(line, "data: "...), message...)
	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	p.write(append(line, "\n\n"...))
}

// comment sends what keeps a silent stream open: a line that clients ignore (HTML, "Server-sent events", 9.2.6).
func (p *reply) comment() { p.write([]byte(":\n\n")) }

func (p *reply) write(text []byte) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := p.w.Write(text); err == nil {
		_ = p.control.Flush()
	}
}
