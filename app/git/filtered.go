package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// FilteredError names uncommitted files that a filter program would convert before they are committed.
type FilteredError struct{ Files []Filtered }

// Filtered is a file that a filter belongs to.
type Filtered struct {
	Path   string
	Filter string // the attribute's value: the name of the filter
	From   string // the file of attributes, from the top of the checkout; "" when it is none of the checkout's
}

func (e *FilteredError) Error() string {
	return fmt.Sprintf("not committed, and a filter belongs to them: %q", e.Files[:min(len(e.Files), 10)])
}

// refuseFiltered returns *FilteredError when a filter belongs to a path: what stands in the checkout is not what git
// would store.
func (s *scratch) refuseFiltered(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	out, err := s.run(ctx, call{args: []string{"check-attr", "-z", "--stdin", "filter"}, limit: 1 << 30, stdin: strings.NewReader(string(joinNUL(paths)))})
	if err != nil {
		return fmt.Errorf("look for filters: %w", err)
	}
	var found []Filtered
	fields := splitNUL(out) // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		if v := fields[i+2]; v != "unspecified" && v != "unset" && v != "set" {
			found = append(found, Filtered{Path: fields[i], Filter: v})
		}
	}
	if len(found) > 0 {
		s.findAttributes(found)
		return &FilteredError{Files: found}
	}
	return nil
}

// findAttributes says of the first of the files where their filter is named: in the closest .gitattributes that has it, as
// such or in a macro.
func (s *scratch) findAttributes(found []Filtered) {
	root, err := os.OpenRoot(s.work)
	if err != nil {
		return // it is only a help
	}
	defer root.Close()
	for i := range found[:min(len(found), 100)] {
		f := &found[i]
		for dir := filepath.Dir(filepath.FromSlash(f.Path)); f.From == ""; dir = filepath.Dir(dir) {
			if name := filepath.Join(dir, ".gitattributes"); namesFilter(root, name, f.Filter) {
				f.From = filepath.ToSlash(name)
			}
			if dir == "." {
				break
			}
		}
	}
}

// namesFilter reports whether a line of a file of attributes has that filter.
func namesFilter(root *os.Root, name, filter string) bool {
	info, err := lstatBeneath(root, filepath.ToSlash(name))
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 100<<20)) // git reads no larger one (gitattributes: ATTR_MAX_FILE_SIZE)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") && slices.Contains(strings.Fields(line), "filter="+filter) {
			return true
		}
	}
	return false
}
