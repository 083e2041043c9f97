package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// share is not possible between open files here: clonefile(2) makes the file itself.
func share(_, _ *os.File) bool { return false }

// fifoAt makes a FIFO in an open directory. There is no mkfifoat(2) in every release of the system.
func fifoAt(dir *os.File, name string) error {
	return unix.Mkfifo(filepath.Join(dir.Name(), name), 0o600)
}

// inodeOf names the file that info is about, and when its inode last changed.
func inodeOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d", st.Dev, st.Ino, st.Ctimespec.Sec, st.Ctimespec.Nsec)
}

// onDisk is what a file takes on its disk, in bytes: a file with holes takes less than its size.
func onDisk(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512 // stat(2)
	}
	return info.Size()
}
