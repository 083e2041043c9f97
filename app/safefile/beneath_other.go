//go:build unix && !linux

package safefile

func beneath(dir int, name string, flags int) (int, error) { return walk(dir, name, flags) }
