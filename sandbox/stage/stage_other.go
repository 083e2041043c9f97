//go:build !linux

package stage

import "termic/sandbox/maccage"

// Main is what cages need beside the app where there are no namespaces; see package maccage.
func Main(args []string) int { return maccage.Main(args) }
