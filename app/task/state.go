package task

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"termic/app/agent"
	"termic/app/agentstate"
	"termic/registry/ident"
	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// agentState prepares what the task's next cage gets of its agent and of the person's tools. The task is held until
// releaseState.
func (s *Tasks) agentState(ctx context.Context, record Record) (agentstate.Plan, error) {
	definition, err := s.Agents.Get(record.Agent)
	if err != nil {
		return agentstate.Plan{}, err
	}
	limit, err := s.Effective(record)
	if err != nil {
		return agentstate.Plan{}, err
	}
	return s.States.Prepare(ctx, agentstate.Task{ID: record.ID, Checkout: record.Dir, Agents: []agent.Definition{definition}, Limit: limit})
}

// releaseState is for after the end of a cage, or when it did not start.
func (s *Tasks) releaseState(id ident.Task) {
	if err := s.States.Release(id); err != nil {
		s.Log.Error("state of a task's agents not released", "task", id, "cause", err)
	}
}

// addState adds a plan to what a cage is made of. The hosts that an agent needs to work are not the task's own: they come
// with the agent, and are compared with nothing.
func addState(declared *capability.Declared, dirs *profile.Dirs, plan agentstate.Plan) error {
	dirs.Own = append(dirs.Own, plan.Own...)
	dirs.Caches = append(dirs.Caches, plan.Caches...)
	dirs.Read = append(dirs.Read, plan.Read...)
	if declared.Set.Network.All() {
		return nil
	}
	hosts, err := capability.HostsOf(slices.Concat(declared.Set.Network.Items(), plan.Hosts.Items())...)
	if err != nil {
		return fmt.Errorf("hosts of the agent: %w", err)
	}
	declared.Set.Network = hosts
	return nil
}

// pairs returns variables as "NAME=value", sorted.
func pairs(env map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// valueIn returns the value of a variable in an environment; a later entry counts.
func valueIn(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
