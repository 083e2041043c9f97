// Command gen writes what is rendered from the verbs: docs/verbs.md, docs/verbs.json and the window's
// TypeScript client. Its test checks that the files on disk are what it would write.
package main

//go:generate go run .

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"termic/registry"
	"termic/registry/render"
	"termic/registry/verbs"
)

// root is the module's root, seen from this package's directory, in which go generate and go test run.
const root = "../../.."

// outputs are the generated files, by path from the root.
var outputs = []struct {
	path   string
	render func([]*registry.Verb) ([]byte, error)
}{
	{"docs/verbs.md", render.Markdown},
	{"docs/verbs.json", render.HelpJSON},
	{"frontend/src/gen/verbs.ts", render.TypeScript},
}

func main() {
	if err := doMain(root, true); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// doMain renders every output, and writes it (write) or compares it with the file on disk. The error names
// every file that differs, and the command that puts it right.
func doMain(root string, write bool) error {
	var wrong []error
	for _, output := range outputs {
		want, err := output.render(verbs.All())
		if err != nil {
			return fmt.Errorf("render %s: %w", output.path, err)
		}
		path := filepath.Join(root, filepath.FromSlash(output.path))
		if write {
			if err := writeFile(path, want); err != nil {
				return err
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil {
			wrong = append(wrong, fmt.Errorf("%w; run: %s", err, render.Regenerate))
		} else if !bytes.Equal(got, want) {
			wrong = append(wrong, fmt.Errorf("%s is out of date; run: %s", output.path, render.Regenerate))
		}
	}
	return errors.Join(wrong...)
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}
