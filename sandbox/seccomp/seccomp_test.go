package seccomp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/seccomp"
)

var arches = []seccomp.Arch{seccomp.AMD64, seccomp.ARM64}

func assemble(t testing.TB, arch seccomp.Arch) []seccomp.Instruction {
	t.Helper()
	prog, err := seccomp.Assemble(seccomp.Rules(), arch)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// outcome is what a row expects: an error number, or 0 for a call that is allowed.
func outcome(t testing.TB, prog []seccomp.Instruction, call seccomp.Call) seccomp.Errno {
	t.Helper()
	action, err := seccomp.Decide(prog, call)
	if err != nil {
		t.Fatal(err)
	}
	if e, refused := action.Refuses(); refused {
		return e
	}
	if action != seccomp.Allow {
		t.Fatalf("call %d: action %#x", call.Number, uint32(action))
	}
	return 0
}

const high = 1 << 32 // a bit that the kernel drops from an int argument

func TestArguments(t *testing.T) {
	tests := []struct {
		name string
		call string
		args [6]uint64
		want seccomp.Errno
	}{
		{"a thread", "clone", [6]uint64{0x3d0f00}, 0},
		{"a process", "clone", [6]uint64{17}, 0},
		{"a process by vfork", "clone", [6]uint64{0x4100 | 17}, 0},
		{"a user namespace", "clone", [6]uint64{0x10000000 | 17}, seccomp.EPERM},
		{"a mount namespace", "clone", [6]uint64{0x00020000}, seccomp.EPERM},
		{"a cgroup namespace", "clone", [6]uint64{0x02000000}, seccomp.EPERM},
		{"a uts namespace", "clone", [6]uint64{0x04000000}, seccomp.EPERM},
		{"an ipc namespace", "clone", [6]uint64{0x08000000}, seccomp.EPERM},
		{"a pid namespace", "clone", [6]uint64{0x20000000}, seccomp.EPERM},
		{"a network namespace", "clone", [6]uint64{0x40000000}, seccomp.EPERM},
		{"a namespace with a high bit set", "clone", [6]uint64{high | 0x10000000}, seccomp.EPERM},
		{"unsharing files", "unshare", [6]uint64{0x400}, 0},
		{"unsharing the user", "unshare", [6]uint64{0x10000000}, seccomp.EPERM},
		{"unsharing time", "unshare", [6]uint64{0x80}, seccomp.EPERM},
		{"unsharing files and the network", "unshare", [6]uint64{0x40000400}, seccomp.EPERM},

		{"reading the terminal's modes", "ioctl", [6]uint64{0, 0x5401}, 0},
		{"setting the window size", "ioctl", [6]uint64{0, 0x5414}, 0},
		{"TIOCSTI", "ioctl", [6]uint64{0, 0x5412}, seccomp.EPERM},
		{"TIOCSTI with a high bit set", "ioctl", [6]uint64{0, high | 0x5412}, seccomp.EPERM},
		{"TIOCLINUX", "ioctl", [6]uint64{0, 0x541c}, seccomp.EPERM},
		{"TIOCSETD", "ioctl", [6]uint64{0, 0x5423}, seccomp.EPERM},
		{"TIOCGETD", "ioctl", [6]uint64{0, 0x5424}, 0},
		{"an ioctl whose argument looks like TIOCSTI", "ioctl", [6]uint64{0x5412, 0x5413, 0x5412}, 0},

		{"unix stream", "socket", [6]uint64{1, 1, 0}, 0},
		{"unix seqpacket", "socket", [6]uint64{1, 5, 0}, 0},
		{"unix with a high bit set", "socket", [6]uint64{high | 1, 1, 0}, 0},
		{"TCP", "socket", [6]uint64{2, 1, 0}, 0},
		{"TCP by name", "socket", [6]uint64{2, 1, 6}, 0},
		{"TCP non-blocking, close on exec", "socket", [6]uint64{10, 1 | 0x80800, 6}, 0},
		{"UDP", "socket", [6]uint64{2, 2, 0}, 0},
		{"UDP over IPv6 by name", "socket", [6]uint64{10, 2, 17}, 0},
		{"MPTCP", "socket", [6]uint64{2, 1, 262}, seccomp.EPROTONOSUPPORT},
		{"MPTCP over IPv6", "socket", [6]uint64{10, 1, 262}, seccomp.EPROTONOSUPPORT},
		{"MPTCP with a high bit set", "socket", [6]uint64{2, 1, high | 262}, seccomp.EPROTONOSUPPORT},
		{"SCTP", "socket", [6]uint64{2, 1, 132}, seccomp.EPROTONOSUPPORT},
		{"ICMP without privilege", "socket", [6]uint64{2, 2, 1}, seccomp.EPROTONOSUPPORT},
		{"a TCP datagram", "socket", [6]uint64{2, 2, 6}, seccomp.EPROTONOSUPPORT},
		{"raw", "socket", [6]uint64{2, 3, 1}, seccomp.EAFNOSUPPORT},
		{"raw with flags", "socket", [6]uint64{2, 3 | 0x80000, 255}, seccomp.EAFNOSUPPORT},
		{"raw over IPv6", "socket", [6]uint64{10, 3, 58}, seccomp.EAFNOSUPPORT},
		{"SCTP seqpacket", "socket", [6]uint64{2, 5, 132}, seccomp.EAFNOSUPPORT},
		{"route netlink", "socket", [6]uint64{16, 3, 0}, 0},
		{"audit netlink", "socket", [6]uint64{16, 3, 9}, seccomp.EAFNOSUPPORT},
		{"uevent netlink", "socket", [6]uint64{16, 3, 15}, seccomp.EAFNOSUPPORT},
		{"packet", "socket", [6]uint64{17, 3, 0}, seccomp.EAFNOSUPPORT},
		{"vsock", "socket", [6]uint64{40, 1, 0}, seccomp.EAFNOSUPPORT},
		{"vsock with a high bit set", "socket", [6]uint64{high | 40, 1, 0}, seccomp.EAFNOSUPPORT},
		{"bluetooth", "socket", [6]uint64{31, 3, 0}, seccomp.EAFNOSUPPORT},
		{"the kernel's crypto", "socket", [6]uint64{38, 5, 0}, seccomp.EAFNOSUPPORT},
		{"no family", "socket", [6]uint64{}, seccomp.EAFNOSUPPORT},
		{"a pair of unix sockets", "socketpair", [6]uint64{1, 1, 0}, 0},
		{"a pair of other sockets", "socketpair", [6]uint64{2, 1, 0}, seccomp.EAFNOSUPPORT},
	}
	for _, arch := range arches {
		prog := assemble(t, arch)
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%#x/%s", uint32(arch), tt.name), func(t *testing.T) {
				nr, ok := seccomp.Number(arch, tt.call)
				if !ok {
					t.Fatalf("%s has no number", tt.call)
				}
				if got := outcome(t, prog, seccomp.Call{Arch: arch, Number: nr, Args: tt.args}); got != tt.want {
					t.Errorf("answered with %d, want %d", got, tt.want)
				}
			})
		}
	}
}

// TestEveryNumber tries each number that a call can have: those of rules without conditions are answered as the
// table says, whatever is in the arguments, and nothing else is refused without its arguments.
func TestEveryNumber(t *testing.T) {
	for _, arch := range arches {
		prog := assemble(t, arch)
		refused := map[uint32]seccomp.Errno{}
		looked := map[uint32]bool{}
		for _, rule := range seccomp.Rules() {
			nr, ok := seccomp.Number(arch, rule.Call)
			if !ok {
				continue
			}
			e, no := rule.Do.Refuses()
			if no && len(rule.When) == 0 && !looked[nr] {
				refused[nr] = e
			}
			looked[nr] = looked[nr] || len(rule.When) > 0
		}
		if len(refused) < 50 {
			t.Fatalf("only %d calls are refused", len(refused))
		}
		for nr := range uint32(seccomp.Newest + 50) {
			want := refused[nr]
			if nr > seccomp.Newest {
				want = seccomp.ENOSYS
			} else if looked[nr] {
				continue // TestArguments
			}
			for _, args := range [][6]uint64{{}, {^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}} {
				if got := outcome(t, prog, seccomp.Call{Arch: arch, Number: nr, Args: args}); got != want {
					t.Errorf("%#x: call %d answered with %d, want %d", uint32(arch), nr, got, want)
				}
			}
		}
	}
}

func TestOtherMachines(t *testing.T) {
	const i386, arm = 0x40000003, 0x40000028 // AUDIT_ARCH_I386, AUDIT_ARCH_ARM
	tests := []struct {
		name string
		own  seccomp.Arch
		call seccomp.Call
	}{
		{"i386 on amd64", seccomp.AMD64, seccomp.Call{Arch: i386, Number: 20}},
		{"arm on arm64", seccomp.ARM64, seccomp.Call{Arch: arm, Number: 20}},
		{"arm64 on amd64", seccomp.AMD64, seccomp.Call{Arch: seccomp.ARM64, Number: 172}},
		{"x32's getpid", seccomp.AMD64, seccomp.Call{Arch: seccomp.AMD64, Number: 0x40000000 + 39}},
		{"x32's mount", seccomp.AMD64, seccomp.Call{Arch: seccomp.AMD64, Number: 0x40000000 + 165}},
		{"the number -1", seccomp.AMD64, seccomp.Call{Arch: seccomp.AMD64, Number: ^uint32(0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prog := assemble(t, tt.own)
			if got := outcome(t, prog, tt.call); got != seccomp.ENOSYS {
				t.Errorf("answered with %d, want ENOSYS", got)
			}
			native := seccomp.Call{Arch: tt.own, Number: 100}
			if got := outcome(t, prog, native); got != 0 {
				t.Errorf("the machine's own call was answered with %d", got)
			}
		})
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	many := make([]uint32, 300)
	tests := []struct {
		name  string
		rules []seccomp.Rule
		want  string
	}{
		{"an unknown call", []seccomp.Rule{{Call: "mont", Do: seccomp.Allow}}, "no such system call"},
		{"a seventh argument", []seccomp.Rule{{Call: "mount", When: []seccomp.Cond{{Arg: 6}}}}, "there are 0 to 5"},
		{"a list too long to jump over", []seccomp.Rule{{Call: "mount", When: []seccomp.Cond{{Mask: 1, In: many}}}}, "at most 255"},
		{"a rule after one that always decides", []seccomp.Rule{{Call: "mount"}, {Call: "mount"}}, "never reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := seccomp.Assemble(tt.rules, seccomp.AMD64); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEveryRuleSaysWhy(t *testing.T) {
	for _, rule := range seccomp.Rules() {
		if rule.Why == "" {
			t.Errorf("%s: no reason", rule.Call)
		}
	}
}

func TestDecideRefusesWhatTheKernelWould(t *testing.T) {
	tests := []struct {
		name string
		prog []seccomp.Instruction
	}{
		{"nothing", nil},
		{"no answer", []seccomp.Instruction{{Code: 0x20}}},
		{"a jump out", []seccomp.Instruction{{Code: 0x05, K: 1}, {Code: 0x06}}},
		{"a comparison that jumps out", []seccomp.Instruction{{Code: 0x15, Jt: 9, Jf: 9}, {Code: 0x06}}},
		{"an unknown instruction", []seccomp.Instruction{{Code: 0x87}}},
		{"a load past the end", []seccomp.Instruction{{Code: 0x20, K: 64}, {Code: 0x06}}},
		{"a load that is not aligned", []seccomp.Instruction{{Code: 0x20, K: 17}, {Code: 0x06}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if action, err := seccomp.Decide(tt.prog, seccomp.Call{}); err == nil || action != seccomp.Kill {
				t.Errorf("got %#x, %v", uint32(action), err)
			}
		})
	}
}

// FuzzAssemble compares the assembled filter with a reading of the rules that knows no jumps.
func FuzzAssemble(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, uint8(0), uint64(0x5412), uint64(1))
	f.Fuzz(func(t *testing.T, seed []byte, call uint8, a, b uint64) {
		rules := rulesFrom(seed)
		prog, err := seccomp.Assemble(rules, seccomp.AMD64)
		if err != nil {
			return
		}
		nr, _ := seccomp.Number(seccomp.AMD64, fuzzCalls[int(call)%len(fuzzCalls)])
		args := [6]uint64{a, b, a >> 32, b >> 32, a ^ b, a + b}
		got, err := seccomp.Decide(prog, seccomp.Call{Arch: seccomp.AMD64, Number: nr, Args: args})
		if err != nil {
			t.Fatal(err)
		}
		if want := read(rules, fuzzCalls[int(call)%len(fuzzCalls)], args); got != want {
			t.Errorf("filter says %#x, the rules %#x", uint32(got), uint32(want))
		}
	})
}

var fuzzCalls = []string{"mount", "ioctl", "socket", "clone"}

func rulesFrom(seed []byte) []seccomp.Rule {
	var rules []seccomp.Rule
	for len(seed) >= 4 {
		rule := seccomp.Rule{Call: fuzzCalls[int(seed[0])%len(fuzzCalls)], Do: seccomp.Refuse(seccomp.Errno(seed[1]))}
		for range seed[2] % 3 {
			rule.When = append(rule.When, seccomp.Cond{Arg: int(seed[3] % 7), Mask: uint32(seed[1]) | ^uint32(0)<<(seed[2]%32),
				In: slices.Repeat([]uint32{uint32(seed[0])}, int(seed[3]%5))})
		}
		rules, seed = append(rules, rule), seed[4:]
	}
	return rules
}

// read applies the rules as their documentation says.
func read(rules []seccomp.Rule, call string, args [6]uint64) seccomp.Action {
	for _, rule := range rules {
		holds := rule.Call == call
		for _, c := range rule.When {
			v := uint32(args[c.Arg]) & c.Mask
			holds = holds && (slices.Contains(c.In, v) || len(c.In) == 0 && v != 0)
		}
		if holds {
			return rule.Do
		}
	}
	return seccomp.Allow
}
