// Package verbs holds every verb as data, one file a noun: what may be asked, by whom, with which arguments.
// It decides and does nothing. Each field is described here once, for every surface.
//
// The tag cli says how the command line offers a field; package render reads it:
//
//	arg          positional, in the order of the fields
//	rest         with arg: takes all remaining words, joined with spaces; a list takes each as one of its own
//	stdin        a value of "-" reads standard input
//	flag=NAME    the flag's name, else the field's in kebab case
//	short=X      a one-letter flag
//	split        a list given as A,B (else the flag is repeated)
//	duration     milliseconds, given as a Go duration
//	abs          a path, made absolute before it is sent
//	-            not offered
//	col          in results: a column of the table
//	raw          in results: printed as it is, and nothing else
//	note         in results: of the items of a list, said below their table, with the item's name
//	said         in results: an agent's own words, printed with nothing else, harmless for a terminal unless --raw is given
//	text         in results: several lines, shown as they are below everything else
//	hide         in results: only in --json
package verbs

import "termic/registry"

// All returns every verb in registry order, which is the order of help, of tools/list and of the documents.
func All() []*registry.Verb {
	return []*registry.Verb{
		TaskNew.Verb(), TaskSend.Verb(), TaskWait.Verb(), TaskStatus.Verb(), TaskResult.Verb(), TaskLog.Verb(), TaskDiff.Verb(), TaskCommits.Verb(),
		TaskTab.Verb(), TaskTabClose.Verb(), TaskBroadcast.Verb(), TaskAgents.Verb(), Prompts.Verb(),
		TaskList.Verb(), TaskAttach.Verb(), TaskRename.Verb(), TaskArchive.Verb(), TaskRestore.Verb(), TaskPreflight.Verb(), TaskPurge.Verb(), TaskApply.Verb(),
		TaskStage.Verb(), TaskUnstage.Verb(), TaskCommit.Verb(), TaskDiscard.Verb(), TaskDiscards.Verb(),
		TaskRun.Verb(), TaskOpen.Verb(),
		CageEdit.Verb(), TabOutside.Verb(),
		QueueList.Verb(), QueueEdit.Verb(), QueueCancel.Verb(),
		CageDenials.Verb(), ServerOpen.Verb(), ServerClose.Verb(), ServerList.Verb(), TaskDisk.Verb(), CachesClear.Verb(), TaskWatched.Verb(), CageDraft.Verb(),
		ProjectAdd.Verb(), ProjectList.Verb(), ProjectSettings.Verb(), TrustAnswer.Verb(), ProjectRemove.Verb(),
		AgentAdd.Verb(), AgentTest.Verb(), AgentRemove.Verb(),
		SettingsGet.Verb(), SettingsSet.Verb(), SettingsList.Verb(),
		ClientList.Verb(), ClientShow.Verb(), ClientAdd.Verb(), ClientRemove.Verb(), ClientRefresh.Verb(), ClientConnect.Verb(),
		TaskBudget.Verb(), GrantList.Verb(), GrantRevoke.Verb(), ControlStop.Verb(), AuditTail.Verb(), AuditVerify.Verb(),
		HoldList.Verb(), HoldAnswer.Verb(), HoldPolicy.Verb(), HoldForget.Verb(),
		Doctor.Verb(),
		WindowWatch.Verb(), WindowCalls.Verb(), TaskPreview.Verb(),
	}
}

// None is the result of a verb that has nothing to tell but that it is done.
type None struct{}
