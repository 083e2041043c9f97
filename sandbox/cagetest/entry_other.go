//go:build !linux

package cagetest

// entry are the linker's flags for a program: none here.
var entry map[string]string
