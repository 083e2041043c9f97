package stage

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"termic/sandbox/watch"
)

// Main is the program. args are its arguments without its name: the mode of the cage. It returns the exit status. The
// caller has locked it to the first thread of the process.
//
// The program's entry has cloned it into its namespaces already, see sandbox/stagecmd: this is process 1 of them.
func Main(args []string) int {
	unix.CloseOnExec(ControlFD)
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "stage: started by termic, with a control socket; it does nothing by itself")
		return ExitRefused
	}
	// Landlock holds a thread and what it starts, and others see a process as its first thread is. On another one the
	// cage is built and what runs in it is started, so that none of it may signal or trace this process.
	status := make(chan int)
	go func() {
		runtime.LockOSThread()
		status <- insideMain(args[0])
	}()
	return <-status
}

func insideMain(mode string) int {
	start, err := prepare(mode)
	if err == nil {
		err = build(start)
	}
	if err == nil {
		c := newCage()
		c.ownNetwork = start.Plan.Attest.Network
		return c.serve()
	}
	if errors.Is(err, errAppGone) {
		return ExitRefused
	}
	tell(Event{Failure: failure(err)})
	return ExitRefused
}

// prepare closes what the app may have left open, hides the process from those it will start, and reads the plan.
func prepare(mode string) (*Start, error) {
	if unix.Getpid() != 1 {
		return nil, step(StepClone, errors.New("not process 1 of a namespace: it was built without its entry, which build/build.sh names"))
	}
	if err := mapUser(); err != nil {
		return nil, step(StepClone, err)
	}
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
	}
	if err := request.Start.Plan.Check(); err != nil {
		return nil, step(StepPlan, err)
	}
	return request.Start, nil
}

// build makes the cage and waits for the app to agree with the report.
func build(start *Start) error {
	plan := start.Plan
	r, err := buildRoot(plan)
	if err != nil {
		return err
	}
	listeners, err := setUpNetwork(plan)
	if err != nil {
		return step(StepNetwork, err)
	}
	before, err := lockDown(plan)
	if err != nil {
		return err
	}
	report, err := attest(start, r, before)
	if err != nil {
		return step(StepAttest, err)
	}
	report.Caches = r.caches
	if plan.Processes > 0 {
		counted, err := limitProcesses(plan.Processes)
		if err != nil {
			return step(StepPrivilege, err)
		}
		if counted || r.bounded {
			report.Processes = plan.Processes
		}
	}
	before.close()
	if plan.Watch { // of this thread and what is started from it; after the proofs, which connect
		listener, err := watch.Install("connect")
		if err != nil {
			return step(StepSeccomp, fmt.Errorf("watch connections: %w", err))
		}
		listeners = append(listeners, listener)
	}
	if err := ignoreSignals(); err != nil {
		return step(StepPrivilege, err)
	}
	if err := send(Event{Sealed: report}, listeners...); err != nil {
		return errAppGone
	}
	closeAll(listeners)
	request, files, err := receive()
	if err != nil {
		return errAppGone
	}
	closeAll(files)
	if !request.Go {
		return step(StepAttest, errors.New("the app did not agree to the report"))
	}
	return nil
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
