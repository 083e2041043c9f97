//go:build !linux || !(amd64 || arm64)

package probes

var network, unixSockets, files, setID, writes, checkout, process, kernel, oldMachine, terminal []Probe

// Reach returns nothing: there are no cages on this system yet.
func Reach(int) []Result { return nil }
