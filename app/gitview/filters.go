//go:build unix

package gitview

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"termic/app/git"
)

// checkFilters refuses a project whose files pass through a filter that the cage will not have. Left out silently,
// `git add` in the cage would commit what the filter should have changed: with git-crypt, secrets in clear text.
func (t Task) checkFilters(ctx context.Context, w git.Linked, settings []git.Setting) error {
	names := map[string]bool{}
	for _, s := range settings {
		if section, sub, name := splitKey(s.Key); section == "filter" && sub != "" && sub != "lfs" && s.Value != "" &&
			(name == "clean" || name == "process") {
			names[sub] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	used, err := t.Repo.FiltersUsed(ctx, w)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range used {
		if names[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		sort.Strings(missing)
		return &UnsupportedError{"a filter driver", fmt.Sprintf("tracked files use filter %s, which is a program of the person's configuration", strings.Join(missing, ", "))}
	}
	return nil
}
