package git

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// share makes dst share the blocks of src, where the file system can do that (ioctl_ficlone(2)).
func share(dst, src *os.File) bool {
	return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) == nil
}

// fifoAt makes a FIFO in an open directory.
func fifoAt(dir *os.File, name string) error {
	return unix.Mkfifoat(int(dir.Fd()), name, 0o600)
}

// inodeOf names the file that info is about, and when its inode last changed.
func inodeOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d", st.Dev, st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
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
