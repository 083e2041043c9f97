package refusal

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestTheCauseIsNeverShown(t *testing.T) {
	cause := errors.New("open /home/someone/secret: denied")
	no := New(NotFound, "no such task", "look at the list").Because(cause).For("r-1")
	text, err := json.Marshal(no)
	if err != nil {
		t.Fatal(err)
	}
	if shown := no.Error() + string(text); strings.Contains(shown, "secret") {
		t.Errorf("shown: %s", shown)
	}
	if !errors.Is(no, cause) || no.Cause() != cause {
		t.Error("the cause is lost")
	}
	if no.Request != "r-1" {
		t.Errorf("request %q", no.Request)
	}
}

func TestOfTurnsAnyErrorIntoARefusal(t *testing.T) {
	if Of(nil) != nil {
		t.Error("nil became a refusal")
	}
	own := New(Busy, "busy", "")
	if Of(fmt.Errorf("wrapped: %w", own)) != own {
		t.Error("a refusal did not stay itself")
	}
	if no := Of(errors.New("secret")); no.Code != Internal || strings.Contains(no.Error(), "secret") {
		t.Errorf("%v", no)
	}
}

func TestBecauseAndForLeaveTheOriginalAlone(t *testing.T) {
	original := New(Busy, "busy", "")
	_ = original.Because(errors.New("x")).For("r-1")
	if original.Cause() != nil || original.Request != "" {
		t.Errorf("%+v", original)
	}
}

func TestEveryCodeIsInTheTableOnce(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
				declared++
			}
		}
		return true
	})
	seen := map[Code]bool{}
	for _, info := range Codes() {
		if seen[info.Code] || info.Means == "" || info.Exit < 1 || info.Exit > 12 {
			t.Errorf("%+v", info)
		}
		seen[info.Code] = true
	}
	if len(seen) != declared {
		t.Errorf("%d codes are declared, %d are in the table", declared, len(seen))
	}
	if Code("unheard-of").Exit() != 1 {
		t.Error("an unknown code does not exit as internal")
	}
}
