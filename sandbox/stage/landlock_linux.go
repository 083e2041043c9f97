package stage

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scopesABI is the first Landlock ABI that keeps abstract sockets and signals in (Linux 6.12).
const scopesABI = 6

// Rights of Landlock, by what the cage gives.
const (
	accessRead   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	accessDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	accessFile   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // what a rule for a file may hold
	accessABI1 = accessRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// accessAll returns every right on files that an ABI knows and the cage handles.
func accessAll(abi int) uint64 {
	all := uint64(accessABI1)
	for _, added := range []struct {
		abi   int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER},
		{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	} {
		if abi >= added.abi {
			all |= added.right
		}
	}
	return all
}

// landlockABI returns the kernel's ABI of Landlock; 0 when it has none, or it is switched off.
func landlockABI() (int, error) {
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch e {
	case 0:
		return int(abi), nil
	case unix.ENOSYS, unix.EOPNOTSUPP:
		return 0, nil
	}
	return 0, fmt.Errorf("ask for Landlock: %w", e)
}

// rulesetAttr is struct landlock_ruleset_attr (linux/landlock.h); an ABI takes the fields that it knows.
type rulesetAttr struct{ fs, net, scoped uint64 }

func newRuleset(abi int) (int, error) {
	attr := rulesetAttr{fs: accessAll(abi)}
	size := unsafe.Sizeof(attr.fs)
	if abi >= scopesABI {
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Sizeof(attr)
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return -1, fmt.Errorf("make ruleset: %w", e)
	}
	return int(fd), nil
}

// allowBeneath gives rights on a path of the cage and all below it.
func allowBeneath(ruleset int, name string, rights uint64) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("allow %q: %w", name, err)
	}
	defer unix.Close(fd)
	_, kind, err := identify(fd)
	if err != nil {
		return err
	}
	if kind != unix.S_IFDIR {
		rights &= accessFile
	}
	rule := struct { // struct landlock_path_beneath_attr, packed: 12 bytes are read
		rights uint64
		parent int32
	}{rights, int32(fd)}
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 {
		return fmt.Errorf("allow %q: %w", name, e)
	}
	return nil
}
