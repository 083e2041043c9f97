package seatbelt

// base is what every cage on macOS is allowed besides its paths and its network: to be a process. Whatever is not named
// is denied. Operations and filters are those of public profiles (Apple's own in /System/Library/Sandbox/Profiles, and
// those that browsers and agents ship); none of it was run on a Mac yet.
//
//   - Processes: others are neither seen nor signalled. Even so, others' arguments and environment may be readable on
//     some versions, so a token in an environment is taken as readable by any program of the same user there.
//   - sysctl by name: the arguments and environment of processes (kern.procargs2) are not among them.
//   - Mach services by name: no launchd, LaunchServices, Apple events, pasteboard or keychain, each of which runs or reads
//     something outside.
const base = `(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny signal)
(allow signal (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.iossupportversion")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg"))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read* (literal "/"))
(allow file-read* file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty")
  (literal "/dev/dtracehelper"))
(allow file-read*
  (literal "/dev")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
`

// openNetwork is the network of enforce-fs: the host's, but for sockets of its programs. Names are asked of the system's
// resolver, which is one, and certificates of a service that would be a way out of a closed network.
const openNetwork = `(allow network*)
(allow system-socket)
(allow mach-lookup
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.SystemConfiguration.configd"))
(deny network-outbound (remote unix-socket))
(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))
`
