package agentstate

import (
	"io"
	"io/fs"
	"syscall"
)

// onDisk is what a file takes, in bytes: a sparse one less than it claims.
func onDisk(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512 // stat(2): st_blocks is in units of 512 bytes
	}
	return info.Size()
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
