package app

import (
	"context"
	"encoding/json"

	"termic/app/notify"
	"termic/app/settings"
	"termic/app/task"
	"termic/registry"
	"termic/registry/verbs"
)

// noticing returns what tells the desktop of agents. It looks at tasks once it runs.
func noticing(tasks func() *task.Tasks, window func() bool, agents *agents, set *settings.Settings, bus *notify.Bus, o Options) *notify.Watcher {
	return notify.New(notify.Options{
		Tabs: func() []notify.Tab { return noticed(tasks(), agents, set) },
		On:   set.Notifies, Window: window, Send: bus.Send, Log: o.Log,
	})
}

// noticed returns the tabs of all agents.
func noticed(tasks *task.Tasks, agents *agents, set *settings.Settings) []notify.Tab {
	var tabs []notify.Tab
	for _, record := range tasks.List() {
		project, _ := tasks.Projects.Get(record.Project)
		silent := !set.NotifiesOf(project.Name)
		for _, open := range tasks.Tabs(record.ID) {
			info := open.Info()
			if info.Shell {
				continue
			}
			title := info.Agent
			if definition, err := agents.Get(info.Agent); err == nil {
				title = definition.Title
			}
			tabs = append(tabs, notify.Tab{
				ID: string(info.ID), TaskID: string(record.ID), Task: record.Name, Project: project.Name, Agent: title, Title: info.Title,
				State: info.State, Since: info.Since, Silent: silent,
			})
		}
	}
	return tabs
}

// openClicked shows the task of a notice that the person clicked on, as the window would: decided and recorded like every call.
func (a *app) openClicked(id string) {
	raw, err := json.Marshal(verbs.TaskOpenIn{Task: id})
	if err == nil {
		_, err = a.router.Dispatch(context.Background(), registry.Person(registry.Window), verbs.TaskOpen.Verb().Name, raw)
	}
	if err != nil { // it may have been archived meanwhile
		a.Log.Info("a notice's task was not opened", "cause", err)
	}
}
