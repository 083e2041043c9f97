// Command stage is the first code inside a cage on Linux; see the package of that name. It is a program of its own,
// small and without cgo, at its own path, so that AppArmor can name it. It starts at stage_entry, in assembly: build it
// with -ldflags "-E stage_entry". On macOS it is what package maccage says, and starts as any program.
package main

import (
	"os"
	"runtime"

	"termic/sandbox/stage"
)

// Keeps Main on the first thread of the process.
func init() { runtime.LockOSThread() }

func main() { os.Exit(stage.Main(os.Args[1:])) }
