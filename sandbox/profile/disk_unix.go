//go:build unix

package profile

import "syscall"

func (e *Entry) identify(sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		e.Links, e.Dev, e.Ino = uint64(st.Nlink), uint64(st.Dev), st.Ino
	}
}
