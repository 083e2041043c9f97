package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotInstalled is wrapped when an agent's program is not to be found.
var ErrNotInstalled = errors.New("not installed")

// Where says where programs are looked up: in the environment of new tabs, which need not be that of this process.
type Where struct {
	Path  string // PATH
	Shell string // SHELL: the person's login shell, absolute; empty means /bin/sh
	Home  string // HOME; used by the version probe alone
}

// Find returns the absolute path of the definition's program. Only absolute directories of PATH are searched: the
// current directory is often a checkout that an agent writes. When there is none the error wraps ErrNotInstalled.
func Find(d Definition, w Where) (string, error) {
	if len(d.Command) == 0 {
		return "", invalid("command", "empty")
	}
	program := d.Command[0]
	if program == LoginShell {
		program = w.Shell
		if program == "" {
			program = "/bin/sh"
		}
	}
	if filepath.IsAbs(program) {
		if !executable(program) {
			return "", fmt.Errorf("find %s: %s: %w", d.ID, program, ErrNotInstalled)
		}
		return program, nil
	}
	if !strings.ContainsRune(program, '/') {
		for dir := range strings.SplitSeq(w.Path, string(filepath.ListSeparator)) {
			if file := filepath.Join(dir, program); filepath.IsAbs(dir) && executable(file) {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("find %s: %s is not in PATH: %w", d.ID, program, ErrNotInstalled)
}

// executable says whether path leads to a regular file that somebody may execute.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
