// Package probes holds what a hostile program would try in a cage. Each probe does one forbidden thing. It succeeds
// outside a cage, where nothing forbids it, and a cage is right when it answers with the one error that the wall in
// question gives: another error would show that something else went wrong, and that the wall was not tried.
package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Category groups probes by what they attack.
type Category string

// The categories.
const (
	Network  Category = "network"
	Files    Category = "files"
	Checkout Category = "checkout"
	Process  Category = "process"
	Kernel   Category = "kernel"
	Terminal Category = "terminal"
)

// Categories are all of them.
var Categories = []Category{Network, Files, Checkout, Process, Kernel, Terminal}

// Probe is one forbidden thing.
type Probe struct {
	Category Category
	Name     string
	Want     syscall.Errno // the answer in a cage of mode enforce
	WantFS   syscall.Errno // in one of mode enforce-fs
	WantUser syscall.Errno // in one of a user, where the permissions of the file answer first; 0: as for root
	Open     bool          // the open network of enforce-fs allows it
	Root     bool          // outside, too, only root may do it: for a user there is no twin
	Needs    string        // a file without which this machine has nothing to try
	IPv6     bool          // needs a machine that speaks it
	Do       func(*World) error
}

func row(c Category, name string, want syscall.Errno, root bool, do func(*World) error, open bool) Probe {
	return Probe{Category: c, Name: name, Want: want, WantFS: want, Root: root, Do: do, Open: open}
}

// needs marks a probe of something that not every machine has.
func needs(file string, p Probe) Probe {
	p.Needs = file
	return p
}

func ipv6(p Probe) Probe {
	p.IPv6 = true
	return p
}

// Missing returns what this machine lacks without which there is nothing to try, or "".
func (p Probe) Missing(w *World) string {
	if p.IPv6 && (w.TCP6 == 0 || w.UDP6 == 0) {
		return "no IPv6"
	}
	if p.Needs == "" {
		return ""
	}
	if _, err := os.Lstat(p.Needs); err != nil {
		return err.Error()
	}
	return ""
}

// user sets what the cage of a user answers.
func user(want syscall.Errno, p Probe) Probe {
	p.WantUser = want
	return p
}

// Wanted returns the answer of a cage of that kind.
func (p Probe) Wanted(root, openNetwork bool) syscall.Errno {
	switch {
	case !root && p.WantUser != 0:
		return p.WantUser
	case openNetwork:
		return p.WantFS
	}
	return p.Want
}

// World is what there is outside to attack. The tests make it; probes get it as JSON.
type World struct {
	TCP4, TCP6, UDP4, UDP6 int    // ports of the host that answer "host"; 0: it does not speak that
	Abstract               string // a listening Unix socket without a path
	Socket, Datagram       string // Unix sockets with one
	Secret, Data, Other    string // files: in the person's ~/.ssh, in the app's data directory, in another task's checkout
	Victim                 int    // a process of the same user
	Shm, Sem, Queue        int    // keys of System V objects
	ShmFile                string // of /dev/shm
	Home                   string // the person's
	Checkout               string // the task's
	Outside                string // a directory of the same user that the cage does not have
	Marker                 string // an environment variable of the app
	App                    int    // the app's process
	Terminal               string // a terminal of the host, by name
}

// All returns every probe.
func All() []Probe {
	var all []Probe
	for _, part := range [][]Probe{network, unixSockets, files, setID, writes, checkout, process, kernel, oldMachine, terminal} {
		all = append(all, part...)
	}
	return all
}

// Find returns the probe of a name.
func Find(name string) (Probe, error) {
	for _, p := range All() {
		if p.ID() == name {
			return p, nil
		}
	}
	return Probe{}, fmt.Errorf("no probe %q", name)
}

// ID names the probe among all.
func (p Probe) ID() string { return string(p.Category) + ": " + p.Name }

// errAbsent means that this machine does not have what the probe tries, which shows only in trying.
var errAbsent = errors.New("not on this machine")

// Result is what came of a probe. None of Done, Absent and Errno means that it went wrong otherwise.
type Result struct {
	ID     string        `json:"id"`
	Done   bool          `json:"done"`
	Absent bool          `json:"absent"` // outside, too: there was nothing to refuse
	Errno  syscall.Errno `json:"errno"`
	Text   string        `json:"text"`
}

// Run does a probe.
func (p Probe) Run(w *World) Result {
	r := Result{ID: p.ID()}
	err := p.Do(w)
	if err == nil {
		r.Done = true
		return r
	}
	r.Text, r.Absent = err.Error(), errors.Is(err, errAbsent)
	errors.As(err, &r.Errno)
	return r
}

// Encode returns the World as text.
func (w World) Encode() string {
	data, err := json.Marshal(w)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	return string(data)
}
