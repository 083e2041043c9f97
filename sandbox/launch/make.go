package launch

import (
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// Order is a cage to make.
type Order struct {
	Profile profile.Profile
	Watch   bool // tell of connections; see Cage.Connections
	// Processes bounds how many it has at once, where the kernel can; 0: no bound.
	Processes int
	// Place is called, when it is not nil, for process 1 of the cage before that is told what to do; see StartPlaced.
	Place func(pid int)
	// Name tells the cage from others that run. Where cages have no private paths of the usual names, Dir is where its own
	// directories are made; nothing else is there.
	Name, Dir string
}

// Door returns the port at which a cage of a name finds its control plane, before there is one. Where it is a port of the host it is
// held from now on.
func (s Support) Door(name string) (uint16, error) {
	if s.ports == nil {
		return profile.MCPPort, nil
	}
	pair, err := s.ports.Hold(name)
	if err != nil {
		return 0, err
	}
	return pair.MCP.Number(), nil
}

// onTrial returns the Support of a machine whose cages are judged by a trial of each mode.
func onTrial(try func(capability.Mode) error) Support {
	s := Support{modes: map[capability.Mode]error{}}
	for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
		s.modes[mode] = nil
		if err := try(mode); err != nil {
			s.modes[mode] = &UnsupportedError{Mode: mode, Cause: err, Lack: Lack{What: "a cage was tried on this Mac, and did not hold or did not say so",
				Remedy: "choose off; build/mac-probes.sh, where termic was built, shows what was tried"}}
		}
	}
	return s
}
