package pty

// Process is a running program as the system lists it.
type Process struct {
	PID     int
	Session int    // the session that it is in; its own PID when it made one
	Name    string // of the program, cut to 15 bytes; the process can choose it
	Value   string // of the variable that it was found by
}
