package task

import (
	"fmt"
	"log/slog"
	"sync"

	"termic/registry/ident"
	"termic/sandbox/egress"
)

// maxRefused is how many different refusals of one cage are logged: an agent can ask as often as it likes.
const maxRefused = 200

// egressLog writes what a cage's proxy refused into the app's log, each target once.
type egressLog struct {
	log  *slog.Logger
	task ident.Task
	mu   sync.Mutex
	seen map[string]bool
}

func newEgressLog(log *slog.Logger, task ident.Task) *egressLog {
	return &egressLog{log: log, task: task, seen: map[string]bool{}}
}

// decided takes one decision of the proxy; see egress.Proxy.
func (l *egressLog) decided(d egress.Decision) {
	if d.Allow || !l.first(fmt.Sprintf("%s:%d %v", d.Host, d.Port, d.Class)) {
		return
	}
	l.log.Warn("a cage was refused a connection", "task", l.task, "host", d.Host, "port", d.Port, "reason", d.Reason)
}

// first tells whether the key is new, and there is still room for new ones.
func (l *egressLog) first(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[key] || len(l.seen) >= maxRefused {
		return false
	}
	l.seen[key] = true
	return true
}
