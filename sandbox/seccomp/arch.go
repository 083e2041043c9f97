package seccomp

import "fmt"

// Arch is a machine for which a filter can be assembled, by its AUDIT_ARCH_* value of linux/audit.h.
type Arch uint32

// The machines that a cage runs on.
const (
	AMD64 Arch = 0xc000003e // AUDIT_ARCH_X86_64
	ARM64 Arch = 0xc00000b7 // AUDIT_ARCH_AARCH64
)

// ArchOf returns the Arch of a GOARCH.
func ArchOf(goarch string) (Arch, error) {
	switch goarch {
	case "amd64":
		return AMD64, nil
	case "arm64":
		return ARM64, nil
	}
	return 0, fmt.Errorf("no system-call filter for %s: amd64 and arm64 have one", goarch)
}

// Newest is the newest system call that the rules were reviewed against (rseq_slice_yield); newer calls have one
// number on all machines. Raise it together with a look at every call in between.
//
// Calls of the x32 ABI on amd64, which reach the same kernel functions under other numbers, have bit 30 set
// (__X32_SYSCALL_BIT, asm/unistd.h): they are above it, too, and so refused with what is new.
const Newest = 471

// none marks a call that a machine lacks.
const none = -1

// Number returns the number of a call, and whether the machine has that call. A name that is not in the table is an
// error of the caller, which only Assemble reports.
func Number(arch Arch, call string) (nr uint32, ok bool) {
	n, ok := numbers[call]
	v := n.amd64
	if arch == ARM64 {
		v = n.arm64
	}
	return uint32(v), ok && v != none
}

// numbers is what the rules need of the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl and
// scripts/syscall.tbl). TestNumbers compares it with golang.org/x/sys.
var numbers = map[string]struct{ amd64, arm64 int32 }{
	"_sysctl":           {156, none},
	"acct":              {163, 89},
	"add_key":           {248, 217},
	"adjtimex":          {159, 171},
	"bpf":               {321, 280},
	"chmod":             {90, none},
	"chroot":            {161, 51},
	"clock_adjtime":     {305, 266},
	"clock_settime":     {227, 112},
	"clone":             {56, 220},
	"clone3":            {435, 435},
	"connect":           {42, 203},
	"creat":             {85, none},
	"delete_module":     {176, 106},
	"execve":            {59, 221},
	"execveat":          {322, 281},
	"fanotify_init":     {300, 262},
	"fchmod":            {91, 52},
	"fchmodat":          {268, 53},
	"fchmodat2":         {452, 452},
	"finit_module":      {313, 273},
	"fsconfig":          {431, 431},
	"fsmount":           {432, 432},
	"fsopen":            {430, 430},
	"fspick":            {433, 433},
	"init_module":       {175, 105},
	"io_uring_enter":    {426, 426},
	"io_uring_register": {427, 427},
	"io_uring_setup":    {425, 425},
	"ioctl":             {16, 29},
	"ioperm":            {173, none},
	"iopl":              {172, none},
	"kcmp":              {312, 272},
	"kexec_file_load":   {320, 294},
	"kexec_load":        {246, 104},
	"keyctl":            {250, 219},
	"listns":            {470, 470},
	"lookup_dcookie":    {212, 18},
	"lsm_set_self_attr": {460, 460},
	"memfd_secret":      {447, 447},
	"migrate_pages":     {256, 238},
	"mknod":             {133, none},
	"mknodat":           {259, 33},
	"modify_ldt":        {154, none},
	"mount":             {165, 40},
	"mount_setattr":     {442, 442},
	"move_mount":        {429, 429},
	"move_pages":        {279, 239},
	"nfsservctl":        {180, 42},
	"open":              {2, none},
	"open_by_handle_at": {304, 265},
	"open_tree":         {428, 428},
	"open_tree_attr":    {467, 467},
	"openat":            {257, 56},
	"openat2":           {437, 437},
	"perf_event_open":   {298, 241},
	"pidfd_getfd":       {438, 438},
	"pivot_root":        {155, 41},
	"process_vm_readv":  {310, 270},
	"process_vm_writev": {311, 271},
	"quotactl":          {179, 60},
	"quotactl_fd":       {443, 443},
	"reboot":            {169, 142},
	"request_key":       {249, 218},
	"setdomainname":     {171, 162},
	"sethostname":       {170, 161},
	"setns":             {308, 268},
	"settimeofday":      {164, 170},
	"socket":            {41, 198},
	"socketpair":        {53, 199},
	"swapoff":           {168, 225},
	"swapon":            {167, 224},
	"syslog":            {103, 116},
	"umount2":           {166, 39},
	"unshare":           {272, 97},
	"uselib":            {134, none},
	"userfaultfd":       {323, 282},
	"ustat":             {136, none},
	"vhangup":           {153, 58},
}
