//go:build !linux

package main

import "errors"

func without(string, string, []string) error { return errors.New("on Linux only") }
