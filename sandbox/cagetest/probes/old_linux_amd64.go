package probes

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldMachine are ways that only this machine has.
var oldMachine = []Probe{
	row(Kernel, "local descriptor tables", unix.EPERM, false, func(*World) error {
		var block [256]byte
		_, _, e := unix.Syscall(unix.SYS_MODIFY_LDT, 0, uintptr(unsafe.Pointer(&block)), unsafe.Sizeof(block))
		return none(e)
	}, false),
	row(Kernel, "a call of i386", unix.ENOSYS, false, i386, false),
}

// i386 asks for the process id by the 32-bit entry, whose numbers a filter for 64 bits would misread. A kernel without
// it (CONFIG_IA32_EMULATION), and a virtual machine that does not pass it on, answer with SIGSEGV.
func i386(*World) (err error) {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	copy(code, []byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20: getpid
		0xcd, 0x80, // int 0x80
		0x48, 0x98, // cdqe: to 64 bits, where Go looks for the result
		0xc3, // ret
	})
	entry := uintptr(unsafe.Pointer(&code[0]))
	value := &entry // a func value is a pointer to its code's address
	call := *(*func() int)(unsafe.Pointer(&value))

	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: the 32-bit entry: %v", errAbsent, fault)
		}
	}()
	if r := call(); r < 0 {
		return syscall.Errno(-r)
	}
	return nil
}
