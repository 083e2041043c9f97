package handlers

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termic/app/git"
	"termic/app/store"
	"termic/registry"
	"termic/registry/refusal"
)

func TestErrorsOfServicesBecomeRefusals(t *testing.T) {
	for _, e := range explained {
		err := explain(fmt.Errorf("do a thing at /home/someone/secret: %w", e.is))
		no, ok := refusal.From(err)
		if !ok || no.Code != e.code {
			t.Errorf("%v: %v", e.is, err)
			continue
		}
		if strings.Contains(no.Error(), "secret") {
			t.Errorf("%v: the caller is shown the path: %s", e.is, no)
		}
		if !errors.Is(no, e.is) {
			t.Errorf("%v: the cause is lost", e.is)
		}
	}
	if explain(nil) != nil {
		t.Error("nil became an error")
	}
	other := errors.New("other")
	if explain(other) != other {
		t.Error("an unknown error was explained")
	}
	own := refusal.New(refusal.Busy, "busy", "")
	if explain(fmt.Errorf("wrapped: %w", own)) != error(own) {
		t.Error("a refusal did not stay itself")
	}
}

// TestABranchInTheWayIsNamedToWhoMayLookForIt: to others the words do not depend on it.
func TestABranchInTheWayIsNamedToWhoMayLookForIt(t *testing.T) {
	for name, row := range map[string]struct {
		scope          registry.Scope
		other          string
		reason, remedy string
	}{
		"one below":                   {registry.Full, "termic/pre/fix", "git cannot have a branch termic/pre beside the branch termic/pre/fix", "choose another name, or rename that branch"},
		"one above":                   {registry.Full, "termic", "git cannot have a branch termic/pre below the branch termic", "rename that branch: git branch -m termic NEW-NAME"},
		"one that differs in case":    {registry.Full, "Termic/pre", "the branch termic/pre differs from the branch Termic/pre in case only", "choose another name"},
		"one below, a scoped caller":  {registry.Scoped, "termic/pre/fix", "the branch termic/NAME collides with another branch of the repository", "choose another name"},
		"one above, a scoped caller":  {registry.Scoped, "termic", "the branch termic/NAME collides with another branch of the repository", "choose another name"},
		"another case, scoped caller": {registry.Scoped, "Termic/pre", "the branch termic/NAME collides with another branch of the repository", "choose another name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := explainTo(registry.Caller{Scope: row.scope}, fmt.Errorf("make it: %w", &git.BranchConflictError{Name: "termic/pre", Other: row.other}))
			no, ok := refusal.From(err)
			if !ok || no.Code != refusal.Conflict || no.Reason != row.reason || no.Remedy != row.remedy {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAGitThatRefusesIsNoFaultOfOurs(t *testing.T) {
	err := explain(fmt.Errorf("list worktrees: %w", &git.ExitError{Args: []string{"worktree", "list", "/home/x"}, Code: 128, Stderr: "fatal: bad config /home/x/secret"}))
	no, ok := refusal.From(err)
	if !ok || no.Code != refusal.Unavailable || no.Reason != "git worktree failed with status 128" || strings.Contains(no.Error(), "secret") || no.Cause() == nil {
		t.Errorf("%v", err)
	}
	branch := explain(fmt.Errorf("land: branch %q: %w: %w", "a..b", git.ErrBadBranch, git.ErrBadRef))
	if no, ok := refusal.From(branch); !ok || no.Code != refusal.BadInput || no.Reason != "git allows no branch of that name" {
		t.Errorf("%v", branch)
	}
}

// The messages are git's own (2.39, met on full, read-only and foreign directories), and those of its source for the rest.
func TestWhatTheDiskRefusedGitIsSaidAsOurs(t *testing.T) {
	const full, quota, readOnly = "the disk is full", "your quota of the disk is used up", "the disk cannot be written"
	const denied, open = "a file or directory of the project, of the checkout or of termic's data may not be read or written by you", "too many files are open"
	failed := "git worktree failed with status 128"
	for stderr, reason := range map[string]string{
		"fatal: unable to write loose object file: No space left on device":                                                                                full,
		"Preparing worktree (new branch 'x')\nfatal: could not create leading directories of '/c/x/.git': No space left on device\n":                       full,
		"error: copy-fd: write returned: No space left on device\nfatal: cannot copy '/a' to '/b': No space left on device":                                full,
		"fatal: sha1 file '<stdout>' write error: Disk quota exceeded":                                                                                     quota,
		"fatal: Unable to create '/r/.git/index.lock': Disk quota exceeded":                                                                                quota,
		"fatal: cannot mkdir '/r/.git/worktrees/x': Disc quota exceeded":                                                                                   quota,
		"fatal: Unable to create '/r/.git/index.lock': Quota exceeded":                                                                                     quota,
		"fatal: Unable to create '/r/.git/index.lock': Read-only file system":                                                                              readOnly,
		"fatal: cannot lock ref 'refs/heads/q': Unable to create '/r/.git/refs/heads/q.lock': Read-only file system":                                       readOnly,
		"fatal: update_ref failed for ref 'refs/heads/q': cannot lock ref 'refs/heads/q': Unable to create '/r/.git/refs/heads/q.lock': Permission denied": denied,
		"fatal: could not create directory of '.git/worktrees/pp': Permission denied":                                                                      denied,
		"error: insufficient permission for adding an object to repository database .git/objects\nfatal: Unable to add (null) to database":                 denied,
		"error: unable to create file a/b: Permission denied\nfatal: Could not reset index file to revision 'HEAD'.":                                       denied,
		"error: could not open '/r/.git/config' for reading: Too many open files":                                                                          open,
		"fatal: Unable to create '/r/.git/index.lock': Too many open files in system":                                                                      open,
		// What is none of it: others' words, names of files, programs, and failures of other kinds.
		"remote: fatal: No space left on device\nfatal: the remote end hung up unexpectedly":      failed,
		"remote: error: x: Permission denied":                                                     failed,
		"git@host: Permission denied (publickey).\nfatal: Could not read from remote repository.": failed,
		"warning: unable to access '/etc/gitattributes': Permission denied":                       failed,
		"fatal: pathspec ': No space left on device' did not match any files":                     failed,
		"fatal: 'Disk quota exceeded' is already checked out at '/r'":                             failed,
		"error: cannot run ./filter.sh: Permission denied\nfatal: f: clean filter 'x' failed":     failed,
		"fatal: cannot exec 'ssh': Permission denied":                                             failed,
		"fatal: unable to access 'https://host/r/': Permission denied":                            failed,
		"fatal: Unable to create '/r/.git/index.lock': File exists.":                              failed,
		"fatal: Could not reset index file to revision 'HEAD'.":                                   failed,
	} {
		err := explain(fmt.Errorf("add worktree /home/x: %w", &git.ExitError{Args: []string{"worktree"}, Code: 128, Stderr: stderr}))
		no, ok := refusal.From(err)
		code := refusal.StorageFailed
		if reason == failed {
			code = refusal.Unavailable
		}
		if !ok || no.Code != code || no.Reason != reason || strings.Contains(no.Error(), "/r") {
			t.Errorf("%q: %v, want %s", stderr, err, reason)
		}
	}
}

// TestWhatTheSystemRefusesUsIsSaid: the twin of the test before, for our own calls; an error that says more is not hidden by it.
func TestWhatTheSystemRefusesUsIsSaid(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "full", syscall.EDQUOT: "quota", syscall.EROFS: "cannot be written", syscall.EACCES: "may not be read",
		syscall.EMFILE: "too many files", syscall.ENFILE: "too many files",
	} {
		no, ok := refusal.From(explain(&fs.PathError{Op: "open", Path: "/home/x", Err: errno}))
		if !ok || no.Code != refusal.StorageFailed || !strings.Contains(no.Reason, want) || strings.Contains(no.Error(), "/home") {
			t.Errorf("%v: %v", errno, no)
		}
	}
	if err := explain(&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}); refusal.Of(err).Code != refusal.Internal {
		t.Errorf("a missing file: %v", err)
	}
	if no := refusal.Of(explain(fmt.Errorf("%w: %w", store.ErrReadOnly, syscall.EACCES))); !strings.HasPrefix(no.Reason, "the data directory") {
		t.Errorf("%v", no)
	}
}

// Whoever adds a sentinel error to git or store has to say what callers are told.
func TestEveryErrorOfGitAndStoreIsExplained(t *testing.T) {
	// Those that never reach a caller, and why.
	internal := map[string]string{
		"ErrNoHome":   "the app does not start",
		"ErrRelative": "the app does not start", "ErrLocked": "told with its process", "ErrName": "our own mistake",
		"ErrClosed": "only while the app ends", "ErrCorrupt": "told by doctor", "ErrBadID": "our own mistake",
		"ErrArchive": "a damaged archive store", "ErrNestedRepository": "told with its paths", "ErrUnkeepable": "told with its paths", "ErrNoExchange": "told by landing",
		"ErrUnreachable": "told in words with what the task starts from", "ErrStaged": "only the import of a cage's commits meets it",
	}
	for _, dir := range []string{"../git", "../store"} {
		for _, name := range sentinels(t, dir) {
			if _, ok := internal[name]; ok || isExplained(name) {
				continue
			}
			t.Errorf("%s of %s is not in the table", name, dir)
		}
	}
}

// isExplained tells whether the table's source names the error.
func isExplained(name string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "explain.go", nil, 0)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == name {
			found = true
		}
		return true
	})
	return found
}

// sentinels returns the names of a package's exported error variables.
func sentinels(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				for _, ident := range spec.(*ast.ValueSpec).Names {
					if strings.HasPrefix(ident.Name, "Err") {
						names = append(names, ident.Name)
					}
				}
			}
		}
	}
	if len(names) < 10 {
		t.Fatalf("only %v in %s", names, dir)
	}
	return names
}
