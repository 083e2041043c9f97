//go:build !linux

package main

// cages measures nothing: this system has none yet.
func cages(*samples, int) error { return errNoCages }

// inside is for Linux.
func inside(string, int) error { return errNoCages }
