package handlers

import (
	"context"
	"strconv"

	"termic/app/settings"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

// movePort sets the port of the endpoint, a value of mcp.port, and has it serve there. First the entry of every registered client is
// rewritten for the new address, since a client that kept the old one would take its token to whoever gets that port (I3). When an
// entry cannot be rewritten, or the port cannot be bound, it is a refusal and everything is as it was; where the port could not be
// bound from the start, no token has ended either.
func (s Services) movePort(ctx context.Context, value string) (verbs.ClientRefreshOut, error) {
	if err := settings.Check(settings.MCPPort, value); err != nil {
		return verbs.ClientRefreshOut{}, err
	}
	port, err := strconv.Atoi(value)
	if err == nil {
		err = s.Endpoint.Free(ctx, port)
	}
	if err != nil {
		return verbs.ClientRefreshOut{}, err
	}
	out := verbs.ClientRefreshOut{Clients: []verbs.ClientRefreshed{}}
	if url := s.Endpoint.URLAt(port); url != "" {
		out = s.refresh(ctx, url, false)
	}
	if err = troubleOf(out); err == nil {
		err = s.bindPort(ctx, value)
	}
	if err != nil {
		s.refresh(ctx, s.Endpoint.URL(), false) // back to where the endpoint is
		return verbs.ClientRefreshOut{}, err
	}
	return out, nil
}

// bindPort sets the endpoint's port and has it serve there; when it cannot, the old port is set and served again.
func (s Services) bindPort(ctx context.Context, value string) error {
	before := s.Settings.Get(settings.MCPPort)
	if err := s.Settings.Set(settings.MCPPort, value); err != nil {
		return err
	}
	err := s.Endpoint.Apply(ctx)
	if err == nil {
		return nil
	}
	if backErr := s.Settings.Set(settings.MCPPort, before); backErr != nil {
		return backErr
	}
	if backErr := s.Endpoint.Apply(ctx); backErr != nil {
		return backErr
	}
	return err
}

// troubleOf returns the first entry that could not be rewritten as a refusal.
func troubleOf(out verbs.ClientRefreshOut) error {
	for _, c := range out.Clients {
		if !c.Done {
			return refusal.Newf(refusal.Conflict, "put that right, or: termic client remove "+c.Client, "the entry of %s could not be rewritten, so the port stays: %s", c.Client, c.Trouble)
		}
	}
	return nil
}
