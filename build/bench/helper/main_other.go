//go:build !linux

// Command helper is what the benchmark of cages runs; there is none on this system.
package main

func main() {}
