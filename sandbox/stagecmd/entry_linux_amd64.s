#include "textflag.h"

// stage_entry is where the kernel starts the program (-ldflags "-E stage_entry"), before the Go runtime has made the
// first of its threads: only a process of one thread can cheaply become two. When the only argument is "enforce" or
// "enforce-fs" it clones itself into new namespaces, without another exec and without a second start of the runtime.
//
// The clone is process 1 of them. It is a child of the caller's parent (CLONE_PARENT), the app, and goes on to start
// the runtime. This process writes 4 bytes to the control socket, the clone's process id or an errno below zero, and
// ends. With any other arguments the program starts as any does.
//
// At the start SP points to argc, argv[0], argv[1], …: System V ABI for AMD64, section 3.4.1.
TEXT stage_entry(SB),NOSPLIT|NOFRAME,$0
	CMPQ	0(SP), $2
	JNE	start
	MOVQ	16(SP), BX // argv[1]; 8 bytes can be read there, the stack ends with more than that
	MOVQ	(BX), CX
	MOVQ	$0x006563726f666e65, DX // "enforce\0"
	MOVQ	$0x7e028011, DI // flags of enforce, see below
	CMPQ	CX, DX
	JEQ	clone
	MOVQ	$0x2d6563726f666e65, DX // "enforce-"
	CMPQ	CX, DX
	JNE	start
	CMPW	8(BX), $0x7366 // "fs"
	JNE	start
	CMPB	10(BX), $0
	JNE	start
	MOVQ	$0x3e028011, DI // the same without CLONE_NEWNET
clone:
	// CLONE_NEWUSER|NEWNS|NEWPID|NEWIPC|NEWUTS|NEWCGROUP|NEWNET|CLONE_PARENT|SIGCHLD; linux/sched.h
	MOVL	$56, AX // clone(flags, stack 0: a copy of this one)
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	SYSCALL
	TESTQ	AX, AX
	JEQ	start
	MOVL	AX, -8(SP)
	MOVL	$1, AX // write
	MOVL	$3, DI // stage.ControlFD
	LEAQ	-8(SP), SI
	MOVL	$4, DX
	SYSCALL
	XORL	DI, DI
	CMPL	-8(SP), $0
	JGT	exit
	MOVL	$125, DI // stage.ExitRefused
exit:
	MOVL	$231, AX // exit_group
	SYSCALL
	INT	$3
start:
	JMP	_rt0_amd64_linux(SB)
