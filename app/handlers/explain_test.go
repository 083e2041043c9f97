package handlers

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"termic/app/git"
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
