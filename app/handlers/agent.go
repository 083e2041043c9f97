package handlers

import (
	"context"

	"termic/app/agent"
	"termic/app/settings"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindAgents(r *registry.Router) {
	bind(r, verbs.TaskAgents, s.taskAgents)
	bind(r, verbs.AgentAdd, s.agentAdd)
	bind(r, verbs.AgentRemove, s.agentRemove)
}

func (s Services) taskAgents(ctx context.Context, _ registry.Call, _ verbs.None) (verbs.TaskAgentsOut, error) {
	out := verbs.TaskAgentsOut{Agents: []verbs.Agent{}, Default: s.Settings.Get(settings.DefaultAgent)}
	for _, definition := range s.Agents.List() {
		out.Agents = append(out.Agents, s.agent(ctx, definition))
	}
	return out, nil
}

func (s Services) agentAdd(ctx context.Context, _ registry.Call, in verbs.AgentAddIn) (verbs.AgentOut, error) {
	definition, err := s.Agents.Add(agent.Definition{
		ID: in.ID, Title: in.Title, Command: append([]string{in.Command}, in.Args...),
	})
	if err != nil {
		return verbs.AgentOut{}, err
	}
	return verbs.AgentOut{Agent: s.agent(ctx, definition)}, nil
}

func (s Services) agentRemove(_ context.Context, _ registry.Call, in verbs.AgentRemoveIn) (verbs.None, error) {
	return verbs.None{}, s.Agents.Remove(in.ID)
}

// agent renders an agent for callers.
func (s Services) agent(ctx context.Context, definition agent.Definition) verbs.Agent {
	installed, version := s.Agents.Installed(ctx, definition)
	return verbs.Agent{ID: definition.ID, Title: definition.Title, Builtin: definition.Builtin, Installed: installed, Version: version}
}
