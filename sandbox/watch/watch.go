// Package watch tells what programs ask the kernel for, without deciding about it: system calls that are named to Install
// are reported to whoever holds the listener, and then go on as if nothing were there (seccomp user notification,
// always continued).
//
// What is reported is what a call's arguments were when it was looked at. A program can change them before the kernel
// reads them, so a report is a hint for a person and never a reason to allow or refuse.
package watch

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Notice is one call of one process.
type Notice struct {
	PID  int    // outside any namespace of the process
	Call string // "connect", "open", "exec"
	// Path of the file, or of a Unix socket ("@" begins one without a path); empty when it could not be read. It is
	// absolute unless the process's directory could not be read.
	Path  string
	Write bool // the file is opened for writing, or made
	Addr  netip.AddrPort
}

// All returns every kind of call that can be watched.
func All() []string { return slices.Sorted(maps.Keys(groups)) }

// groups are the system calls behind each of a Notice's Calls.
var groups = map[string][]string{
	"connect": {"connect"},
	"open":    {"open", "openat", "openat2", "creat"},
	"exec":    {"execve", "execveat"},
}

// Families of addresses on Linux (linux/socket.h).
const (
	familyUnix  = 1
	familyInet  = 2
	familyInet6 = 10
)

// address reads a struct sockaddr. Families that no program in a cage can have a socket of are left empty.
func address(raw []byte, into *Notice) {
	if len(raw) < 2 {
		return
	}
	switch binary.LittleEndian.Uint16(raw) {
	case familyUnix:
		name := string(raw[2:])
		if strings.HasPrefix(name, "\x00") {
			into.Path = "@" + strings.TrimRight(name[1:], "\x00")
			return
		}
		into.Path, _, _ = strings.Cut(name, "\x00")
	case familyInet:
		if len(raw) >= 8 {
			into.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), binary.BigEndian.Uint16(raw[2:]))
		}
	case familyInet6:
		if len(raw) >= 24 {
			into.Addr = netip.AddrPortFrom(netip.AddrFrom16([16]byte(raw[8:24])).Unmap(), binary.BigEndian.Uint16(raw[2:]))
		}
	}
}
