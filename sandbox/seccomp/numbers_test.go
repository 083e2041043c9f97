package seccomp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestNumbers compares the table with golang.org/x/sys, for both machines, on any machine. It reads the sources, so
// that a test result from the cache cannot outlive a new version of the module.
func TestNumbers(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "unix")
	for arch, file := range map[Arch]string{AMD64: "zsysnum_linux_amd64.go", ARM64: "zsysnum_linux_arm64.go"} {
		known := sysnums(t, filepath.Join(dir, file))
		newest := 0
		for _, nr := range known {
			newest = max(newest, nr)
		}
		if newest != Newest {
			t.Errorf("%s: newest call is %d, the rules were reviewed up to %d", file, newest, Newest)
		}
		for call := range numbers {
			name := "SYS_" + strings.ToUpper(call)
			if call == "_sysctl" {
				name = "SYS__SYSCTL"
			}
			want, has := known[name]
			if got, ok := Number(arch, call); ok != has || ok && int(got) != want {
				t.Errorf("%s: %s is %d (%v), x/sys says %d (%v)", file, call, got, ok, want, has)
			}
		}
	}
}

func sysnums(t *testing.T, file string) map[string]int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	nums := map[string]int{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				if nr, err := strconv.Atoi(lit.Value); err == nil {
					nums[spec.Names[0].Name] = nr
				}
			}
		}
		return true
	})
	if len(nums) < 300 {
		t.Fatalf("%s: only %d numbers", file, len(nums))
	}
	return nums
}
