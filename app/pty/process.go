package pty

// Process is a running program as the system lists it.
type Process struct {
	PID      int
	Parent   int
	Session  int    // the session that it is in; its own PID when it made one
	Terminal bool   // it has a controlling one
	Name     string // of the program, cut to 15 bytes; the process can choose it
	Dir      string // its working directory; empty where it cannot be told
	Value    string // of the variable that was looked for; empty when it was started without
}
