package mcpserver

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"testing"
)

// TestTheLimitsOfThePageAreThoseOfTheSource holds docs/wire.md against limits.go: every limit with its value.
func TestTheLimitsOfThePageAreThoseOfTheSource(t *testing.T) {
	page, err := os.ReadFile("../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		shown[row[1]] = row[2]
	}
	want := map[string]string{
		"maxBody": fmt.Sprintf("%d MiB", maxBody>>20), "maxHeader": fmt.Sprintf("%d KiB", maxHeader>>10),
		"headerTimeout": headerTimeout.String(), "bodyTimeout": bodyTimeout.String(), "writeTimeout": writeTimeout.String(),
		"idleTimeout": idleTimeout.String(), "lingerTimeout": lingerTimeout.String(), "callTimeout": callTimeout.String(),
		"progressAfter": progressAfter.String(), "progressEvery": progressEvery.String(), "progressGap": progressGap.String(),
		"keepAlive": keepAlive.String(), "listensPerToken": fmt.Sprint(listensPerToken), "listensInAll": fmt.Sprint(listensInAll),
	}
	defaults := reflect.ValueOf(Limits{}.orDefault())
	for i := range defaults.NumField() {
		want[defaults.Type().Field(i).Name] = fmt.Sprint(defaults.Field(i))
	}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("the page says\n%v\nthe source\n%v", shown, want)
	}
	// What bounds only our own work is not the client's business.
	ours := map[string]bool{"usualBody": true, "netHTTPSlop": true, "logEvery": true, "maxBuckets": true}
	for _, name := range constants(t, "limits.go") {
		if _, known := want[name]; !known && !ours[name] {
			t.Errorf("%s is neither on the page nor of ours alone", name)
		}
	}
}

// constants returns the names of the constants of a file.
func constants(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, decl := range parsed.Decls {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
