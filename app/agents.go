package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"termic/app/agent"
	"termic/app/store"
)

// agentsFile keeps the person's own definitions.
var agentsFile = store.Define[[]agent.Definition]("agents", 1)

// agents is the set of agents, kept on disk. It implements handlers.Agents.
type agents struct {
	*agent.Set
	store *store.Store
	where agent.Where
	keep  sync.Mutex // held while a change is made and saved

	mu     sync.Mutex // guards probes
	probes map[string]probe
}

// probe is what a program said of its version, and when.
type probe struct {
	version string
	at      time.Time
}

// probeLife is how long a version is believed. Asking for it starts a program of some hundred megabytes.
const probeLife = 5 * time.Minute

func openAgents(s *store.Store, environ []string) (*agents, error) {
	custom, err := agentsFile.Load(s)
	if err != nil {
		return nil, fmt.Errorf("open agents: %w", err)
	}
	set, err := agent.Open(custom, filepath.Join(s.Dir(), "agents"))
	if err != nil {
		return nil, fmt.Errorf("open agents: %w", err)
	}
	return &agents{Set: set, store: s, where: agent.WhereIn(environ), probes: map[string]probe{}}, nil
}

// Add takes in a definition of the person's own and keeps it.
func (a *agents) Add(definition agent.Definition) (agent.Definition, error) {
	a.keep.Lock()
	defer a.keep.Unlock()
	added, err := a.Set.Add(definition)
	if err != nil {
		return agent.Definition{}, err
	}
	if err := agentsFile.Save(a.store, a.Custom()); err != nil {
		_ = a.Set.Remove(added.ID) // it was there a moment ago
		return agent.Definition{}, err
	}
	return added, nil
}

// Remove drops a definition of the person's own.
func (a *agents) Remove(id string) error {
	a.keep.Lock()
	defer a.keep.Unlock()
	before, err := a.Get(id)
	if err != nil {
		return err
	}
	if err := a.Set.Remove(id); err != nil {
		return err
	}
	if err := agentsFile.Save(a.store, a.Custom()); err != nil {
		_, _ = a.Set.Add(before) // it was there a moment ago
		return err
	}
	return nil
}

// Installed tells whether the agent's program is there, and its version as far as it tells.
func (a *agents) Installed(ctx context.Context, definition agent.Definition) (bool, string) {
	path, err := agent.Find(definition, a.where)
	if err != nil {
		return false, ""
	}
	key := strings.Join(append([]string{path}, definition.Version...), "\x00")
	a.mu.Lock()
	known, ok := a.probes[key]
	a.mu.Unlock()
	if ok && time.Since(known.at) < probeLife {
		return true, known.version
	}
	probed, err := agent.Probe(ctx, definition, a.where)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.probes[key] = probe{probed.Version, time.Now()}
	}
	return probed.Installed(), probed.Version
}
