package handlers

import (
	"context"
	"time"

	"termic/app/agent"
	"termic/app/settings"
	"termic/app/task"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindAgents(r *registry.Router) {
	bind(r, verbs.TaskAgents, s.taskAgents)
	bind(r, verbs.AgentAdd, s.agentAdd)
	bind(r, verbs.AgentTest, s.agentTest)
	bind(r, verbs.AgentRemove, s.agentRemove)
}

func (s Services) taskAgents(ctx context.Context, call registry.Call, _ verbs.None) (verbs.TaskAgentsOut, error) {
	out := verbs.TaskAgentsOut{Agents: []verbs.Agent{}, Default: s.Settings.Get(settings.DefaultAgent)}
	for _, definition := range s.Agents.List() {
		out.Agents = append(out.Agents, s.agent(ctx, definition))
	}
	if call.Caller.Scope == registry.Full {
		_, faults := s.Agents.Files()
		for _, fault := range faults {
			out.Faults = append(out.Faults, fault.Error())
		}
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
	return verbs.Agent{
		ID: definition.ID, Title: definition.Title, Builtin: definition.Builtin, Installed: installed, Version: version,
		Notice: definition.Unsupported(version),
	}
}

// noticeWait is how long the start of an agent is held up for its version, after the work of the start: a node program takes about a
// second to tell it, and is asked once.
const noticeWait = time.Second

// noticing begins to ask an agent's program for its version. The returned function says why that one is not supported, or nothing: also
// where there is no answer in time.
func (s Services) noticing(ctx context.Context, id string) func() string {
	definition, err := s.Agents.Get(id)
	if err != nil || definition.Tried == "" {
		return func() string { return "" }
	}
	answer := make(chan string, 1)
	go func() { // it is of use to the next start when this one does not wait for it
		_, version := s.Agents.Installed(context.WithoutCancel(ctx), definition)
		answer <- definition.Unsupported(version)
	}()
	return func() string {
		select {
		case why := <-answer:
			return why
		case <-time.After(noticeWait):
		case <-ctx.Done():
		}
		return ""
	}
}

// defaultTrial is how long a test may take unless the caller says otherwise; the schema says so too.
const defaultTrial = time.Minute

func (s Services) agentTest(ctx context.Context, _ registry.Call, in verbs.AgentTestIn) (verbs.AgentTestOut, error) {
	definition, err := s.Agents.Get(in.ID)
	if err != nil {
		return verbs.AgentTestOut{}, err
	}
	o := task.TryOptions{Prompt: in.Prompt, Limit: defaultTrial, Said: func(step string) { registry.Progress(ctx, step) }}
	if in.TimeoutMS > 0 {
		o.Limit = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	trial, err := s.Tasks.Try(ctx, definition, o)
	if err != nil {
		return verbs.AgentTestOut{}, err
	}
	out := verbs.AgentTestOut{Outcome: "works", Steps: []verbs.AgentStep{}, Screen: trial.Screen}
	if !trial.Passed() {
		out.Outcome = "fails"
	}
	for _, step := range trial.Steps {
		out.Steps = append(out.Steps, verbs.AgentStep{Step: step.Name, State: string(step.Verdict), Saw: step.Saw, MS: int(step.Took.Milliseconds())})
	}
	return out, nil
}
