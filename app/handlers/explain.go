package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"termic/app/agent"
	"termic/app/git"
	"termic/app/gitview"
	"termic/app/prompt"
	"termic/app/store"
	"termic/app/tab"
	"termic/app/task"
	"termic/registry"
	"termic/registry/refusal"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
	"termic/sandbox/profile"
)

// explained is how the errors of the services look to a caller. The first that is in an error's chain counts.
var explained = []struct {
	is     error
	code   refusal.Code
	reason string
	remedy string
}{
	{git.ErrBadPath, refusal.BadInput, "the path is not absolute, holds a line break, or is no UTF-8", "move or rename the directory"},
	{git.ErrNotRepository, refusal.BadInput, "not a git repository", "give the directory of a repository, or run git init and commit there"},
	{git.ErrBare, refusal.Unsupported, "a bare repository has no checkout to work from", "add a clone of it"},
	{git.ErrNoCommits, refusal.BadInput, "the repository has no commits", "commit something there first"},
	{git.ErrUnsafeOwner, refusal.NotPermitted, "git refuses the repository because another user owns it", "git config --global --add safe.directory DIR, if you trust it"},
	{git.ErrUnsupported, refusal.Unsupported, "the installed git cannot open this repository's format", "install a newer git"},
	{git.ErrBadBranch, refusal.BadInput, "git allows no branch of that name", "leave out spaces, .., ~ ^ : ? * [ \\ and @{, and begin and end with none of - / ."},
	{git.ErrBadRef, refusal.BadInput, "not a branch, tag or commit", "give the name of one"},
	{git.ErrRefNotFound, refusal.NotFound, "no such branch, tag or commit", "look at: git branch -a"},
	{git.ErrBranchExists, refusal.Conflict, "a branch of that name exists already", "choose another name, or restore the archived task that it belongs to"},
	{git.ErrBranchConflict, refusal.Conflict, "the branch termic/NAME collides with another branch of the repository", "choose another name"},
	{git.ErrBranchInUse, refusal.Conflict, "the branch is checked out somewhere else", "switch that checkout to another branch"},
	{git.ErrDirExists, refusal.Conflict, "the directory of the checkout exists already", "remove it, or choose another name"},
	{git.ErrMainWorktree, refusal.Conflict, "that is the repository's own checkout", ""},
	{git.ErrNotFile, refusal.Conflict, "it is no regular file in that commit", "commit a file"},
	{git.ErrNoCheckout, refusal.Conflict, "the task's checkout is not where it was", "termic status says what can be done"},
	{git.ErrNotWorktree, refusal.Conflict, "the task's checkout is not where it was, or no checkout any more", "termic status says what can be done"},
	{git.ErrMounted, refusal.Conflict, "something is mounted in the checkout", "unmount it first"},
	{git.ErrOther, refusal.Conflict, "another directory is where the checkout was", "look at its directory"},
	{git.ErrChanged, refusal.Conflict, "the checkout changed while it was archived; it is still there", "archive it again"},
	{git.ErrRefMoved, refusal.Conflict, "the branch moved in the meantime", "try again"},
	{git.ErrNoRemote, refusal.Conflict, "the project has no remote called origin, so that nothing can be fetched", "leave fetch out"},
	{git.ErrUnfinished, refusal.Conflict, "a merge, rebase or the like is unfinished in one of the two checkouts", "finish or abort it first: git status"},
	{git.ErrNothing, refusal.Conflict, "there is nothing to land: the project has all of it", ""},
	{git.ErrNoChange, refusal.BadInput, "no such file in the checkout or in its last commit", "name files as termic diff lists them"},
	{git.ErrNothingStaged, refusal.Conflict, "nothing is staged", "stage files first (termic stage), or add --all"},
	{git.ErrNoMessage, refusal.BadInput, "the message is empty, or holds a NUL", "say what the commit does"},
	{git.ErrUnrelated, refusal.Conflict, "the task's history and the project's have nothing in common", "land as a branch"},
	{git.ErrIndexChanged, refusal.Busy, "something was staged in the checkout in the meantime; nothing was changed", "try again"},
	{git.ErrIndexLocked, refusal.Busy, "another git works in the checkout; nothing was changed", "try again; if no git runs there, remove its index.lock: git rev-parse --git-path index.lock"},
	{git.ErrNoAnswer, refusal.Unavailable, "git did not answer in time", "see whether git works in that repository: git status"},
	{git.ErrTooLarge, refusal.Unsupported, "git's answer is larger than can be shown", "use git in the checkout"},
	{git.ErrBusy, refusal.Busy, "files kept changing while they were read", "try again when the agent rests"},
	{tab.ErrWaiting, refusal.NeedsInput, "the agent waits for an answer, which a text might give by accident", "answer it: termic attach"},
	{tab.ErrExited, refusal.AgentExited, "the agent has exited", "open a new tab"},
	{tab.ErrQueueFull, refusal.Busy, "too many texts wait in this tab", "wait until it has settled"},
	{tab.ErrTooLong, refusal.BadInput, "the text is longer than this agent takes", "put it into a file and send its path"},
	{tab.ErrEmpty, refusal.BadInput, "nothing is left of the text without its control characters", "send some text"},
	{tab.ErrMark, refusal.BadInput, "that is no mark of this terminal; marks end with it and with the app", "ask without since"},
	{tab.ErrNoText, refusal.NotFound, "no such text waits; it may have been delivered meanwhile", "see: termic queue"},
	{prompt.ErrUnknown, refusal.NotFound, "no such prompt", "see: termic prompts"},
	{tab.ErrNotDelivered, refusal.NotDelivered, "the text did not reach the agent's prompt, and was not submitted", "look at its terminal: termic attach"},
	{agent.ErrUnknown, refusal.NotFound, "no such agent", "see: termic agents"},
	{agent.ErrBuiltin, refusal.Conflict, "that agent comes with termic", "choose another id"},
	{agent.ErrExists, refusal.Conflict, "there is an agent of that id already", "remove it first, or choose another id"},
	{agent.ErrFile, refusal.Conflict, "that agent is defined in a file of yours", "remove the file from the directory agents of the data directory"},
	{agent.ErrInvalid, refusal.BadInput, "the definition is not valid", "ids are lower-case letters, digits and hyphens; the command is a name or an absolute path"},
	{agent.ErrFull, refusal.Busy, "there are too many agents", "remove one first"},
	{agent.ErrNotInstalled, refusal.NotFound, "the agent's program was not found in PATH", "install it, or choose another: termic agents"},
	{git.ErrNoGit, refusal.Unsupported, "there is no git in PATH", "install git"},
	{git.ErrTooOld, refusal.Unsupported, "the installed git is too old", "install git 2.36 or newer"},
	{store.ErrNoSpace, refusal.StorageFailed, "the disk is full; nothing was changed", "free some space"},
	{store.ErrReadOnly, refusal.StorageFailed, "the data directory cannot be written; nothing was changed", "see: termic doctor"},
	{store.ErrNewer, refusal.StorageFailed, "a data file was written by a newer termic", "use that version"},
	{store.ErrMigration, refusal.StorageFailed, "a data file of an older termic could not be brought up to date; it is as it was", "see: termic doctor"},
	{store.ErrTooLarge, refusal.BadInput, "there is more than a data file may hold", "remove something first"},
	{store.ErrUnsafe, refusal.StorageFailed, "others may write into the data directory", "see: termic doctor"},
	{store.ErrNotKept, refusal.StorageFailed, "a damaged data file cannot be set aside, so it is not overwritten", "see: termic doctor"},
}

// Explain is explain for the app's start, whose errors go to the person as well.
func Explain(err error) error { return explain(err) }

// maxNamed is how many paths a refusal names.
const maxNamed = 3

// names joins the first paths, quoted: a file's name may hold anything.
func names(paths []string) string {
	var list []string
	for _, p := range paths[:min(maxNamed, len(paths))] {
		list = append(list, strconv.Quote(p))
	}
	if len(paths) > maxNamed {
		list = append(list, fmt.Sprintf("and %d more", len(paths)-maxNamed))
	}
	return strings.Join(list, ", ")
}

// special returns the refusals that say something of the error itself, or nil.
func special(err error) *refusal.Refusal {
	var locked *store.LockedError
	var nested *git.NestedRepositoryError
	var lost *git.UnkeepableError
	var deep *git.TooDeepError
	var lacks *gitview.UnsupportedError
	var gone *task.CheckoutGoneError
	var moved *task.BranchMovedError
	if no := caged(err); no != nil {
		return no
	}
	if no := landing(err); no != nil {
		return no
	}
	switch {
	case errors.As(err, &gone):
		return refusal.New(refusal.Unconfirmed, "the task's checkout is gone: commits, and what was staged, can be kept, and nothing else that was in its files",
			"if you moved it, see termic status; else add --confirm "+gone.Confirm)
	case errors.As(err, &moved):
		return refusal.Newf(refusal.Conflict, "add --branch NAME to bring it back on a new branch, or put "+moved.Branch+" back at "+string(moved.At),
			"branch %s is not where it was when the task was archived, or is checked out elsewhere", moved.Branch)
	case errors.As(err, &lacks):
		return refusal.New(refusal.Unsupported, "a caged task's own git does not support "+lacks.What, "put that right in the project, or choose cage off")
	case errors.As(err, &locked):
		return refusal.Newf(refusal.Conflict, "use that one, or stop it first", "another termic (process %d) has this data directory", locked.Pid)
	case errors.As(err, &lost):
		return refusal.Newf(refusal.Conflict, "give yourself the right to read them, rename or remove them",
			"the checkout holds files that cannot be kept: unreadable ones, or named .git: %s", names(lost.Paths))
	case errors.As(err, &deep):
		return refusal.Newf(refusal.Conflict, "move what you need of it higher up, and remove that directory (rm -r), or let git ignore it",
			"the checkout holds a path that is too long for the system and for git (4096 bytes, with the checkout's own), so that it cannot be kept; it is below %s", shownPath(deep.Below))
	case errors.As(err, &nested):
		return refusal.Newf(refusal.Conflict, "move it out of there: mv, or git worktree move",
			"the checkout holds another repository or another checkout of this one, which would be lost: %s", names(nested.Paths))
	}
	return diskFailed(err)
}

// diskFailed is the refusal for a disk that takes nothing more, whether we or git met it, or nil.
func diskFailed(err error) *refusal.Refusal {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return refusal.New(refusal.StorageFailed, "the disk is full", "free some space")
	case errors.Is(err, syscall.EDQUOT):
		return refusal.New(refusal.StorageFailed, "your quota of the disk is used up", "free some space, or ask for more: quota")
	case errors.Is(err, syscall.EROFS):
		return refusal.New(refusal.StorageFailed, "the disk cannot be written", "see how it is mounted")
	}
	return nil
}

// systemFailed is the refusal for what else the system does not let us or git do with files, or nil. It comes after the table: where an
// error says more, that counts.
func systemFailed(err error) *refusal.Refusal {
	switch {
	case errors.Is(err, syscall.EACCES):
		return refusal.New(refusal.StorageFailed, "a file or directory of the project, of the checkout or of termic's data may not be read or written by you",
			"see whose they are: ls -la; which one it was is in the app's log")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return refusal.New(refusal.StorageFailed, "too many files are open", "close tabs, or raise the limit (ulimit -n) and start termic again")
	}
	return nil
}

// gitFailed is the refusal for a git that ran and refused for no reason that is known here, or nil. Its words may hold anything: they
// are in the app's log only.
func gitFailed(err error) *refusal.Refusal {
	var exit *git.ExitError
	if !errors.As(err, &exit) || len(exit.Args) == 0 {
		return nil
	}
	return refusal.Newf(refusal.Unavailable, "see whether git works in the project's repository: git status; what git said is in the app's log",
		"git %s failed with status %d", exit.Args[0], exit.Code)
}

// caged returns the refusals of cages that cannot be or may not be, or nil.
func caged(err error) *refusal.Refusal {
	var lacks *launch.UnsupportedError
	var shows *profile.ExposureError
	var link *profile.LinkError
	var redirect *profile.RedirectError
	var missing *profile.MissingError
	var socket *launch.SocketError
	var invalid *capability.InvalidError
	switch {
	case errors.As(err, &lacks):
		return refusal.New(refusal.Unsupported, fmt.Sprintf("no cage of mode %s here: %s", lacks.Mode, lacks.Lack.What), lacks.Lack.Remedy)
	case errors.As(err, &shows):
		return refusal.New(refusal.BadInput, shows.Error(), "name a narrower path")
	case errors.As(err, &link):
		return refusal.New(refusal.Conflict, link.Error(), "replace the link")
	case errors.As(err, &redirect):
		return refusal.New(refusal.BadInput, redirect.Error(), "name the place itself")
	case errors.As(err, &missing):
		return refusal.New(refusal.NotFound, missing.Error(), "make it, or leave it out")
	case errors.As(err, &socket):
		return refusal.New(refusal.Conflict, socket.Error(), "end that program, or name a narrower path")
	case errors.As(err, &invalid):
		return refusal.New(refusal.BadInput, invalid.Error(), "")
	}
	return nil
}

// explainTo is explain for a caller: what git is in the way of is said to those who may look into the repository themselves (I7).
func explainTo(caller registry.Caller, err error) error {
	var file *agent.FileError
	if errors.As(err, &file) && !errors.Is(err, agent.ErrFile) {
		if caller.Scope != registry.Full { // the person's files are not for them: as if there were none
			return explain(fmt.Errorf("%w: %w", agent.ErrUnknown, err))
		}
		return refusal.New(refusal.BadInput, "the agent's file is not valid: "+file.Error(), "correct it in the directory agents of the data directory; it is read again at once").Because(err)
	}
	var other *git.BranchConflictError
	if caller.Scope == registry.Full && errors.As(err, &other) {
		return branchConflict(other).Because(err)
	}
	return explain(err)
}

func branchConflict(e *git.BranchConflictError) *refusal.Refusal {
	switch {
	case strings.HasPrefix(e.Other, e.Name+"/"):
		return refusal.Newf(refusal.Conflict, "choose another name, or rename that branch", "git cannot have a branch %s beside the branch %s", e.Name, e.Other)
	case strings.HasPrefix(e.Name, e.Other+"/"):
		return refusal.Newf(refusal.Conflict, "rename that branch: git branch -m "+e.Other+" NEW-NAME", "git cannot have a branch %s below the branch %s", e.Name, e.Other)
	}
	return refusal.Newf(refusal.Conflict, "choose another name", "the branch %s differs from the branch %s in case only", e.Name, e.Other)
}

// explain returns err as a refusal, with itself as the hidden cause; nil for nil. What is not in the table
// becomes "internal".
func explain(err error) error {
	if err == nil {
		return nil
	}
	if no, ok := refusal.From(err); ok {
		return no
	}
	if no := special(err); no != nil {
		return no.Because(err)
	}
	for _, e := range explained {
		if errors.Is(err, e.is) {
			return refusal.New(e.code, e.reason, e.remedy).Because(err)
		}
	}
	if no := cmp.Or(systemFailed(err), gitFailed(err)); no != nil {
		return no.Because(err)
	}
	return err
}
