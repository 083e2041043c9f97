package handlers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"termic/app/agent"
	"termic/app/registration"
	"termic/app/settings"
	"termic/registry"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindClients(r *registry.Router) {
	bind(r, verbs.ClientList, s.clientList)
	bind(r, verbs.ClientShow, s.clientShow)
	bind(r, verbs.ClientAdd, s.clientAdd)
	bind(r, verbs.ClientRemove, s.clientRemove)
	bind(r, verbs.ClientRefresh, s.clientRefresh)
	bind(r, verbs.ClientConnect, s.clientConnect)
}

func (s Services) clientList(ctx context.Context, _ registry.Call, _ verbs.None) (verbs.ClientListOut, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out := verbs.ClientListOut{Clients: []verbs.Client{}}
	for _, status := range s.Clients.List() {
		out.Clients = append(out.Clients, s.client(ctx, status))
	}
	for _, client := range s.Endpoint.RefusedOlder() {
		out.Refused = append(out.Refused, verbs.OlderClient{Refused: client.Name, Revision: cmp.Or(client.Revision, "unknown"), Remedy: olderRemedy})
	}
	return out, nil
}

// olderRemedy is what the person can do about a client that speaks an older revision.
const olderRemedy = "update it or switch MCP 2026-07-28 on in it; where neither can be done: termic settings set mcp.older_clients true"

func (s Services) clientShow(ctx context.Context, _ registry.Call, in verbs.ClientShowIn) (verbs.ClientShowOut, error) {
	status, err := s.Clients.Find(in.Client)
	if err != nil {
		return verbs.ClientShowOut{}, err
	}
	text, difference, err := s.Clients.Instructions(in.Client)
	if err != nil {
		return verbs.ClientShowOut{}, err
	}
	return verbs.ClientShowOut{Client: s.client(ctx, status), Difference: difference, Instructions: text}, nil
}

func (s Services) clientAdd(ctx context.Context, _ registry.Call, in verbs.ClientAddIn) (verbs.ClientChangeOut, error) {
	ceiling := registry.Destructive
	if in.Ceiling != "" {
		if err := ceiling.UnmarshalText([]byte(in.Ceiling)); err != nil {
			return verbs.ClientChangeOut{}, err
		}
	}
	change, err := s.Clients.Add(ctx, registration.Add{
		Name: in.Client, Other: in.Other, Ceiling: ceiling, Elicits: in.Confirm == verbs.ConfirmElicit, Replace: in.Replace, Extra: in.AllServers, DryRun: in.DryRun,
	})
	if err != nil {
		return verbs.ClientChangeOut{}, err
	}
	return s.clientChange(ctx, change), nil
}

func (s Services) clientRemove(ctx context.Context, _ registry.Call, in verbs.ClientRemoveIn) (verbs.ClientChangeOut, error) {
	change, err := s.Clients.Remove(ctx, registration.Remove{Name: in.Client, Force: in.Force, DryRun: in.DryRun})
	if err != nil {
		return verbs.ClientChangeOut{}, err
	}
	return s.clientChange(ctx, change), nil
}

func (s Services) clientConnect(_ context.Context, _ registry.Call, in verbs.ClientConnectIn) (verbs.ClientConnectOut, error) {
	url, proof, err := s.Clients.Connect(in.Client, in.URL)
	return verbs.ClientConnectOut{URL: url, TokenSHA256: proof}, err
}

// clientRefresh rewrites stale entries, and with a port moves the endpoint there after them.
func (s Services) clientRefresh(ctx context.Context, _ registry.Call, in verbs.ClientRefreshIn) (verbs.ClientRefreshOut, error) {
	switch {
	case in.Port == 0:
		return s.refresh(ctx, s.Endpoint.URL(), in.DryRun), nil
	case in.DryRun:
		return s.refresh(ctx, s.Endpoint.URLAt(in.Port), true), settings.Check(settings.MCPPort, strconv.Itoa(in.Port))
	}
	return s.movePort(ctx, strconv.Itoa(in.Port))
}

func (s Services) refresh(ctx context.Context, url string, dryRun bool) verbs.ClientRefreshOut {
	out := verbs.ClientRefreshOut{URL: url, Clients: []verbs.ClientRefreshed{}}
	done, failed := s.Clients.Refresh(ctx, url, dryRun)
	for _, change := range done {
		out.Clients = append(out.Clients, verbs.ClientRefreshed{Client: change.Status.Client.Name, Done: true, Diff: change.Diff})
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		reason := "its configuration could not be written"
		if no, ok := refusal.From(failed[name]); ok {
			reason = no.Reason
		}
		out.Clients = append(out.Clients, verbs.ClientRefreshed{Client: name, Trouble: reason})
	}
	return out
}

func (s Services) clientChange(ctx context.Context, change registration.Change) verbs.ClientChangeOut {
	out := verbs.ClientChangeOut{Client: s.client(ctx, change.Status), Diff: change.Diff, Backup: change.Backup, Notes: []string{}}
	out.Notes = append(out.Notes, change.Notes...)
	return out
}

// client renders a client for callers.
func (s Services) client(ctx context.Context, status registration.Status) verbs.Client {
	c := status.Client
	out := verbs.Client{
		Name: c.Name, Title: c.Title, Speaks: c.Speaks, Tried: c.Tried, Registered: status.Registered,
		Entry: string(status.State), File: status.File, Needs: status.Needs, Trouble: status.Trouble,
	}
	if out.Tried == "" {
		out.Tried = "not tried"
	}
	if status.Trouble != "" {
		out.Entry = "unreadable"
	}
	if c.Program != "" {
		out.Found, out.Version = s.Agents.Installed(ctx, agent.Definition{ID: c.Name, Command: []string{c.Program}, Version: c.Version})
	}
	if status.Registered {
		out.Ceiling, out.Confirm = status.Ceiling.String(), verbs.ConfirmHold
		if status.Elicits {
			out.Confirm = verbs.ConfirmElicit
		}
	}
	if !status.Seen.IsZero() {
		out.LastSeen = status.Seen.UTC().Format(time.RFC3339)
	}
	return out
}
