package launch

import (
	"context"

	"termic/sandbox/linuxcage"
	"termic/sandbox/profile"
)

// Mounts is whether cages here see things at other paths than the host does.
const Mounts = true

// Make starts the cage of an order; see Start.
func Make(ctx context.Context, support Support, o Order) (*Cage, error) {
	plan, err := linuxcage.Build(o.Profile)
	if err != nil {
		return nil, err
	}
	plan.Watch, plan.Processes = o.Watch, o.Processes
	return StartPlaced(ctx, support, plan, o.Place)
}

// Environ returns the environment of the cage's processes, made of the person's; see profile.Profile.Environ.
func (c *Cage) Environ(p profile.Profile, person []string, uid int) []string {
	return p.Environ(person, uid)
}
