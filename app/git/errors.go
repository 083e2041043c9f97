package git

import (
	"errors"
	"fmt"
	"strings"
)

// What callers must tell apart. Each is wrapped with the operation and its operand.
var (
	ErrNoGit    = errors.New("no git program in PATH")
	ErrTooOld   = errors.New("git is too old")
	ErrNoAnswer = errors.New("git did not answer in time")
	ErrTooLarge = errors.New("git's output is larger than its limit")

	ErrBadPath       = errors.New("path holds a line break or NUL, is not valid UTF-8, or is not absolute")
	ErrNotRepository = errors.New("not a git repository")
	ErrBare          = errors.New("a bare repository has no checkout")
	ErrNoCommits     = errors.New("repository has no commits")
	ErrUnsafeOwner   = errors.New("repository belongs to another user")
	ErrUnsupported   = errors.New("repository format is not supported")

	ErrBadRef         = errors.New("not a usable ref or branch name")
	ErrRefNotFound    = errors.New("no such commit")
	ErrRefMoved       = errors.New("ref is not where it was expected")
	ErrNoRemote       = errors.New("repository has no remote called origin")
	ErrUnreachable    = errors.New("remote was not reached")
	ErrBranchExists   = errors.New("branch exists already")
	ErrBranchConflict = errors.New("branch name conflicts with another branch")
	ErrBadBranch      = errors.New("not a name that git allows for a branch")
	ErrBranchInUse    = errors.New("branch is checked out in another worktree")

	ErrDirExists    = errors.New("directory exists already")
	ErrMainWorktree = errors.New("not a linked worktree of this repository")
	ErrNotWorktree  = errors.New("not a checkout of this repository")
	ErrNoCheckout   = errors.New("there is no directory at the checkout's place")
	ErrBusy         = errors.New("files kept changing while they were read")
	ErrOther        = errors.New("another directory is there by now")
	ErrMounted      = errors.New("another file system is mounted there")
	ErrChanged      = errors.New("checkout changed since it was archived")
)

// BranchConflictError is ErrBranchConflict with the branch that is in the way.
type BranchConflictError struct{ Name, Other string }

func (e *BranchConflictError) Error() string {
	return fmt.Sprintf("branch %q, with %q: %s", e.Name, e.Other, ErrBranchConflict)
}

// Is makes errors.Is(err, ErrBranchConflict) true.
func (e *BranchConflictError) Is(target error) bool { return target == ErrBranchConflict }

// TooOldError says which git was found and which is needed.
type TooOldError struct{ Found, Needed Version }

func (e *TooOldError) Error() string {
	return fmt.Sprintf("git %s is too old: %s or later is needed", e.Found, e.Needed)
}

// Is makes errors.Is(err, ErrTooOld) true.
func (e *TooOldError) Is(target error) bool { return target == ErrTooOld }

// ExitError is a git that ran and refused. Args hold the subcommand and its
// arguments, not our options and never a secret; Stderr is bounded, and user
// information in addresses is masked.
type ExitError struct {
	Args   []string
	Code   int // -1 when a signal ended it
	Stderr string
}

func (e *ExitError) Error() string {
	msg := strings.TrimSpace(e.Stderr)
	if msg == "" {
		msg = "no message"
	}
	name := ""
	if len(e.Args) > 0 {
		name = e.Args[0]
	}
	return fmt.Sprintf("git %s exited with %d: %s", name, e.Code, msg)
}

// exitCode returns the exit code that err carries, and -1 when git was not
// started, was killed, or succeeded.
func exitCode(err error) int {
	var e *ExitError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// stderrHas reports whether err is an exit of git whose message holds any of words.
func stderrHas(err error, words ...string) bool {
	var e *ExitError
	if !errors.As(err, &e) {
		return false
	}
	for _, w := range words {
		if strings.Contains(e.Stderr, w) {
			return true
		}
	}
	return false
}
