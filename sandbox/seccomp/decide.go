package seccomp

import "fmt"

// Call is one system call as a filter sees it (struct seccomp_data, less the address of the instruction).
type Call struct {
	Arch   Arch
	Number uint32
	Args   [6]uint64
}

// Decide runs a filter over a call, as the kernel would. A program that the kernel would refuse (an unknown
// instruction, a jump or a load outside, no answer at its end) is an error.
func Decide(prog []Instruction, call Call) (Action, error) {
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		in := prog[pc]
		switch in.Code {
		case loadWord:
			word, err := call.word(in.K)
			if err != nil {
				return Kill, fmt.Errorf("instruction %d: %w", pc, err)
			}
			acc = word
		case and:
			acc &= in.K
		case jump:
			if uint64(pc)+uint64(in.K)+1 >= uint64(len(prog)) {
				return Kill, fmt.Errorf("instruction %d jumps out of the program", pc)
			}
			pc += int(in.K)
		case jumpEq:
			pc += in.skip(acc == in.K)
		case jumpAbove:
			pc += in.skip(acc > in.K)
		case answer:
			return Action(in.K), nil
		default:
			return Kill, fmt.Errorf("instruction %d has the unknown code %#x", pc, in.Code)
		}
	}
	return Kill, fmt.Errorf("the program of %d instructions ends without an answer", len(prog))
}

func (in Instruction) skip(holds bool) int {
	if holds {
		return int(in.Jt)
	}
	return int(in.Jf)
}

// word loads 32 bits at an offset of struct seccomp_data.
func (c Call) word(off uint32) (uint32, error) {
	switch {
	case off == offNumber:
		return c.Number, nil
	case off == offArch:
		return uint32(c.Arch), nil
	case off >= offArgs && off < offArgs+8*6 && off%4 == 0:
		arg := c.Args[(off-offArgs)/8]
		return uint32(arg >> (8 * (off % 8))), nil
	}
	return 0, fmt.Errorf("load of offset %d, which no rule needs", off)
}
