package handlers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"termic/app/settings"
	"termic/registry"
	"termic/registry/verbs"
)

func (s Services) bindInside(r *registry.Router) {
	bind(r, verbs.CageDenials, s.cageDenials)
	bind(r, verbs.ServerOpen, s.serverOpen)
	bind(r, verbs.ServerClose, s.serverClose)
	bind(r, verbs.ServerList, s.serverList)
	bind(r, verbs.TaskDisk, s.taskDisk)
	bind(r, verbs.CachesClear, s.cachesClear)
	bind(r, verbs.TaskWatched, s.taskWatched)
	bind(r, verbs.CageDraft, s.cageDraft)
}

func (s Services) cageDenials(_ context.Context, call registry.Call, _ verbs.CageDenialsIn) (verbs.CageDenialsOut, error) {
	list, more, err := s.Tasks.Denials(call.Subject.Task)
	if err != nil {
		return verbs.CageDenialsOut{}, err
	}
	out := verbs.CageDenialsOut{Denials: []verbs.CageDenial{}, More: more}
	for _, d := range list {
		out.Denials = append(out.Denials, verbs.CageDenial{
			Target: d.Target, Count: d.Count, Last: d.Last.UTC().Format(time.RFC3339), Reason: d.Reason, Allow: d.Allow, Widens: d.Widens,
		})
	}
	return out, nil
}

func (s Services) serverOpen(ctx context.Context, call registry.Call, in verbs.ServerOpenIn) (verbs.ServerOpenOut, error) {
	opened, err := s.Tasks.OpenServer(ctx, call.Subject.Task, uint16(in.Port)) // bounded by the verb
	if err != nil {
		return verbs.ServerOpenOut{}, err
	}
	return verbs.ServerOpenOut{Server: verbs.CageServer(opened)}, nil
}

func (s Services) serverClose(_ context.Context, call registry.Call, in verbs.ServerCloseIn) (verbs.None, error) {
	return verbs.None{}, s.Tasks.CloseServer(call.Subject.Task, uint16(in.Port))
}

func (s Services) serverList(_ context.Context, call registry.Call, _ verbs.ServerListIn) (verbs.ServerListOut, error) {
	out := verbs.ServerListOut{Servers: []verbs.CageServer{}}
	for _, open := range s.Tasks.Servers(call.Subject.Task) {
		out.Servers = append(out.Servers, verbs.CageServer(open))
	}
	return out, nil
}

func (s Services) taskDisk(ctx context.Context, call registry.Call, _ verbs.TaskDiskIn) (verbs.TaskDiskOut, error) {
	use, whole, err := s.Tasks.Disk(ctx, call.Subject.Task)
	if err != nil {
		return verbs.TaskDiskOut{}, err
	}
	out := verbs.TaskDiskOut{Use: []verbs.DiskUse{}, Whole: whole}
	for _, u := range use {
		out.Use = append(out.Use, verbs.DiskUse(u))
		out.Total += u.Bytes
	}
	if warn := s.Settings.Int(settings.DiskWarning); warn > 0 && out.Total >= int64(warn)<<30 {
		out.Warning = fmt.Sprintf("more than %d GiB: look for builds that are not needed any more, clear its caches (termic clear-caches), or archive the task", warn)
	}
	return out, nil
}

func (s Services) cachesClear(ctx context.Context, call registry.Call, in verbs.CachesClearIn) (verbs.CachesClearOut, error) {
	cleared, err := s.Tasks.ClearCaches(ctx, call.Subject.Task, in.Confirm)
	if err != nil {
		return verbs.CachesClearOut{}, err
	}
	out := verbs.CachesClearOut{Freed: cleared.Freed, Restarted: cleared.Restarted, Failed: []string{}}
	if out.Restarted == nil {
		out.Restarted = []string{}
	}
	for name, why := range cleared.Failed {
		out.Failed = append(out.Failed, name+": "+explain(why).Error())
	}
	slices.Sort(out.Failed)
	return out, nil
}

func (s Services) taskWatched(_ context.Context, call registry.Call, in verbs.TaskWatchedIn) (verbs.TaskWatchedOut, error) {
	seen, more, err := s.Tasks.Watched(call.Subject.Task)
	if err != nil {
		return verbs.TaskWatchedOut{}, err
	}
	out := verbs.TaskWatchedOut{Things: []verbs.WatchedThing{}}
	for kind, dropped := range more {
		if in.Kind == "" || in.Kind == kind {
			out.More += dropped
		}
	}
	for _, one := range seen {
		if in.Kind == "" || in.Kind == one.Kind {
			out.Things = append(out.Things, verbs.WatchedThing{
				Kind: one.Kind, What: one.What, Below: one.Below, Count: one.Count, Tab: one.Tab, Program: one.Program, Last: one.Last.UTC().Format(time.RFC3339),
			})
		}
	}
	return out, nil
}

func (s Services) cageDraft(_ context.Context, call registry.Call, _ verbs.CageDraftIn) (verbs.CageDraftOut, error) {
	draft, err := s.Tasks.DraftCage(call.Subject.Task)
	if err != nil {
		return verbs.CageDraftOut{}, err
	}
	out := verbs.CageDraftOut{
		Read: append([]string{}, draft.Read...), Write: append([]string{}, draft.Write...), Addresses: append([]string{}, draft.Addresses...),
		LeftOut: []verbs.LeftOut{},
	}
	for _, left := range draft.LeftOut {
		out.LeftOut = append(out.LeftOut, verbs.LeftOut(left))
	}
	return out, nil
}
