//go:build unix

package task

import (
	"io/fs"
	"syscall"
)

// onDisk is what a file takes: a sparse file its blocks (of 512 bytes, stat(2)), one with several names its share.
func onDisk(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	links := max(1, int64(st.Nlink))
	if info.IsDir() {
		links = 1
	}
	return int64(st.Blocks) * 512 / links
}
