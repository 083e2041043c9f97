package task

import (
	"cmp"
	"maps"
	"net/netip"
	"path"
	"slices"
	"sync"
	"time"
)

// maxSeen is how many different things of one kind are kept of a task: a build starts some hundred programs, and no kind takes
// the place of another.
const maxSeen = 500

// maxBeside is how many places of one directory, or ports of one host, are kept apart. More of them are one thing to decide about.
const maxBeside = 32

// Seen is something that a watched task's programs asked for.
type Seen struct {
	Kind    string // "write", "read", "connect", "program"
	What    string // a path or an address; an address without a port is any port of the host
	Below   int    // how many different places below it were asked for, when they are not kept apart; else 0
	Tab     string // where it was first seen
	Program string // that first asked; the process can choose its name
	Count   int
	Last    time.Time
}

// sightings are what one task was seen to ask for. The zero value is ready.
type sightings struct {
	mu      sync.Mutex
	keep    []string            // see apart
	known   map[[2]string]*Seen // by kind and what
	dropped map[string]int      // by kind: things that are not kept any more
}

// apart says which paths stay apart from what is around them.
func (v *sightings) apart(paths ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keep = paths
}

// note counts what a process asked for.
func (v *sightings) note(kind, what, tabName string, pid int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known, v.dropped = map[[2]string]*Seen{}, map[string]int{}
	}
	if known := v.find(kind, what); known != nil {
		known.Count++
		known.Last = time.Now()
		return
	}
	v.makeRoom(kind)
	v.known[[2]string{kind, what}] = &Seen{Kind: kind, What: what, Tab: tabName, Program: programOf(pid), Count: 1, Last: time.Now()}
	v.fold(kind, v.around(kind, what))
}

// find returns what stands for a thing: itself, or what is around it and stands for all below.
func (v *sightings) find(kind, what string) *Seen {
	if known := v.known[[2]string{kind, what}]; known != nil {
		return known
	}
	for at := v.around(kind, what); at != ""; at = v.around(kind, at) {
		if known := v.known[[2]string{kind, at}]; known != nil && known.Below > 0 {
			known.Below++ // as far as is known: they are not told apart any more
			return known
		}
	}
	return nil
}

// around returns the directory of a path, or the host of an address: what may stand for it together with those beside it.
// Nothing, when that would say too much: the root, the home directory, the checkout and whatever is above them.
func (v *sightings) around(kind, what string) string {
	if at, err := netip.ParseAddrPort(what); kind == "connect" && err == nil {
		return at.Addr().String()
	}
	if !path.IsAbs(what) {
		return ""
	}
	dir := path.Dir(what)
	if dir == "/" || slices.ContainsFunc(v.keep, func(kept string) bool { return within(dir, kept) }) {
		return ""
	}
	return dir
}

// fold makes one thing of what is around too many.
func (v *sightings) fold(kind, around string) {
	if around == "" {
		return
	}
	var beside []*Seen
	for _, one := range v.known {
		if one.Kind == kind && v.around(kind, one.What) == around {
			beside = append(beside, one)
		}
	}
	if len(beside) <= maxBeside {
		return
	}
	slices.SortFunc(beside, func(a, b *Seen) int { return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.What, b.What)) })
	all := *beside[0]
	all.What, all.Below, all.Count = around, 0, 0
	if known := v.known[[2]string{kind, around}]; known != nil {
		all.Count, all.Below = known.Count, known.Below
	}
	for _, one := range beside {
		all.Count += one.Count
		all.Below += max(1, one.Below)
		all.Last = one.Last
		delete(v.known, [2]string{kind, one.What})
	}
	v.known[[2]string{kind, around}] = &all
	v.fold(kind, v.around(kind, around))
}

// makeRoom drops a thing of a kind that is full: the one that was asked for least, of these the one that was asked for
// longest ago. So what a program keeps using outlasts any number of things that it touches once, and the newest is kept.
func (v *sightings) makeRoom(kind string) {
	var least *Seen
	count := 0
	for _, one := range v.known {
		if one.Kind != kind {
			continue
		}
		count++
		if least == nil || one.Count < least.Count || one.Count == least.Count && one.Last.Before(least.Last) {
			least = one
		}
	}
	if count >= maxSeen {
		delete(v.known, [2]string{kind, least.What})
		v.dropped[kind]++
	}
}

// list returns what is kept, by kind and name, and how many things of each kind are not.
func (v *sightings) list() ([]Seen, map[string]int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]Seen, 0, len(v.known))
	for _, seen := range v.known {
		list = append(list, *seen)
	}
	slices.SortFunc(list, func(a, b Seen) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What)) })
	return list, maps.Clone(v.dropped)
}
