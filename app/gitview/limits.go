//go:build unix

package gitview

import (
	"fmt"
	"strings"
	"time"

	"termic/app/git"
)

// Limits bound one import. Each zero value stands for the number beside it.
type Limits struct {
	Pack    int64         // bytes of the pack, and of any file that git makes of it: 1 GiB
	Time    time.Duration // of the whole import: 2 minutes; a blob of 3 GB of zeros took 9 s
	Object  int64         // bytes of memory asked for at once: 1 GiB
	Memory  int64         // bytes of memory of a git process: 3 GiB
	Commits int           // new commits: 200,000
	Trees   int           // different directories looked at: 1,000,000
	Entries int64         // files and directories of one commit: 1,000,000, or ten times as many as the last known commit has
	Depth   int           // directories below each other: 512
	Large   int64         // bytes of large files that are taken over with the commits: 4 GiB

	// Gitlinks lets new gitlinks in: the person has agreed. A gitlink makes plain git on the host look into the
	// directory of that name as a repository.
	Gitlinks bool
	// Refused is a commit that an import has refused: Sync does not have it packed again.
	Refused git.OID
	// Temp is where the quarantine is made, best on the project's file system and where no cage reads; "" is the
	// temporary directory.
	Temp string
}

func (l Limits) filled() Limits {
	for _, f := range []struct {
		at *int64
		is int64
	}{{&l.Pack, 1 << 30}, {&l.Object, 1 << 30}, {&l.Large, 4 << 30}, {&l.Memory, 3 << 30}, {&l.Entries, 1_000_000}, {(*int64)(&l.Time), int64(2 * time.Minute)}} {
		if *f.at <= 0 {
			*f.at = f.is
		}
	}
	for _, f := range []struct {
		at *int
		is int
	}{{&l.Commits, 200_000}, {&l.Trees, 1_000_000}, {&l.Depth, 512}} {
		if *f.at <= 0 {
			*f.at = f.is
		}
	}
	return l
}

// Rule is why commits were refused, or what is remarkable in commits that were not.
type Rule string

const (
	// Refused.
	RulePack    Rule = "pack"    // git took the pack for broken, hostile or too expensive
	RuleSize    Rule = "size"    // more bytes than may come in
	RuleClaim   Rule = "claim"   // a claimed id is no commit of the pack or the project
	RuleMissing Rule = "missing" // objects are missing
	RuleCommits Rule = "commits"
	RuleTrees   Rule = "trees"
	RuleEntries Rule = "entries" // a tree bomb
	RuleDepth   Rule = "depth"
	RuleTree    Rule = "tree" // an entry that git does not write
	RuleGitlink Rule = "gitlink"

	// Remarkable.
	NoteCaseClash  Rule = "case-clash"  // names that are one file where file systems fold
	NoteMode       Rule = "mode"        // a mode that git does not write
	NoteLinkedFile Rule = "linked-file" // .gitattributes, .gitignore or .mailmap is a link
	NoteModules    Rule = "gitmodules"  // .gitmodules is new or changed
	NoteModulesURL Rule = "modules-url" // … and names a remote helper, a path or an option
	NoteLarge      Rule = "large-file"  // a large file that the commits name was not there, or not as named
	NoteName       Rule = "name"        // control characters, invalid UTF-8, or longer than file systems take
)

// RefusedError says which rule refused the commits; nothing of them is in the project. errors.Is(err, ErrRefused).
type RefusedError struct {
	Rule   Rule
	Detail string // may hold names that the agent chose, quoted
	Err    error  // what git said; nil when the rule is ours
}

func (e *RefusedError) Error() string {
	msg := fmt.Sprintf("%v (%s): %s", ErrRefused, e.Rule, e.Detail)
	if e.Err != nil {
		msg += ": " + strings.TrimSpace(e.Err.Error())
	}
	return msg
}

// Is makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

func (e *RefusedError) Unwrap() error { return e.Err }
