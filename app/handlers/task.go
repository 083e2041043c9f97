package handlers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"termic/app/git"
	"termic/app/settings"
	"termic/app/tab"
	"termic/app/task"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/refusal"
	"termic/registry/verbs"
)

func (s Services) bindTasks(r *registry.Router) {
	bind(r, verbs.TaskNew, s.taskNew)
	bind(r, verbs.TaskPreview, s.taskPreview)
	bind(r, verbs.TaskStatus, s.taskStatus)
	bind(r, verbs.TaskList, s.taskList)
	bind(r, verbs.TaskRename, s.taskRename)
	bind(r, verbs.TaskArchive, s.taskArchive)
	bind(r, verbs.TaskRestore, s.taskRestore)
	bind(r, verbs.TaskDiff, s.taskDiff)
	s.bindKeeping(r)
	s.bindReview(r)
	bind(r, verbs.TaskCommits, s.taskCommits)
	bind(r, verbs.TaskApply, s.taskApply)
}

func (s Services) taskNew(ctx context.Context, call registry.Call, in verbs.TaskNewIn) (verbs.TaskNewOut, error) {
	want, err := s.wanted(ctx, call.Subject, in)
	if err != nil {
		return verbs.TaskNewOut{}, err
	}
	want.Creator, want.Still, want.Sender = call.Caller.Task, call.Still, senderOf(call)
	if want.Prompt, err = s.compose(call, in.PromptID, in.Prompt); err != nil {
		return verbs.TaskNewOut{}, err
	}
	want.Progress = func(text string) { registry.Progress(ctx, text) }
	notice := s.noticing(ctx, cmp.Or(want.Agent, s.Settings.Get(settings.DefaultAgent)))
	record, delivered, err := s.Tasks.Create(ctx, want)
	if err != nil {
		return verbs.TaskNewOut{}, err
	}
	out := verbs.TaskNewOut{Delivery: "none", Fetched: s.Tasks.FetchNote(record.ID), Setup: s.Tasks.SetupNote(record.ID), Notice: notice()}
	out.Task = s.taskFor(call, record)
	switch {
	case delivered:
		out.Delivery = "submitted"
	case want.Prompt != "":
		out.Delivery = "queued"
	}
	return out, nil
}

func (s Services) taskPreview(ctx context.Context, call registry.Call, in verbs.TaskNewIn) (verbs.TaskPreviewOut, error) {
	want, err := s.wanted(ctx, call.Subject, in)
	if err != nil {
		return verbs.TaskPreviewOut{}, err
	}
	record, err := s.Tasks.Preview(want)
	if err != nil {
		return verbs.TaskPreviewOut{}, err
	}
	return verbs.TaskPreviewOut{Can: s.can(record)}, nil
}

func (s Services) taskStatus(ctx context.Context, call registry.Call, _ verbs.TaskStatusIn) (verbs.TaskStatusOut, error) {
	record, err := s.record(call.Subject.Task)
	if err != nil {
		return verbs.TaskStatusOut{}, err
	}
	s.syncGit(ctx, record.ID, glance)
	out := verbs.TaskStatusOut{Task: s.taskFor(call, record), Can: []string{}}
	if seesCage(call, record) {
		out.Can = s.can(record)
	}
	if call.Caller.Scope == registry.Full {
		out.Notes, out.Running = s.Tasks.CageNotes(record.ID), s.running(record.ID)
		out.Limits = renderLimits(s.Tasks.Limits(record.ID))
	}
	if held, _, ok := s.Book.Get(call.Caller.Grant); ok && held.Task == record.ID {
		out.Grant = verbs.Grant{
			Scope: held.Scope.String(), Ceiling: held.Ceiling.String(), Limit: held.Limit.Words(), Projects: []verbs.GrantProject{},
		}
		for _, id := range held.Projects {
			if p, ok := s.Projects.Get(id); ok {
				out.Grant.Projects = append(out.Grant.Projects, verbs.GrantProject{ID: string(id), Name: p.Name})
			}
		}
		if _, left, ok := s.Tasks.BudgetOf(record.ID); ok && held.Scope == registry.Scoped {
			out.Grant.Left = renderBudget(left)
		}
	}
	return out, nil
}

func (s Services) taskList(_ context.Context, call registry.Call, in verbs.TaskListIn) (verbs.TaskListOut, error) {
	out := verbs.TaskListOut{Tasks: []verbs.Task{}}
	for _, record := range s.Tasks.List() {
		wanted := call.Subject.Project == "" || record.Project == call.Subject.Project
		if wanted && record.Stage != task.Creating && (record.Stage == task.Archived) == in.Archived {
			out.Tasks = append(out.Tasks, s.task(record))
		}
	}
	return out, nil
}

func (s Services) taskRename(_ context.Context, call registry.Call, in verbs.TaskRenameIn) (verbs.TaskOut, error) {
	record, err := s.Tasks.Rename(call.Subject.Task, in.Name)
	if err != nil {
		return verbs.TaskOut{}, err
	}
	return verbs.TaskOut{Task: s.task(record)}, nil
}

func (s Services) taskArchive(ctx context.Context, call registry.Call, in verbs.TaskArchiveIn) (verbs.TaskArchiveOut, error) {
	done, err := s.Tasks.Archive(ctx, call.Subject.Task, task.PutAway{
		Force: in.Force, Confirm: in.Confirm, Progress: func(text string) { registry.Progress(ctx, text) },
	})
	if err != nil {
		return verbs.TaskArchiveOut{}, err
	}
	record := done.Record
	out := verbs.TaskArchiveOut{Task: s.task(record), Kept: []string{}, Unsent: done.Unsent, Commands: done.Commands}
	if record.Archived != nil {
		out.Kept, out.Bytes = append(kept(*record.Archived), keptOwn(record.Kept)...), record.Archived.Bytes
		out.IgnoredFiles, out.IgnoredBytes = record.Archived.IgnoredFiles, record.Archived.IgnoredBytes
	}
	return out, nil
}

// kept says in words what an archive holds.
func kept(a git.Archived) []string {
	list := []string{"branch " + a.Branch}
	if a.Detached() {
		list[0] = "detached commit " + string(a.Head)
	}
	if n := len(slices.DeleteFunc(slices.Clone(a.Pins), func(p git.OID) bool { return p == a.Head })); n > 0 {
		list = append(list, fmt.Sprintf("other commits of the checkout: %d", n))
	}
	if a.Gone {
		list = append(list, "what was staged; the checkout was gone, and nothing else of its files could be kept")
	} else {
		list = append(list, "staged, unstaged and untracked files")
	}
	for _, beside := range []struct {
		what  string
		names []string
	}{{"repositories in the checkout", a.Nested}, {"submodules with all that is in them", modules(a.Submodules)}, {"stashes, which stay in the project", a.Stashes}, {"tags, which stay in the project", a.Tags}} {
		if len(beside.names) > 0 {
			list = append(list, beside.what+": "+names(beside.names))
		}
	}
	if a.InProgress != "" {
		list = append(list, "the "+a.InProgress+" in progress")
	}
	return list
}

// modules are the names of submodules whose repositories are named.
func modules(repositories []string) (list []string) {
	for _, r := range repositories {
		list = append(list, strings.TrimPrefix(r, ".git/modules/"))
	}
	return list
}

// keptOwn says in words what is kept of the own git of a caged task's agent.
func keptOwn(k *task.KeptGit) (list []string) {
	if k == nil {
		return nil
	}
	var branches, tags, stashes []string
	for _, r := range k.Refs {
		if name, ok := strings.CutPrefix(r.Name, "refs/tags/"); ok {
			tags = append(tags, name)
		} else if name, ok := strings.CutPrefix(r.Name, "refs/heads/"); ok {
			branches = append(branches, name)
		}
	}
	for _, s := range k.Stashes {
		stashes = append(stashes, s.Message)
	}
	for _, own := range []struct {
		what  string
		names []string
	}{{"the agent's branches", branches}, {"the agent's tags", tags}, {"the agent's stashes", stashes}} {
		if len(own.names) > 0 {
			list = append(list, own.what+": "+names(own.names))
		}
	}
	return list
}

func (s Services) taskRestore(ctx context.Context, call registry.Call, in verbs.TaskRestoreIn) (verbs.TaskOut, error) {
	record, err := s.Tasks.Restore(ctx, call.Subject.Task, in.Branch)
	if err != nil {
		return verbs.TaskOut{}, err
	}
	return verbs.TaskOut{Task: s.task(record)}, nil
}

func (s Services) taskCommits(ctx context.Context, call registry.Call, _ verbs.TaskCommitsIn) (verbs.TaskCommitsOut, error) {
	record, err := s.record(call.Subject.Task)
	if err != nil {
		return verbs.TaskCommitsOut{}, err
	}
	s.syncGit(ctx, record.ID, patience)
	repo, err := s.Projects.Repo(ctx, record.Project)
	if err != nil {
		return verbs.TaskCommitsOut{}, err
	}
	ahead, err := repo.Ahead(ctx, record.Dir, record.Base)
	if err != nil {
		return verbs.TaskCommitsOut{}, err
	}
	out := verbs.TaskCommitsOut{Commits: make([]verbs.Commit, len(ahead))}
	for i, c := range ahead {
		out.Commits[i] = verbs.Commit{ID: string(c.OID), When: c.When.UTC().Format(time.RFC3339), Author: c.Author, Subject: c.Subject}
	}
	return out, nil
}

// How long a call waits for a caged task's commits. It goes on without them: what it shows of files is right anyway.
const (
	patience = 30 * time.Second // longer than importing a day's commits takes, shorter than a client's limit
	glance   = 5 * time.Second  // for what is asked often
)

// syncGit brings both views of a caged task's git together, for as long as the caller waits.
func (s Services) syncGit(ctx context.Context, id ident.Task, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.Tasks.SyncGit(ctx, id)
}

// record returns a task that the guard found; it may have gone since.
func (s Services) record(id ident.Task) (task.Record, error) {
	record, ok := s.Tasks.Located(id)
	if !ok {
		return task.Record{}, refusal.New(refusal.NotFound, "no such task", "look at the list of what there is")
	}
	return record, nil
}

// seesCage tells whether the caller of a call is shown what a task's cage lets through, and where its checkout is: a
// scoped one only of its own task. The person may have changed another's since it was made (I12).
func seesCage(call registry.Call, record task.Record) bool {
	return call.Caller.Scope == registry.Full || record.ID == call.Caller.Task
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// taskFor renders a task for the caller of a call. A scoped one is shown no tab outside the cage (I7).
func (s Services) taskFor(call registry.Call, record task.Record) verbs.Task {
	if call.Caller.Scope == registry.Full {
		return s.task(record)
	}
	tabs := slices.DeleteFunc(s.Tasks.Tabs(record.ID), func(t *tab.Tab) bool { return t.Info().Outside })
	out := s.render(record, tabs)
	if !seesCage(call, record) {
		for i := range out.Tabs { // what a program says is content, and a status needs sight only (I5)
			out.Tabs[i].Dir = ""
		}
		out.FromCage = false
		out.Path, out.Trouble, out.Projects, out.Hosts, out.Read, out.Write, out.Env = "", "", nil, nil, nil, nil, nil
	}
	return out
}

// task renders a task for callers who see everything.
func (s Services) task(record task.Record) verbs.Task {
	return s.render(record, s.Tasks.Tabs(record.ID))
}

func (s Services) render(record task.Record, tabs []*tab.Tab) verbs.Task {
	project, _ := s.Projects.Get(record.Project)
	out := verbs.Task{
		ID: string(record.ID), Name: record.Name, Project: string(record.Project), ProjectName: project.Name,
		Branch: record.Branch, Base: string(record.Base), Path: record.Dir, Agent: record.Agent,
		Cage: record.Mode.String(), MCP: record.MCP && !s.Endpoint.Withheld(record.ID), Bypass: record.Bypass, Live: !record.OwnCheckout, Archived: record.Stage == task.Archived,
		Hosts: record.Hosts.Items(), Read: record.Read.Items(), Write: record.Write.Items(), Env: record.Env.Items(),
		FromCage: record.FromCage(), State: "none", Signal: "none", Trouble: record.Trouble, Creator: string(record.Creator),
		Created: record.Created.Format(time.RFC3339), Tabs: []verbs.Tab{},
	}
	if note := s.Tasks.GitNote(record.ID); out.Trouble == "" {
		out.Trouble = note
	}
	if what, remedy := s.Tasks.CheckoutTrouble(record); what != "" {
		out.Trouble = what + "; " + remedy
	}
	if err := s.Tasks.CageTrouble(record); err != nil {
		no := refusal.Of(explain(err))
		out.Trouble = joined("; ", out.Trouble, "its cage cannot be made: "+no.Reason, no.Remedy)
	}
	for _, id := range record.Projects {
		out.Projects = append(out.Projects, string(id))
	}
	main := -1
	for i, open := range tabs {
		info := open.Info()
		out.Tabs = append(out.Tabs, renderTab(info))
		if main < 0 || !info.Shell && out.Tabs[main].Agent == "shell" {
			main = i
		}
	}
	if main >= 0 {
		out.State, out.Signal = out.Tabs[main].State, out.Tabs[main].Signal
	}
	return out
}
