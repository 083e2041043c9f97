package stage

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"termic/sandbox/capability"
)

// inside is the argument with which the program starts itself in the namespaces.
const inside = "inside"

// Main is the program. args are its arguments without its name: the mode of the cage. It returns the exit status. The
// caller has locked it to the first thread of the process.
func Main(args []string) int {
	unix.CloseOnExec(ControlFD)
	if len(args) == 2 && args[0] == inside {
		// Landlock holds a thread and what it starts, and others see a process as its first thread is. On another one the
		// cage is built and what runs in it is started, so that none of it may signal or trace this process.
		status := make(chan int)
		go func() {
			runtime.LockOSThread()
			status <- insideMain(args[1])
		}()
		return <-status
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "stage: started by termic, with a control socket; it does nothing by itself")
		return ExitRefused
	}
	pid, err := cloneSelf(args[0])
	if err != nil {
		tell(Event{Failure: failure(err)})
		return ExitRefused
	}
	if err := send(Event{PID: pid}); err != nil {
		return ExitRefused // the app is gone, and process 1 will see that too
	}
	return 0
}

// rights are what the set-up needs in its own namespaces. As ambient capabilities they outlive the exec for a user
// who is not root; they are gone before anything runs.
var rights = []uintptr{
	unix.CAP_SYS_ADMIN,    // mounts
	unix.CAP_NET_ADMIN,    // the loopback interface
	unix.CAP_SETPCAP,      // giving all this up
	unix.CAP_SYS_CHROOT,   // pivot_root
	unix.CAP_DAC_OVERRIDE, // overlayfs makes a directory of mode 0000 and looks into it
}

// namespaces returns the clone flags of a mode.
func namespaces(mode string) (uintptr, error) {
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP)
	switch mode {
	case capability.Enforce.String():
		return flags | unix.CLONE_NEWNET, nil
	case capability.EnforceFS.String():
		return flags, nil
	}
	return 0, fmt.Errorf("mode %q has no cage", mode)
}

// cloneSelf starts the program again, as process 1 of new namespaces. CLONE_PARENT makes it a child of the app, which
// can then wait for it, so that this process may end: one process per cage, not two.
func cloneSelf(mode string) (int, error) {
	flags, err := namespaces(mode)
	if err != nil {
		return 0, step(StepClone, err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"stage", inside, mode}, &syscall.ProcAttr{
		// One thread for Go code: fewer threads to take rights from. The cage can read this environment.
		Env:   []string{"GOMAXPROCS=1"},
		Files: []uintptr{0, 1, 2, ControlFD},
		Sys: &syscall.SysProcAttr{
			Cloneflags:  flags | unix.CLONE_PARENT,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			AmbientCaps: rights,
		},
	})
	if err != nil {
		return 0, step(StepClone, err)
	}
	return pid, nil
}

func insideMain(mode string) int {
	start, err := prepare(mode)
	if err == nil {
		var c *cage
		if c, err = build(start); err == nil {
			return c.serve()
		}
	}
	if errors.Is(err, errAppGone) {
		return ExitRefused
	}
	tell(Event{Failure: failure(err)})
	return ExitRefused
}

// prepare closes what the app may have left open, hides the process from those it will start, and reads the plan.
func prepare(mode string) (*Start, error) {
	if _, err := unix.Setsid(); err != nil { // the app's terminal must not be this one's
		return nil, step(StepPlan, fmt.Errorf("new session: %w", err))
	}
	if err := unix.CloseRange(ControlFD+1, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, step(StepPlan, fmt.Errorf("close files on exec: %w", err))
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, step(StepPlan, fmt.Errorf("become undumpable: %w", err))
	}
	request, files, err := receive()
	if err != nil {
		return nil, err
	}
	closeAll(files)
	switch {
	case request.Start == nil:
		return nil, step(StepPlan, errors.New("the first request is no plan"))
	case request.Start.Plan.Mode.String() != mode:
		return nil, step(StepPlan, fmt.Errorf("plan of mode %s in namespaces of mode %s", request.Start.Plan.Mode, mode))
	case unix.Getpid() != 1:
		return nil, step(StepPlan, errors.New("not process 1 of a namespace"))
	}
	if err := request.Start.Plan.Check(); err != nil {
		return nil, step(StepPlan, err)
	}
	return request.Start, nil
}

// build makes the cage and waits for the app to agree with the report.
func build(start *Start) (*cage, error) {
	plan := start.Plan
	r, err := buildRoot(plan)
	if err != nil {
		return nil, err
	}
	listeners, err := setUpNetwork(plan)
	if err != nil {
		return nil, step(StepNetwork, err)
	}
	before, err := lockDown(plan)
	if err != nil {
		return nil, err
	}
	report, err := attest(start, r, before)
	if err != nil {
		return nil, step(StepAttest, err)
	}
	report.Caches = r.caches
	before.close()
	// A signal that nobody asked for must not end process 1. They are caught, not ignored: what is ignored stays so
	// in whatever it starts.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM)
	if err := send(Event{Sealed: report}, listeners...); err != nil {
		return nil, errAppGone
	}
	closeAll(listeners)
	request, files, err := receive()
	if err != nil {
		return nil, errAppGone
	}
	closeAll(files)
	if !request.Go {
		return nil, step(StepAttest, errors.New("the app did not agree to the report"))
	}
	debug.FreeOSMemory()
	return newCage(), nil
}

// stepError is a failure and the step in which it happened.
type stepError struct {
	step string
	err  error
}

func step(name string, err error) error {
	var inner *stepError
	if errors.As(err, &inner) {
		return err
	}
	return &stepError{name, err}
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func failure(err error) *Failure {
	f := &Failure{Step: StepPlan, What: err.Error()}
	var at *stepError
	if errors.As(err, &at) {
		f.Step, f.What = at.step, at.err.Error()
	}
	errors.As(err, &f.Errno)
	return f
}
