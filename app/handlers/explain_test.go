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

// Whoever adds a sentinel error to git or store has to say what callers are told.
func TestEveryErrorOfGitAndStoreIsExplained(t *testing.T) {
	// Those that never reach a caller, and why.
	internal := map[string]string{
		"ErrNoHome":   "the app does not start",
		"ErrRelative": "the app does not start", "ErrLocked": "told with its process", "ErrName": "our own mistake",
		"ErrClosed": "only while the app ends", "ErrCorrupt": "told by doctor", "ErrBadID": "our own mistake",
		"ErrArchive": "a damaged archive store", "ErrNestedRepository": "told with its paths", "ErrUnkeepable": "told with its paths",
		"ErrStaged": "only the import of a cage's commits meets it",
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
