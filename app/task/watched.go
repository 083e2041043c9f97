package task

import (
	"crypto/rand"
	"encoding/json"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/watch"
	"termic/sandbox/watched"
)

// In mode monitor nothing is blocked: what runs in the task's tabs is watched, and noted in memory. What is noted is what
// programs asked for, by the text of their arguments; whether they got it is not known.

// WatchCommand is the first argument of the termic program when it is to put itself under watch and become another.
const WatchCommand = "__watched"

// label is what a watched program is started as.
type label struct {
	Task ident.Task `json:"task"`
	Tab  string     `json:"tab"`
}

// watcher takes the watched programs of every task.
type watcher struct {
	once    sync.Once
	address string
	stop    func()
	err     error
}

// watched returns the words that a command is put after so that it is watched.
func (s *Tasks) watched(id ident.Task, tabName string) ([]string, error) {
	s.watcher.once.Do(func() {
		s.watcher.address = "termic-watch-" + rand.Text()
		s.watcher.stop, s.watcher.err = watched.Accept(s.watcher.address, s.takeWatched)
	})
	if s.watcher.err != nil {
		return nil, s.watcher.err
	}
	name, err := json.Marshal(label{id, tabName})
	if err != nil {
		return nil, err
	}
	return []string{s.CLI, WatchCommand, s.watcher.address, string(name)}, nil
}

// takeWatched returns who is told of a program's calls; nil when it is of no task that is watched. Any process of this
// user could say that it is one: it would add to a list that bounds nothing.
func (s *Tasks) takeWatched(text string) func(watch.Notice) {
	var l label
	if json.Unmarshal([]byte(text), &l) != nil {
		return nil
	}
	record, ok := s.Get(l.Task)
	if !ok || record.Mode != capability.Monitor {
		return nil
	}
	s.mu.RLock()
	t := s.tasks[l.Task]
	s.mu.RUnlock()
	if t == nil {
		return nil
	}
	home, err := s.home()
	if err != nil {
		return nil
	}
	t.seen.apart(record.Dir, home)
	return func(n watch.Notice) {
		if kind, what := sighting(record.Dir, home, n); kind != "" {
			t.seen.note(kind, what, l.Tab, n.PID)
		}
	}
}

// whole are places that say the same of a program whatever it opens in them: every cage has them.
var whole = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix/store", "/dev", "/proc", "/sys", "/run"}

// scratch are places of which a cage has its own, to write; what a program reads there may be somebody else's.
var scratch = []string{"/tmp", "/var/tmp"}

// sighting returns how a call is noted; nothing for what says nothing. Files are noted by their directory, since a program
// that reads a thousand files of one is one thing to decide about; those beside each other in the home directory by
// themselves, since no cage has that as a whole.
func sighting(checkout, home string, n watch.Notice) (kind, what string) {
	switch {
	case n.Call == "connect" && n.Addr.IsValid() && n.Addr.Port() != 0:
		return "connect", n.Addr.String()
	case n.Call == "connect" && n.Path != "":
		return "connect", n.Path
	case n.Call == "connect" || !path.IsAbs(n.Path):
		return "", ""
	case n.Call == "exec":
		return "program", path.Clean(n.Path)
	}
	name := path.Clean(n.Path)
	if within(checkout, name) {
		if n.Write {
			return "write", checkout
		}
		return "", ""
	}
	kind = "read"
	if n.Write {
		kind = "write"
	}
	places := whole
	if n.Write {
		places = slices.Concat(whole, scratch)
	}
	for _, place := range places {
		if within(place, name) {
			return kind, place
		}
	}
	if dir := path.Dir(name); dir != home && dir != "/" {
		name = dir
	}
	return kind, name
}

func within(root, name string) bool { return name == root || strings.HasPrefix(name, root+"/") }

func programOf(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// Watched returns what a task was seen to ask for since the app started, by kind and name, and how many other things of each
// kind are not kept any more.
func (s *Tasks) Watched(id ident.Task) (list []Seen, dropped map[string]int, err error) {
	s.mu.RLock()
	t := s.tasks[id]
	s.mu.RUnlock()
	if t == nil {
		return nil, nil, noSuchTask()
	}
	list, dropped = t.seen.list()
	return list, dropped, nil
}

// Draft is a cage that would let through what a watched task asked for, as far as a cage may.
type Draft struct {
	Read, Write []string
	// Addresses are what was connected to. A cage lets hosts through by name, which a connection does not say: the person
	// names them.
	Addresses []string
	LeftOut   []LeftOut
}

// LeftOut is a path that no cage may have, or need not be given.
type LeftOut struct{ Path, Why string }

// DraftCage makes a draft of what a task was seen to ask for. It changes nothing.
func (s *Tasks) DraftCage(id ident.Task) (Draft, error) {
	record, ok := s.Get(id)
	if !ok {
		return Draft{}, noSuchTask()
	}
	seen, _, err := s.Watched(id)
	if err != nil {
		return Draft{}, err
	}
	if len(seen) == 0 {
		return Draft{}, refusal.New(refusal.Conflict, "nothing was seen of the task", "let it work in mode monitor first")
	}
	var draft Draft
	var asks []profile.Ask
	for _, one := range seen {
		switch one.Kind {
		case "connect":
			if host := hostOf(one.What); host.IsValid() && !host.IsLoopback() {
				draft.Addresses = append(draft.Addresses, one.What)
			}
		case "read", "write":
			if one.What == record.Dir || slices.Contains(whole, one.What) || slices.Contains(scratch, one.What) {
				continue // every cage has it, or one of its own in its place
			}
			asks = append(asks, profile.Ask{Path: one.What, Write: one.Kind == "write"})
		}
	}
	dirs, err := s.places(record)
	if err != nil {
		return Draft{}, err
	}
	refused, err := s.Machine.Sift(asks, dirs)
	if err != nil {
		return Draft{}, err
	}
	written := map[string]bool{}
	for _, one := range asks {
		written[one.Path] = written[one.Path] || one.Write && refused[one] == nil
	}
	for _, one := range asks {
		switch why := refused[one]; {
		case why != nil:
			draft.LeftOut = append(draft.LeftOut, LeftOut{one.Path, why.Error()})
		case one.Write:
			draft.Write = append(draft.Write, one.Path)
		case !written[one.Path]:
			draft.Read = append(draft.Read, one.Path)
		}
	}
	return draft, nil
}

// hostOf reads the address of a connection; not valid for a socket with a path.
func hostOf(what string) netip.Addr {
	if at, err := netip.ParseAddrPort(what); err == nil {
		return at.Addr()
	}
	addr, _ := netip.ParseAddr(what)
	return addr
}
