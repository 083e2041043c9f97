package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"termic/registry"
)

// builtCases are the cases of TestEveryEnforcedBoundaryRefuses.
var builtCases = map[string]bool{
	"loopback": true, "origin": true, "host": true, "credential": true, "doors": true, "older": true, "channel": true,
	"files": true, "environment": true, "output": true, "peer": true, "binding": true, "port": true,
	"scope": true, "sight": true, "projects": true, "child": true, "tabs": true, "base": true, "limit": true, "narrowed": true,
	"queue": true, "ceiling": true, "budget": true,
	"wall-read": true, "wall-write": true, "wall-data": true, "wall-processes": true, "wall-crowd": true, "wall-ports": true, "egress": true, "servers": true,
	"hooks": true, "landing": true, "trust": true, "view": true, "hold": true, "answer": true, "elicit": true, "first": true, "chain": true, "revoked": true, "stop": true,
}

// testsOf returns the names of the tests of a package, read from its sources.
func testsOf(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// TestEveryBoundaryIsEnforcedOrSaysAdvisory keeps the table true: a row that claims enforcement names a test that there
// is, and each other says what will enforce it. What the built program is tried with is a row.
func TestEveryBoundaryIsEnforcedOrSaysAdvisory(t *testing.T) {
	seen := map[string]bool{}
	tried := map[string]bool{}
	for _, b := range registry.Boundaries() {
		if seen[b.Name] || b.Name == "" || !strings.HasSuffix(b.Declares, ".") {
			t.Errorf("%q: no name or no sentence of its own", b.Name)
		}
		seen[b.Name] = true
		for system, state := range map[string]registry.State{"Linux": b.Linux, "macOS": b.Mac} {
			switch {
			case state == registry.Enforced && b.Refusal == "":
				t.Errorf("%s claims to be enforced on %s and names no test", b.Name, system)
			case state == registry.Advisory && b.Until == "":
				t.Errorf("%s is advisory on %s and does not say what will enforce it", b.Name, system)
			case state != registry.Enforced && state != registry.Advisory:
				t.Errorf("%s has no state on %s", b.Name, system)
			}
		}
		if b.Refusal == "" {
			continue
		}
		pkg, test, ok := strings.Cut(b.Refusal, ": ")
		test, part, _ := strings.Cut(test, "/")
		if test != "TestEveryEnforcedBoundaryRefuses" {
			t.Errorf("%s is not tried with the built program, but by %s", b.Name, b.Refusal)
		}
		if !ok || !testsOf(t, pkg)[test] {
			t.Errorf("%s names the test %q, which there is not", b.Name, b.Refusal)
		}
		if test == "TestEveryEnforcedBoundaryRefuses" {
			tried[part] = true
		}
	}
	for name := range tried {
		if !builtCases[name] {
			t.Errorf("the built program is not tried with %q", name)
		}
	}
	for name := range builtCases {
		if !tried[name] {
			t.Errorf("the built program is tried with %q, which no row names", name)
		}
	}
}

// named is how a page of the documentation names a test, or a part of one: `package: TestName/part`.
var named = regexp.MustCompile("`([a-z/]+): (Test[A-Za-z0-9]+)(?:/([^`]+))?`")

// partsOf returns what the parts of a test may be called, as go test writes names: the texts in its body, and those in the
// tables of the package that its body names.
func partsOf(t *testing.T, pkg, test string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]ast.Node{}
	var body ast.Node
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == test {
					body = d.Body
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == 1 {
						tables[v.Names[0].Name] = v
					}
				}
			}
		}
	}
	parts := map[string]bool{}
	texts := func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				parts[strings.ReplaceAll(text, " ", "_")] = true
			}
		}
		return true
	}
	if body != nil {
		ast.Inspect(body, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && tables[name.Name] != nil {
				ast.Inspect(tables[name.Name], texts)
			}
			return texts(n)
		})
	}
	return parts
}

// TestThePagesNameTestsThatThereAre: each claim of docs/security.md names a test, and each of those tests is there.
func TestThePagesNameTestsThatThereAre(t *testing.T) {
	text := readFile(t, filepath.Join("..", "docs", "security.md"))
	found := named.FindAllStringSubmatch(text, -1)
	if len(found) < 40 {
		t.Errorf("only %d tests are named", len(found))
	}
	for _, name := range found {
		if !testsOf(t, name[1])[name[2]] {
			t.Errorf("docs/security.md names %s: %s, which there is not", name[1], name[2])
		}
		if name[3] != "" && !partsOf(t, name[1], name[2])[name[3]] {
			t.Errorf("docs/security.md names the part %s of %s: %s, which has none of that name", name[3], name[1], name[2])
		}
	}
	if parts := partsOf(t, "app", "TestAttacks"); !parts["cache_poisoning"] || parts["cache"] || parts["loopback"] {
		t.Errorf("twin: the parts of TestAttacks are not told: %v", parts)
	}
	for _, b := range registry.Boundaries() {
		if !strings.Contains(text, b.Name) {
			t.Errorf("docs/security.md does not have the boundary %s", b.Name)
		}
		if (b.Linux == registry.Advisory) != strings.Contains(lineOf(text, b.Name), "advisory") {
			t.Errorf("docs/security.md says something else of %s than the table does: %s on Linux", b.Name, b.Linux)
		}
	}
}

// lineOf returns the line of the table of boundaries in which a name stands.
func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `"+name+"`") {
			return line
		}
	}
	return ""
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pendingDetours are the ways for a text to reach an agent by a detour that are not built: the verb that would come with
// each. When it comes, its detour needs a row in docs/security.md and a test there, and leaves this list.
var pendingDetours = map[string][]string{
	"comments on a diff that go to the agent": {"review_send", "review_comment"},
}

// TestADetourThatComesNeedsItsTest fails when a feature is there whose detour is listed as not built.
func TestADetourThatComesNeedsItsTest(t *testing.T) {
	text := readFile(t, filepath.Join("..", "docs", "security.md"))
	for detour, names := range pendingDetours {
		if !strings.Contains(text, detour) {
			t.Errorf("docs/security.md does not say that this is not built: %s", detour)
		}
		for _, name := range names {
			if knownVerb(name) {
				t.Errorf("%s is there: %s needs its row and its test in docs/security.md", name, detour)
			}
		}
	}
	if !knownVerb("task_send") {
		t.Error("twin: this does not know verbs at all")
	}
}
