package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// noMountBelow returns ErrMounted when something is mounted at dir or below it: a directory of the same file system that
// is bound there looks like any other, and what is in it is not the checkout's.
func noMountBelow(dir string) error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no /proc: devices are compared still
	}
	if err != nil {
		return fmt.Errorf("look for what is mounted in %s: %w", dir, err)
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line) // proc(5): id, parent, device, root, mount point, …
		if len(f) < 5 {
			continue
		}
		if at := unescapeMount(f[4]); at != "/" && within(at, dir) {
			return fmt.Errorf("%s: %w", at, ErrMounted)
		}
	}
	return nil
}

// unescapeMount undoes the octal escapes of spaces, tabs, line breaks and backslashes in a mount point.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
