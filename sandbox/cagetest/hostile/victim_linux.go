package main

import "golang.org/x/sys/unix"

// beAVictim lets any process of the user trace this one, where Yama would allow only its parent.
func beAVictim() { _ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) } // EINVAL without Yama
