package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// intended returns the paths of the index that are only intended to be added (`git add -N`): git lists them among what
// is staged, and not where it is told not to.
func (s *scratch) intended(ctx context.Context, head OID) (map[string]bool, error) {
	list := func(more ...string) ([]string, error) {
		args := append([]string{"diff-index", "--cached", "-z", "--name-only", "--no-renames", "--diff-filter=A", "--ignore-submodules=dirty"}, more...)
		out, err := s.run(ctx, call{args: append(args, string(head))})
		return splitNUL(out), err
	}
	all, err := list()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	staged, err := list("--ita-invisible-in-index")
	if err != nil {
		return nil, err
	}
	only := map[string]bool{}
	for _, path := range all {
		only[path] = true
	}
	for _, path := range staged {
		delete(only, path)
	}
	return only, nil
}

// intend makes paths, which the index does not have, intended to be added, each with the mode of an entry "<mode> <oid>". Only git
// add can, and wants a file: it gets empty ones of ours, whatever is in the checkout.
func (s *scratch) intend(ctx context.Context, entries map[string]string) error {
	if len(entries) == 0 {
		return nil
	}
	alone := *s
	alone.work = filepath.Join(s.dir, "intended")
	var paths strings.Builder
	for path, entry := range entries {
		paths.WriteString(path + "\x00")
		full := filepath.Join(alone.work, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		mode, _, _ := strings.Cut(entry, " ")
		var err error
		switch mode {
		case modeLink:
			err = os.Symlink("intended", full)
		case "100755":
			err = os.WriteFile(full, nil, 0o700)
		default:
			err = os.WriteFile(full, nil, 0o600)
		}
		if err != nil {
			return err
		}
	}
	_, err := alone.run(ctx, call{args: []string{"add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"}, stdin: strings.NewReader(paths.String())})
	if err != nil {
		err = fmt.Errorf("bring intents to add back: %w", err)
	}
	return errors.Join(err, os.RemoveAll(alone.work))
}
