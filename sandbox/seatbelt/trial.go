package seatbelt

import (
	"path"
	"strconv"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// A cage is started only on a Mac that was seen to hold one: a Ground is made in a temporary directory, each Try is done under a
// policy for it, and each that is refused is done without one too, since what fails anyway proves nothing. This file says what is
// tried, as data; package maccage does it.

// Ground is where a trial is made. Base is canonical, and an empty directory of the app's.
type Ground struct {
	Base string
	// Prober is the program that does the tries, by the name of one and its operands.
	Prober string
	// Shared is the canonical path of a directory that everybody may write.
	Shared string
	// Named and Proxy are ports that the policy names; Other is one that it does not. All three are listened on, the last
	// by UDP too, and a Unix socket at Socket.
	Named, Proxy, Other uint16
	// Stranger is a process outside, of the same user.
	Stranger int
	// UID is the user's.
	UID int
}

// What is in a Ground. A name that ends in / is a directory.
var groundFiles = []string{
	"home/.ssh/key", "home/documents/letter", "data/cli-token", "data/tasks/7/home/", "data/tasks/7/temp/", "data/tasks/7/programs/tool", "data/tasks/8/secret",
	"checkout/a/file", "checkout/.vscode/tasks.json", "checkout/.git", "data/tasks/7/gitfile", "data/tasks/7/git/HEAD", "neighbour/file",
}

// Files returns what has to be in the Ground: files by their paths, and directories, which end in /.
func (g Ground) Files() []string {
	var files []string
	for _, name := range groundFiles {
		files = append(files, g.Base+"/"+name)
	}
	return files
}

// Socket is where a Unix socket has to listen: in what the cage may read and write.
func (g Ground) Socket() string { return g.in("checkout/s") }

func (g Ground) in(name string) string { return path.Join(g.Base, name) }

// Dirs is the cage of the Ground.
func (g Ground) Dirs() profile.Dirs {
	return profile.Dirs{
		Home: g.in("home"), Checkout: g.in("checkout"), Data: g.in("data"), UID: g.UID, Root: g.UID == 0, Hidden: []string{g.in("neighbour")},
		Own: []profile.Own{
			{Path: g.in("checkout/.git"), Source: g.in("data/tasks/7/gitfile"), Why: "leads to git"},
			{Path: g.in("data/tasks/7/git"), Source: g.in("data/tasks/7/git"), Write: true, Why: "git"},
			{Path: g.Prober, Source: g.Prober, Why: "does the tries"},
		},
	}
}

// Places are the cage's.
func (g Ground) Places() Places {
	return Places{Home: g.in("data/tasks/7/home"), Temp: g.in("data/tasks/7/temp"), Programs: g.in("data/tasks/7/programs"), MCP: g.Named, Proxy: g.Proxy}
}

// Declared is the capability of the cage: nothing but its own, and both ports where there are any.
func (g Ground) Declared(mode capability.Mode) (capability.Declared, error) {
	control, err := capability.ScopedControl()
	return capability.Declared{Mode: mode, Set: capability.Set{Control: control}}, err
}

// Try is one thing that a program of the cage does.
type Try struct {
	What    string   // in words
	Do      []string // the prober's arguments
	Allowed bool
}

// The names of the tries, as the prober knows them.
const (
	TryStart   = "start"   // nothing: the program runs
	TryRead    = "read"    // a file
	TryList    = "list"    // a directory
	TryAppend  = "append"  // opens a file for writing
	TryCreate  = "create"  // a file, and removes it
	TryMove    = "move"    // a file or directory, and back
	TryFollow  = "follow"  // reads a file through a symbolic link that it makes, and removes
	TryLink    = "link"    // gives a file another name, and takes it away
	TryConnect = "connect" // to a port of 127.0.0.1 by TCP
	TrySend    = "send"    // to one by UDP
	TrySocket  = "socket"  // to a Unix socket
	TrySignal  = "signal"  // a process, with a signal that does nothing to one that runs
)

// Tries returns what is tried in a mode. Every kind of what is refused has beside it what the same policy allows.
func (g Ground) Tries(mode capability.Mode) []Try {
	port := func(n uint16) string { return strconv.Itoa(int(n)) }
	open := mode == capability.EnforceFS
	return []Try{
		{"a program starts", []string{TryStart}, true},
		{"its checkout is read", []string{TryRead, g.in("checkout/a/file")}, true},
		{"its checkout is written", []string{TryCreate, g.in("checkout/a/new")}, true},
		{"a file of its checkout is written", []string{TryAppend, g.in("checkout/a/file")}, true},
		{"a file of its checkout is moved", []string{TryMove, g.in("checkout/a/file"), g.in("checkout/a/moved")}, true},
		{"its home is written", []string{TryCreate, g.in("data/tasks/7/home/x")}, true},
		{"its temporary directory is written", []string{TryCreate, g.in("data/tasks/7/temp/x")}, true},
		{"its own git is written", []string{TryAppend, g.in("data/tasks/7/git/HEAD")}, true},
		{"the app's programs are read", []string{TryRead, g.in("data/tasks/7/programs/tool")}, true},
		{"the app's programs are written", []string{TryAppend, g.in("data/tasks/7/programs/tool")}, false},
		{"what editors obey is read", []string{TryRead, g.in("checkout/.vscode/tasks.json")}, true},
		{"what editors obey is written", []string{TryAppend, g.in("checkout/.vscode/tasks.json")}, false},
		{"what editors obey is moved away", []string{TryMove, g.in("checkout/.vscode"), g.in("checkout/away")}, false},
		{"the checkout is moved away", []string{TryMove, g.in("checkout"), g.in("elsewhere")}, false},
		{"the host's view of git is read", []string{TryRead, g.in("checkout/.git")}, false},
		{"the host's view of git is written", []string{TryAppend, g.in("checkout/.git")}, false},
		{"the person's key is read", []string{TryRead, g.in("home/.ssh/key")}, false},
		{"the person's key is read through a planted link", []string{TryFollow, g.in("home/.ssh/key"), g.in("checkout/planted")}, false},
		{"the checkout is read through a link", []string{TryFollow, g.in("checkout/a/file"), g.in("checkout/planted")}, true},
		{"the person's key gets a name in the checkout", []string{TryLink, g.in("home/.ssh/key"), g.in("checkout/hard")}, false},
		{"the person's letter is read", []string{TryRead, g.in("home/documents/letter")}, false},
		{"the person's home is listed", []string{TryList, g.in("home")}, false},
		{"the person's home is written", []string{TryCreate, g.in("home/.zshrc")}, false},
		{"the app's token is read", []string{TryRead, g.in("data/cli-token")}, false},
		{"the app's data is listed", []string{TryList, g.in("data")}, false},
		{"a file for everybody is made", []string{TryCreate, g.Shared + "/" + path.Base(g.Base) + "-shared"}, false},
		{"another task's data is read", []string{TryRead, g.in("data/tasks/8/secret")}, false},
		{"another task's checkout is read", []string{TryRead, g.in("neighbour/file")}, false},
		{"its control plane is called", []string{TryConnect, port(g.Named)}, true},
		{"its proxy is called", []string{TryConnect, port(g.Proxy)}, true},
		{"another port of the machine is called", []string{TryConnect, port(g.Other)}, open},
		{"a port of the machine is sent to by UDP", []string{TrySend, port(g.Other)}, open},
		{"a Unix socket is connected to", []string{TrySocket, g.Socket()}, false},
		{"a process outside is signalled", []string{TrySignal, strconv.Itoa(g.Stranger)}, false},
	}
}
