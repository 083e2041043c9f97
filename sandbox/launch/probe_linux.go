package launch

import (
	"context"
	"os"

	"termic/sandbox/capability"
	"termic/sandbox/linuxcage"
)

// Probe finds out what this machine can do, by making one empty cage of each mode: settings can be read, but only
// trying shows what a security module will say. stage is the path of the stage program; see Program for the one case in
// which another is taken. It takes some 20 ms.
func Probe(ctx context.Context, stage string) Support {
	s := Support{stage: Program(stage, os.DirFS("/")), modes: map[capability.Mode]error{}}
	for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
		plan := linuxcage.Plan{Version: linuxcage.Version, Mode: mode, Ports: []uint16{}, Attest: linuxcage.Attest{
			Unwritable: []string{"/"}, Network: mode == capability.Enforce, Scoped: mode == capability.EnforceFS}}
		s.modes[mode] = s.try(ctx, plan)
	}
	return s
}

func (s *Support) try(ctx context.Context, plan linuxcage.Plan) error {
	if _, err := os.Stat(s.stage); err != nil {
		return &UnsupportedError{Mode: plan.Mode, Cause: err,
			Lack: Lack{What: "the program stage is missing", Remedy: "install termic again: it comes with it"}}
	}
	cage, err := start(ctx, s.stage, plan, nil, func() error { return nil })
	if err != nil {
		return err
	}
	s.Landlock = cage.Report.Landlock
	return cage.Kill()
}
