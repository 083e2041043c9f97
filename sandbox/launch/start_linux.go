package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
	"termic/sandbox/stage"
)

// setUpTime is how long a cage may take to seal. It takes 10 ms on a quiet machine; a busy one with a cold disk
// may take a second.
const setUpTime = 20 * time.Second

// Start makes a cage and returns it when it was proved. The error is an *UnsupportedError when the machine lacks
// something, a *SocketError, or says which step failed; then nothing of the cage is left.
func Start(ctx context.Context, support Support, plan linuxcage.Plan) (*Cage, error) {
	return StartPlaced(ctx, support, plan, nil)
}

// StartPlaced is Start with a call of place, when it is not nil, for process 1 of the cage, before that has been told what
// to do: what it starts later is where it was placed.
func StartPlaced(ctx context.Context, support Support, plan linuxcage.Plan, place func(pid int)) (*Cage, error) {
	if err := support.Check(plan.Mode); err != nil {
		return nil, err
	}
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("start cage: %w", err)
	}
	cage, err := start(ctx, support.stage, plan, place, func() error { return checkSockets(plan, unixSockets) })
	if err != nil {
		return nil, err
	}
	if cage.Report.Landlock != support.Landlock {
		_ = cage.Kill() // nothing was started in it
		return nil, fmt.Errorf("start cage: Landlock ABI %d restricts it, and %d when the machine was tried", cage.Report.Landlock, support.Landlock)
	}
	return cage, nil
}

// start is Start without asking what the machine can do. The stage gets its plan when allowed, which is asked while
// it starts, agrees.
func start(ctx context.Context, program string, plan linuxcage.Plan, place func(pid int), allowed func() error) (*Cage, error) {
	ctx, cancel := context.WithTimeout(ctx, setUpTime)
	defer cancel()
	s, err := newStarter(ctx, program, plan)
	if err != nil {
		return nil, fmt.Errorf("start cage: %w", err)
	}
	s.place = place
	var refused error
	cage, err := s.run(ctx, func() error {
		refused = allowed()
		return refused
	})
	if err == nil {
		return cage, nil
	}
	s.abandon()
	if refused != nil {
		return nil, refused
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	var failure *stage.Failure
	if errors.As(err, &failure) && machineLacks(failure) {
		return nil, diagnose(plan.Mode, failure, os.DirFS("/"))
	}
	return nil, fmt.Errorf("start cage: %w", err)
}

// starter is a cage on its way.
type starter struct {
	plan    linuxcage.Plan
	place   func(pid int) // see StartPlaced
	control *net.UnixConn
	outer   *os.Process // the stage as it was started; it ends when it has cloned itself
	inner   *os.Process // process 1 of the cage, a child of this process too
	stderr  *os.File
	files   []*os.File // that came with the report
	stop    func() bool
}

// newStarter starts the stage.
func newStarter(ctx context.Context, program string, plan linuxcage.Plan) (*starter, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close() // so that the end of the stage is the end of the socket
	conn, err := net.FileConn(ours)
	_ = ours.Close() // FileConn has a copy
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	s := &starter{plan: plan, control: conn.(*net.UnixConn)}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	defer null.Close()
	var words *os.File
	if s.stderr, words, err = os.Pipe(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	defer words.Close()
	// Nothing of the app's environment. Two threads for Go code: one waits for requests, and a process that ends is told of
	// by the other at once; each more takes memory and time. Its own process group: whatever of the stage is left can be
	// found by it.
	s.outer, err = os.StartProcess(program, []string{"stage", plan.Mode.String()}, &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=2"}, Files: []*os.File{null, null, words, theirs}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		_, _ = conn.Close(), s.stderr.Close()
		return nil, err
	}
	s.stop = context.AfterFunc(ctx, func() { _ = s.control.SetDeadline(time.Unix(1, 0)) })
	return s, nil
}

// run talks with the stage until the cage is proved.
func (s *starter) run(ctx context.Context, allowed func() error) (*Cage, error) {
	message := stage.Start{Plan: s.plan}
	if s.plan.Attest.Network {
		canary, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("open a port that it must not reach: %w", err)
		}
		defer canary.Close()
		message.Canary = uint16(canary.Addr().(*net.TCPAddr).Port)
		if message.HostNet, err = os.Readlink("/proc/self/ns/net"); err != nil {
			return nil, err
		}
	}
	if err := allowed(); err != nil {
		return nil, err
	}
	if s.place != nil {
		if err := s.born(); err != nil {
			return nil, s.explain(err)
		}
		s.place(s.inner.Pid)
	}
	sent := sendRequest(s.control, stage.Request{Start: &message})
	if sent != nil && !errors.Is(sent, syscall.EPIPE) { // EPIPE: it has ended already, and may have said why
		return nil, fmt.Errorf("send plan: %w", sent)
	}
	report, err := s.await()
	if err != nil {
		return nil, s.explain(err)
	}
	if err := s.complete(report); err != nil {
		return nil, err
	}
	cage, err := s.cage(report)
	if err != nil {
		return nil, err
	}
	if !s.stop() {
		return nil, ctx.Err()
	}
	if err := sendRequest(s.control, stage.Request{Go: true}); err != nil {
		return nil, s.explain(fmt.Errorf("agree to the report: %w", err))
	}
	go discard(s.stderr)
	if _, err := s.outer.Wait(); err != nil {
		return nil, fmt.Errorf("wait for the stage: %w", err)
	}
	s.outer = nil
	cage.run()
	return cage, nil
}

// born reads events until the program that was started has named process 1 of the cage. That can have failed already; it
// waits for its plan otherwise.
func (s *starter) born() error {
	event, files, err := readEvent(s.control)
	closeFiles(files)
	switch {
	case err != nil:
		return err
	case event.Failure != nil:
		return event.Failure
	case event.PID <= 1:
		return errors.New("the stage said something else than which process it made")
	}
	s.inner, err = os.FindProcess(event.PID)
	return err
}

// await reads events until both programs of the stage have said what they have to say, in whichever order.
func (s *starter) await() (*stage.Report, error) {
	var report *stage.Report
	for s.inner == nil || report == nil {
		event, files, err := readEvent(s.control)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, files...)
		switch {
		case event.Failure != nil:
			return nil, event.Failure
		case event.PID > 1 && s.inner == nil:
			if s.inner, err = os.FindProcess(event.PID); err != nil {
				return nil, fmt.Errorf("process 1 of the cage: %w", err)
			}
		case event.Sealed != nil && report == nil:
			report = event.Sealed
		default:
			return nil, errors.New("the stage said something else than how it goes")
		}
	}
	return report, nil
}

// complete compares the report with what the mode demands, item by item.
func (s *starter) complete(report *stage.Report) error {
	for _, need := range stage.Needs(s.plan) {
		if !slices.Contains(report.Proved, need) {
			return fmt.Errorf("the cage did not prove %q", need)
		}
	}
	if report.Processes != 0 && report.Processes != s.plan.Processes {
		return fmt.Errorf("the cage is limited to %d processes, not %d", report.Processes, s.plan.Processes)
	}
	if report.Absent != len(s.plan.Attest.Absent) {
		return fmt.Errorf("the cage tried %d of %d paths that must not open", report.Absent, len(s.plan.Attest.Absent))
	}
	want := len(s.plan.Ports)
	if s.plan.Watch {
		want++
	}
	if len(s.files) != want {
		return fmt.Errorf("the cage has %d of %d listening sockets", len(s.files), want)
	}
	return nil
}

// cage takes over what the stage handed out.
func (s *starter) cage(report *stage.Report) (*Cage, error) {
	c := &Cage{Report: *report, control: s.control, process: s.inner, stderr: s.stderr, waiting: map[uint64]chan answer{}, running: map[uint64]*Process{},
		done: make(chan struct{})}
	for i, port := range s.plan.Ports {
		l, err := net.FileListener(s.files[i])
		if err == nil && l.Addr().String() != net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))) {
			err = fmt.Errorf("it is %s", l.Addr())
		}
		if err != nil {
			return nil, fmt.Errorf("listening socket for port %d: %w", port, err)
		}
		switch port {
		case profile.MCPPort:
			c.MCP = l
		case profile.ProxyPort:
			c.Proxy = l
		default:
			return nil, fmt.Errorf("listening socket for port %d: nobody serves it", port)
		}
	}
	if s.plan.Watch {
		last := len(s.files) - 1
		c.watched = s.files[last]
		s.files = s.files[:last]
	}
	closeFiles(s.files) // FileListener has copies
	s.files = nil
	return c, nil
}

// abandon ends whatever has been started, and waits for it.
func (s *starter) abandon() {
	s.stop()
	s.meet()
	if s.outer != nil {
		_ = unix.Kill(-s.outer.Pid, unix.SIGKILL)
		_, _ = s.outer.Wait()
	}
	_ = s.control.Close() // process 1 ends with it
	if s.inner != nil {
		_ = s.inner.Kill()
		_, _ = s.inner.Wait()
	}
	closeFiles(append(s.files, s.stderr))
}

// meet waits for word of process 1 of the cage, which may fail before the program that started it has named it: it is
// a child of this process, and somebody has to wait for it. The end of the socket says that there is none.
func (s *starter) meet() {
	_ = s.control.SetReadDeadline(time.Now().Add(setUpTime))
	for s.inner == nil {
		event, files, err := readEvent(s.control)
		if err != nil {
			return
		}
		closeFiles(files)
		if event.PID > 1 {
			s.inner, _ = os.FindProcess(event.PID) // it finds any
		}
	}
}

// explain adds what the stage wrote when it ended without a report: a crash of ours.
func (s *starter) explain(err error) error {
	var failure *stage.Failure
	if errors.As(err, &failure) || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	_ = s.stderr.SetReadDeadline(time.Now().Add(time.Second)) // a pipe: it has deadlines
	words, _ := io.ReadAll(io.LimitReader(s.stderr, 4<<10))
	return fmt.Errorf("the stage ended without a report: %q", words)
}

// discard reads what process 1 writes, which is nothing unless it crashes, so that it never waits.
func discard(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func sendRequest(conn *net.UnixConn, request stage.Request, files ...*os.File) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if len(data) > stage.MaxMessage {
		return fmt.Errorf("request of %d bytes, of which %d can be sent: %w", len(data), stage.MaxMessage, syscall.EMSGSIZE)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd()) // makes it blocking, which a program expects of its standard files
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_, _, err = conn.WriteMsgUnix(data, rights, nil)
	return err
}

// readEvent reads one event and the files that came with it. The end of the stage is io.EOF.
func readEvent(conn *net.UnixConn) (stage.Event, []*os.File, error) {
	data := make([]byte, 64<<10) // an event is shorter: a report names each cache
	oob := make([]byte, unix.CmsgSpace(4*8))
	n, oobn, flags, _, err := conn.ReadMsgUnix(data, oob)
	if errors.Is(err, syscall.ECONNRESET) {
		// The stage ended without reading all that it was sent. This is said once, and before what it said itself.
		n, oobn, flags, _, err = conn.ReadMsgUnix(data, oob)
	}
	if err != nil {
		return stage.Event{}, nil, err
	}
	if n == 0 {
		return stage.Event{}, nil, io.EOF
	}
	var files []*os.File
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		fds, e := unix.ParseUnixRights(&m)
		err = errors.Join(err, e)
		for _, fd := range fds {
			err = errors.Join(err, unix.SetNonblock(fd, true)) // deadlines and closing work on what is polled
			files = append(files, os.NewFile(uintptr(fd), "cage"))
		}
	}
	event, cloned := stage.Cloned(data[:n])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("event longer than it may be")
	}
	if err == nil && !cloned {
		err = json.Unmarshal(data[:n], &event)
	}
	if err != nil {
		closeFiles(files)
		return stage.Event{}, nil, fmt.Errorf("event of the stage: %w", err)
	}
	return event, files, nil
}
