#include "textflag.h"

// stage_entry: see entry_linux_amd64.s. At the start RSP points to argc, argv[0], argv[1], …; memory may be read
// unaligned.
TEXT stage_entry(SB),NOSPLIT|NOFRAME,$0
	MOVD	0(RSP), R0
	CMP	$2, R0
	BNE	start
	MOVD	16(RSP), R1 // argv[1]
	MOVD	(R1), R2
	MOVD	$0x006563726f666e65, R3 // "enforce\0"
	MOVD	$0x7e028011, R9 // CLONE_NEWUSER|NEWNS|NEWPID|NEWIPC|NEWUTS|NEWCGROUP|NEWNET|CLONE_PARENT|SIGCHLD
	CMP	R3, R2
	BEQ	clone
	MOVD	$0x2d6563726f666e65, R3 // "enforce-"
	CMP	R3, R2
	BNE	start
	MOVHU	8(R1), R2
	MOVD	$0x7366, R3 // "fs"
	CMP	R3, R2
	BNE	start
	MOVBU	10(R1), R2
	CBNZ	R2, start
	MOVD	$0x3e028011, R9 // the same without CLONE_NEWNET
clone:
	MOVD	R9, R0
	MOVD	$0, R1 // a copy of this stack
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8 // clone
	SVC
	CBZ	R0, start
	MOVD	R0, R19
	SUB	$16, RSP
	MOVW	R0, (RSP)
	MOVD	$3, R0 // stage.ControlFD
	MOVD	RSP, R1
	MOVD	$4, R2
	MOVD	$64, R8 // write
	SVC
	MOVD	$0, R0
	CMP	$0, R19
	BGT	exit
	MOVD	$125, R0 // stage.ExitRefused
exit:
	MOVD	$94, R8 // exit_group
	SVC
	UNDEF
start:
	JMP	_rt0_arm64_linux(SB)
