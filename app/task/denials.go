package task

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"termic/registry/ident"
	"termic/sandbox/capability"
	"termic/sandbox/egress"
	"termic/sandbox/watch"
)

// maxDenials is how many different targets of one kind are kept of a task: an agent can ask as often as it likes, and no kind
// takes the place of another.
const maxDenials = 100

// kind is what a cage asked for.
type kind int

const (
	byHost    kind = iota // of the proxy
	byAddress             // of the kernel, past the proxy
	bySocket              // a socket of a program outside
)

// Denial is what a task's cage was refused, as often as it asked.
type Denial struct {
	Target string // host:port, address:port, or the path of a socket; as the cage asked for it
	Reason string // which rule refused it
	// Allow is the one entry of the task's hosts that would let it through, and Widens what else that lets through. Both
	// are empty where no entry would: this machine and addresses that are not public are refused whatever is listed.
	Allow, Widens string
	Count         int
	First, Last   time.Time

	kind kind
}

// denials are those of one task, across its cages: what is allowed by a change starts the cage again. The log gets each
// target once.
type denials struct {
	log  *slog.Logger
	task ident.Task

	mu    sync.Mutex
	known map[string]*Denial
	more  int // targets that are not kept any more
}

func newDenials(log *slog.Logger, task ident.Task) *denials {
	return &denials{log: log, task: task, known: map[string]*Denial{}}
}

// decided takes one decision of the proxy; see egress.Proxy.
func (d *denials) decided(decision egress.Decision) {
	if decision.Allow {
		return
	}
	denial := Denial{kind: byHost, Target: targetOf(decision), Reason: decision.Reason}
	denial.Allow, denial.Widens = wouldAllow(decision)
	if d.note(denial) {
		d.log.Warn("a cage was refused a connection", "task", d.task, "host", decision.Host, "port", decision.Port, "reason", decision.Reason)
	}
}

// connects is told of each connection that a process of the cage asks the kernel for; see launch.Cage.Connections. The
// network is the cage's own and has nothing but its loopback: what leads elsewhere is refused by there being no way.
func (d *denials) connects(n watch.Notice) {
	const unreachable = "a cage has no way to addresses, only to hosts of its list through its proxy; the program did not use it (HTTPS_PROXY)"
	switch {
	case n.Addr.IsValid() && !n.Addr.Addr().IsLoopback() && !n.Addr.Addr().IsUnspecified():
		d.note(Denial{kind: byAddress, Target: n.Addr.String(), Reason: unreachable})
	case path.IsAbs(n.Path) && !slices.Contains(unasked, n.Path) && watch.Missing(n.PID, n.Path):
		d.note(Denial{kind: bySocket, Target: n.Path, Reason: "no socket of a program outside is in a cage, and no rule brings one in"})
	}
}

// unasked are sockets that the C library tries by itself before it goes on without.
var unasked = []string{"/var/run/nscd/socket", "/run/nscd/socket", "/dev/log", "/run/systemd/userdb", "/run/systemd/journal/dev-log"}

// note counts a denial, and tells whether to log it: a new one, until the first is dropped, since the log has no bound of its own.
func (d *denials) note(denial Denial) bool {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	key := denial.Target + " " + denial.Reason
	if known := d.known[key]; known != nil {
		known.Count++
		known.Last = now
		return false
	}
	d.makeRoom(denial.kind)
	denial.Count, denial.First, denial.Last = 1, now, now
	d.known[key] = &denial
	return d.more == 0
}

// makeRoom drops a denial of a kind that is full: the one that was asked for least, of these the one that was asked for longest ago.
// So what a program keeps trying outlasts any number of targets that are tried once.
func (d *denials) makeRoom(k kind) {
	least, count := "", 0
	for key, known := range d.known {
		if known.kind != k {
			continue
		}
		count++
		if other := d.known[least]; other == nil || known.Count < other.Count || known.Count == other.Count && known.Last.Before(other.Last) {
			least = key
		}
	}
	if count >= maxDenials {
		delete(d.known, least)
		d.more++
	}
}

// targetOf is what the cage asked for.
func targetOf(d egress.Decision) string {
	switch {
	case d.Host != "":
		return fmt.Sprintf("%s:%d", d.Host, d.Port)
	case d.Addr.IsValid():
		return netip.AddrPortFrom(d.Addr, d.Port).String()
	}
	return "nothing that could be listed"
}

// wouldAllow returns the one entry that would let a refused connection through, and what it would let through besides.
func wouldAllow(d egress.Decision) (entry, widens string) {
	if d.Class != egress.Unlisted || d.Host == "localhost" || strings.HasSuffix(d.Host, ".localhost") {
		return "", ""
	}
	hosts, err := capability.HostsOf(fmt.Sprintf("%s:%d", d.Host, d.Port))
	if err != nil || len(hosts.Items()) != 1 {
		return "", ""
	}
	entry = strings.TrimSuffix(hosts.Items()[0], ":443") // the port of an entry without one
	return entry, fmt.Sprintf("everything that runs in the task could send what it can read to %s, and take from there what it then runs; what else that host serves is reached too", entry)
}

// list returns what the task's rules still refuse, the latest first, and how many targets are not kept any more.
func (d *denials) list(now capability.Hosts) ([]Denial, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Denial
	for _, known := range d.known {
		if known.Allow == "" || !now.Covers(known.Allow) {
			list = append(list, *known)
		}
	}
	slices.SortFunc(list, func(a, b Denial) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return strings.Compare(a.Target, b.Target)
	})
	return list, d.more
}

// Denials returns what a task's cages were refused since the app started and its rules still refuse, the latest first, and
// how many targets there were besides.
func (s *Tasks) Denials(id ident.Task) (list []Denial, more int, err error) {
	s.mu.RLock()
	t := s.tasks[id]
	s.mu.RUnlock()
	if t == nil {
		return nil, 0, noSuchTask()
	}
	record, _ := s.Get(id)
	list, more = t.denied(s.Log).list(record.Hosts)
	return list, more, nil
}

// denied returns the task's denials.
func (t *task) denied(log *slog.Logger) *denials {
	t.denials.Do(func() { t.refused = newDenials(log, t.record().ID) })
	return t.refused
}
