package maccage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
)

// Runner runs a program in a directory and returns what it printed. The error is that it did not run, or did not end by itself
// with success.
type Runner interface {
	Run(ctx context.Context, argv []string, dir string) (output string, err error)
}

// System is the Runner of this machine.
type System struct{}

// tryTime is how long one try may take. Each is done in a hundredth of a second.
const tryTime = 10 * time.Second

// Run implements Runner.
func (System) Run(ctx context.Context, argv []string, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{}, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TrialError is a try that did not end as a cage has to hold: then this machine has no cages.
type TrialError struct {
	What      string // was tried, in words
	Allowed   bool   // by the policy
	Got, Want string
	Outside   bool // without the policy, where it has to be done
}

func (e *TrialError) Error() string {
	under := "under the policy"
	if e.Outside {
		under = "without the policy, so that its refusal proves nothing"
	}
	return fmt.Sprintf("trial of a cage: %s: %s, and not %s, %s", e.What, e.Got, e.Want, under)
}

// Probe tries a cage of a mode: nil when what its policy allows was done, what it does not was refused with the error that a policy
// refuses with, and was done without it. stage is the program that Main is. What is missing in an answer is a failure.
func Probe(ctx context.Context, run Runner, stage string, mode capability.Mode) (err error) {
	g, end, err := newGround(stage)
	if err != nil {
		return fmt.Errorf("trial of a cage: %w", err)
	}
	defer end()
	policy, err := groundPolicy(g, mode)
	if err != nil {
		return fmt.Errorf("trial of a cage: %w", err)
	}
	for _, t := range g.Tries(mode) {
		plain := append([]string{g.Prober, commandTry}, t.Do...)
		argv, err := seatbelt.Argv(policy, plain, nil)
		if err != nil {
			return err
		}
		want := done
		if !t.Allowed {
			want = refusedBy
		}
		if got := answer(run.Run(ctx, argv, g.Dirs().Checkout)); got != want {
			return &TrialError{What: t.What, Allowed: t.Allowed, Got: got, Want: want}
		}
		if t.Allowed {
			continue
		}
		if got := answer(run.Run(ctx, plain, g.Dirs().Checkout)); got != done {
			return &TrialError{What: t.What, Got: got, Want: done, Outside: true}
		}
	}
	return nil
}

// answer is what the prober said in its one line, or what came instead.
func answer(output string, err error) string {
	line, rest, whole := strings.Cut(output, "\n")
	if err != nil {
		return fmt.Sprintf("no answer (%v: %.200q)", err, output)
	}
	if !whole || rest != "" || line == "" {
		return fmt.Sprintf("no answer (%.200q)", output)
	}
	return line
}

func groundPolicy(g seatbelt.Ground, mode capability.Mode) (string, error) {
	declared, err := g.Declared(mode)
	if err != nil {
		return "", err
	}
	p, err := profile.Compile(declared, g.Dirs(), profile.Machine{})
	if err != nil {
		return "", err
	}
	return seatbelt.Render(p, g.Places())
}

// newGround makes the place of a trial, with everything in it that listens.
func newGround(stage string) (_ seatbelt.Ground, end func(), err error) {
	var ends []func() error
	end = func() {
		for _, e := range ends {
			_ = e() // what listened, and a temporary directory
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	base, err := os.MkdirTemp("", "termic-trial-")
	if err != nil {
		return seatbelt.Ground{}, nil, err
	}
	ends = append(ends, func() error { return os.RemoveAll(base) })
	g := seatbelt.Ground{UID: os.Getuid(), Stranger: os.Getpid()}
	if g.Base, err = filepath.EvalSymlinks(base); err != nil {
		return g, nil, err
	}
	if g.Shared, err = filepath.EvalSymlinks("/tmp"); err != nil {
		return g, nil, err
	}
	if g.Prober, err = filepath.EvalSymlinks(stage); err != nil {
		return g, nil, err
	}
	for _, name := range g.Files() {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			err = errors.Join(err, os.MkdirAll(dir, 0o700))
			continue
		}
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("x\n"), 0o600))
	}
	if err != nil {
		return g, nil, err
	}
	for _, port := range []*uint16{&g.Named, &g.Proxy, &g.Other} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return g, nil, err
		}
		ends = append(ends, l.Close)
		*port = uint16(l.Addr().(*net.TCPAddr).Port)
	}
	datagrams, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(g.Other)})
	if err != nil {
		return g, nil, err
	}
	ends = append(ends, datagrams.Close)
	socket, err := net.Listen("unix", g.Socket())
	if err != nil {
		return g, nil, err
	}
	ends = append(ends, socket.Close)
	return g, end, nil
}
