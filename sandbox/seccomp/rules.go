// Package seccomp holds the system-call filter of a cage: a table of rules, an assembler from rules to classic
// BPF for amd64 and arm64, a simulator of that BPF, and (on Linux) its installation.
//
// The filter is the second wall. Namespaces and mounts decide what a cage sees; the filter takes away the parts of
// the kernel that could take those apart (mounts, new namespaces), that no namespace holds (vsock, the kernel's
// keyrings, timers of the machine) or that have been its weakest (io_uring, bpf, userfaultfd).
//
// It is a list of what is refused, and such a list ages: a system call that is newer than the table (Newest) is
// answered with ENOSYS, which programs take for an older kernel.
package seccomp

import "slices"

// Action is what the kernel does with a call: a SECCOMP_RET_* value of linux/seccomp.h with its data. The zero
// Action kills the thread.
type Action uint32

// The actions that filters use. Refuse makes the others.
const (
	Kill  Action = 0x00000000 // SECCOMP_RET_KILL_THREAD
	Allow Action = 0x7fff0000 // SECCOMP_RET_ALLOW
	// Notify asks whoever holds the filter's listener; see Watch.
	Notify Action = 0x7fc00000 // SECCOMP_RET_USER_NOTIF
	errno  Action = 0x00050000 // SECCOMP_RET_ERRNO
)

// Errno is an error number of Linux (asm-generic/errno.h), whatever system this runs on.
type Errno uint16

// The errors that the rules answer with.
const (
	EPERM           Errno = 1
	ENOSYS          Errno = 38
	EPROTONOSUPPORT Errno = 93
	EAFNOSUPPORT    Errno = 97
)

// Refuse answers a call with an error.
func Refuse(e Errno) Action { return errno | Action(e) }

// Refuses returns the error with which the action answers a call, and whether it does.
func (a Action) Refuses() (Errno, bool) {
	return Errno(a & 0xffff), a&^0xffff == errno
}

// Rule says what to do with one system call.
type Rule struct {
	Call string // as in the kernel's tables
	When []Cond // all must hold; none: always
	Do   Action
	Why  string
}

// Cond compares the low 32 bits of one argument. Every argument that the table looks at is an int, an unsigned int
// or, for clone(2), a long of which the kernel takes the low half: a comparison of all 64 bits could be dodged by
// setting a bit that the kernel drops.
type Cond struct {
	Arg  int      // 0 to 5
	Mask uint32   // applied first
	In   []uint32 // the values that match; none: any value but zero does
}

func is(arg int, values ...uint32) Cond    { return Cond{Arg: arg, Mask: ^uint32(0), In: values} }
func anyOf(arg int, bits uint32) Cond      { return Cond{Arg: arg, Mask: bits} }
func kindOf(arg int, kinds ...uint32) Cond { return Cond{Arg: arg, Mask: sockTypeMask, In: kinds} }

// Constants of the Linux ABI that the rules compare with, equal on amd64 and arm64. They are written here so that
// the filter can be assembled and tested on every system.
const (
	newNamespaces = 0x7e020000 | 0x80 // CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET} and NEWTIME; linux/sched.h

	setIDBits = 0o6000        // S_ISUID | S_ISGID; linux/stat.h
	makesFile = 0o100 | 1<<22 // O_CREAT | __O_TMPFILE; asm-generic/fcntl.h

	tiocsti   = 0x5412 // asm-generic/ioctls.h: types into a terminal
	tioclinux = 0x541c // selects and pastes on a virtual console
	tiocsetd  = 0x5423 // sets a line discipline, and loads its module

	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16 // linux/socket.h
	sockStream, sockDgram              = 1, 2         // linux/net.h
	sockTypeMask                       = 0xf          // SOCK_TYPE_MASK, linux/net.h: less NONBLOCK and CLOEXEC
	protoDefault, protoTCP, protoUDP   = 0, 6, 17     // linux/in.h
	netlinkRoute                       = 0            // linux/netlink.h
)

var (
	perm     = Refuse(EPERM)
	noSys    = Refuse(ENOSYS)
	noFamily = Refuse(EAFNOSUPPORT)
	noProto  = Refuse(EPROTONOSUPPORT)
)

// Rules returns the filter of a cage in the order in which it is tried: for each call the first rule whose
// conditions hold decides, and a call that no rule decides is allowed.
func Rules() []Rule {
	rules := slices.Clone(setID)
	for _, group := range refused {
		for _, call := range group.calls {
			rules = append(rules, Rule{Call: call, Do: group.do, Why: group.why})
		}
	}
	return append(rules, conditional...)
}

// setID keeps programs that run with the rights of their owner from being made. The cage's own mounts take no notice of
// the mark, but the file is the host's too, and there any user who can reach it gets the owner's rights. Open's mode means
// something only when it makes a file, and is whatever was in the register else. First, since files are opened more
// often than anything else is done.
var setID = []Rule{
	{"openat", []Cond{anyOf(2, makesFile), anyOf(3, setIDBits)}, perm, whySetID},
	{"open", []Cond{anyOf(1, makesFile), anyOf(2, setIDBits)}, perm, whySetID},
	{"openat2", nil, noSys, "has the mode of a new file in memory; programs fall back to openat"},
	{"creat", []Cond{anyOf(1, setIDBits)}, perm, whySetID},
	{"chmod", []Cond{anyOf(1, setIDBits)}, perm, whySetID},
	{"fchmod", []Cond{anyOf(1, setIDBits)}, perm, whySetID},
	{"fchmodat", []Cond{anyOf(2, setIDBits)}, perm, whySetID},
	{"fchmodat2", []Cond{anyOf(2, setIDBits)}, perm, whySetID},
	{"mknod", []Cond{anyOf(1, setIDBits)}, perm, whySetID},
	{"mknodat", []Cond{anyOf(2, setIDBits)}, perm, whySetID},
}

const whySetID = "makes a program that runs with its owner's rights for every user of the host"

// refused are the calls that are answered with an error whatever their arguments.
var refused = []struct {
	do    Action
	why   string
	calls []string
}{
	{perm, "changes what the cage's file system shows", []string{
		"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr",
		"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"}},
	{perm, "enters another namespace", []string{"setns"}},
	{perm, "opens a file by its number, past every path", []string{"open_by_handle_at"}},
	{perm, "reads or changes another process past its terminal and files", []string{
		"pidfd_getfd", "process_vm_readv", "process_vm_writev", "kcmp", "move_pages", "migrate_pages"}},
	{perm, "keyrings belong to the user, not to a namespace", []string{"keyctl", "add_key", "request_key"}},
	{perm, "runs or watches code in the kernel", []string{"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "lookup_dcookie"}},
	{perm, "hides memory from whoever looks into it", []string{"memfd_secret"}},
	{perm, "changes the machine", []string{
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff",
		"acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
		"sethostname", "setdomainname", "syslog", "vhangup", "iopl", "ioperm", "modify_ldt"}},
	{perm, "is left over from old kernels", []string{"nfsservctl", "uselib", "ustat", "_sysctl"}},
	{perm, "changes the security labels of the process", []string{"lsm_set_self_attr"}},
	{noSys, "does what other calls do, out of sight of a filter", []string{"io_uring_setup", "io_uring_enter", "io_uring_register"}},
	{noSys, "has its flags in memory; programs fall back to clone", []string{"clone3"}},
	{noSys, "lists namespaces; too new for programs to need it", []string{"listns"}},
}

// conditional are the rules that look at arguments.
var conditional = []Rule{
	{"clone", []Cond{anyOf(0, newNamespaces)}, perm, "a namespace of its own gives back the rights that were taken"},
	{"unshare", []Cond{anyOf(0, newNamespaces)}, perm, "a namespace of its own gives back the rights that were taken"},

	{"ioctl", []Cond{is(1, tiocsti, tioclinux)}, perm, "types into a terminal whose other programs may be less caged"},
	{"ioctl", []Cond{is(1, tiocsetd)}, perm, "loads a kernel module"},

	{"socket", []Cond{is(0, afUnix)}, Allow, "no socket of the host has a path in the cage"},
	{"socket", []Cond{is(0, afInet, afInet6), kindOf(1, sockStream), is(2, protoDefault, protoTCP)}, Allow, "TCP"},
	{"socket", []Cond{is(0, afInet, afInet6), kindOf(1, sockDgram), is(2, protoDefault, protoUDP)}, Allow, "UDP"},
	{"socket", []Cond{is(0, afInet, afInet6), kindOf(1, sockStream, sockDgram)}, noProto, "MPTCP, SCTP and others are looked at by fewer rules than TCP"},
	{"socket", []Cond{is(0, afNetlink), is(2, netlinkRoute)}, Allow, "libc asks for its addresses"},
	{"socket", nil, noFamily, "some families (vsock) know no namespace; others (packet, raw) forge what they send"},
	{"socketpair", []Cond{is(0, afUnix)}, Allow, "pipes of many programs"},
	{"socketpair", nil, noFamily, "only AF_UNIX has pairs that programs use"},
}
