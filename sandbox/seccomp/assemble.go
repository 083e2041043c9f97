package seccomp

import (
	"fmt"
	"math"
)

// Instruction is one instruction of classic BPF (struct sock_filter of linux/filter.h).
type Instruction struct {
	Code   uint16
	Jt, Jf uint8 // instructions to skip when a comparison holds, and when not
	K      uint32
}

// The instructions that a filter is made of, of those that the kernel takes (seccomp_check_filter).
const (
	loadWord  = 0x20 // BPF_LD | BPF_W | BPF_ABS
	and       = 0x54 // BPF_ALU | BPF_AND | BPF_K
	jumpEq    = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	jumpAbove = 0x25 // BPF_JMP | BPF_JGT | BPF_K
	jump      = 0x05 // BPF_JMP | BPF_JA
	answer    = 0x06 // BPF_RET | BPF_K
)

// Offsets in struct seccomp_data (linux/seccomp.h). Both machines are little endian: the low half of an argument
// comes first.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// maxProgram is BPF_MAXINSNS of linux/bpf_common.h.
const maxProgram = 4096

// Assemble returns the filter of the rules for one machine. Calls of other machines (i386 on amd64) and calls newer
// than Newest (x32 among them) are answered with ENOSYS. Rules for calls that the machine lacks are left out; a rule
// for a call that is not in the table at all, or one that could not be encoded, is an error.
func Assemble(rules []Rule, arch Arch) ([]Instruction, error) {
	return assemble(rules, arch, noSys)
}

// Watch returns a filter that only ever notifies: what no rule names is allowed, calls of other machines and new ones too.
// Over a cage's filter it opens nothing, since the kernel takes the strictest answer of all filters, and both errors and
// kills are stricter than a notification.
func Watch(rules []Rule, arch Arch) ([]Instruction, error) {
	for _, rule := range rules {
		if rule.Do != Notify || len(rule.When) > 0 {
			return nil, fmt.Errorf("rule for %s: a filter that watches decides nothing", rule.Call)
		}
	}
	return assemble(rules, arch, Allow)
}

func assemble(rules []Rule, arch Arch, foreign Action) ([]Instruction, error) {
	prog := []Instruction{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: uint32(arch), Jt: 1},
		{Code: answer, K: uint32(foreign)},
		{Code: loadWord, K: offNumber},
		{Code: jumpAbove, K: Newest, Jf: 1},
		{Code: answer, K: uint32(foreign)},
	}
	calls, byCall := grouped(rules)
	for _, call := range calls {
		if _, known := numbers[call]; !known {
			return nil, fmt.Errorf("rule for %s: no such system call in the table", call)
		}
		nr, has := Number(arch, call)
		if !has {
			continue
		}
		body, err := callBody(byCall[call])
		if err != nil {
			return nil, fmt.Errorf("rules for %s: %w", call, err)
		}
		prog = append(prog,
			Instruction{Code: jumpEq, K: nr, Jt: 1},
			Instruction{Code: jump, K: uint32(len(body))})
		prog = append(prog, body...)
	}
	prog = append(prog, Instruction{Code: answer, K: uint32(Allow)})
	if len(prog) > maxProgram {
		return nil, fmt.Errorf("filter has %d instructions, the kernel takes %d", len(prog), maxProgram)
	}
	return prog, nil
}

// grouped returns the calls in the order of their first rule, and the rules of each.
func grouped(rules []Rule) (calls []string, byCall map[string][]Rule) {
	byCall = make(map[string][]Rule)
	for _, rule := range rules {
		if byCall[rule.Call] == nil {
			calls = append(calls, rule.Call)
		}
		byCall[rule.Call] = append(byCall[rule.Call], rule)
	}
	return calls, byCall
}

// callBody returns what runs for one call. It always answers.
func callBody(rules []Rule) ([]Instruction, error) {
	var body []Instruction
	for i, rule := range rules {
		code, err := ruleBody(rule)
		if err != nil {
			return nil, err
		}
		body = append(body, code...)
		if len(rule.When) > 0 {
			continue
		}
		if i != len(rules)-1 {
			return nil, fmt.Errorf("rule %d has no conditions, so those after it are never reached", i+1)
		}
		return body, nil
	}
	return append(body, Instruction{Code: answer, K: uint32(Allow)}), nil
}

// ruleBody answers when all conditions hold, and else continues after its own end.
func ruleBody(rule Rule) ([]Instruction, error) {
	code := []Instruction{{Code: answer, K: uint32(rule.Do)}}
	for i := len(rule.When) - 1; i >= 0; i-- { // from the back: a failed comparison jumps over all that follows
		cond, err := condition(rule.When[i], len(code))
		if err != nil {
			return nil, err
		}
		code = append(cond, code...)
	}
	return code, nil
}

// condition compares, and skips the rest instructions that follow it when the comparison fails.
func condition(c Cond, rest int) ([]Instruction, error) {
	if c.Arg < 0 || c.Arg > 5 {
		return nil, fmt.Errorf("condition on argument %d: there are 0 to 5", c.Arg)
	}
	code := []Instruction{{Code: loadWord, K: offArgs + 8*uint32(c.Arg)}}
	if c.Mask != ^uint32(0) {
		code = append(code, Instruction{Code: and, K: c.Mask})
	}
	if rest+len(c.In) > math.MaxUint8 {
		return nil, fmt.Errorf("jump over %d instructions: at most %d", rest+len(c.In), math.MaxUint8)
	}
	if len(c.In) == 0 {
		return append(code, Instruction{Code: jumpEq, K: 0, Jt: uint8(rest)}), nil
	}
	for i, value := range c.In {
		left := len(c.In) - 1 - i // comparisons that follow
		no := 0
		if left == 0 {
			no = rest
		}
		code = append(code, Instruction{Code: jumpEq, K: value, Jt: uint8(left), Jf: uint8(no)})
	}
	return code, nil
}
