package handlers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"termic/app/git"
	"termic/registry/refusal"
)

// What a landing or a discard says that met somebody else's writing, or a filter: which files, and whether there is anything left
// to do.
func TestALandingThatMeetsAWriterOrAFilterNamesTheFile(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		code refusal.Code
		says string
	}{
		"taken back whole":           {&git.WrittenError{Paths: []string{"a\nb.txt"}}, refusal.Busy, `"a\nb.txt"`},
		"not taken back":             {errors.Join(&git.WrittenError{Paths: []string{"x"}}, &git.HalfError{Paths: []string{"y.txt"}, Cause: errors.New("/home/someone")}), refusal.Conflict, "y.txt"},
		"without a name":             {&git.HalfError{Cause: errors.New("/home/someone")}, refusal.Conflict, "could not be taken back whole"},
		"a filter of the checkout's": {&git.FilteredError{Files: []git.Filtered{{Path: "d/x.bin", Filter: "lfs", From: "d/.gitattributes"}}}, refusal.Conflict, "d/x.bin (filter=lfs in d/.gitattributes)"},
		"a filter of the person's":   {&git.FilteredError{Files: []git.Filtered{{Path: "x", Filter: "f\x1b"}}}, refusal.Conflict, `x (filter="f\x1b" in git's attributes outside of the checkout)`},
		"a path that is too long":    {errors.Join(&git.TooDeepError{Below: "d\x1b"}, errors.New("/home/someone")), refusal.Conflict, `it is below "d\x1b"`},
		"no safe way there":          {git.ErrNoExchange, refusal.Conflict, "neither exchange two names nor link"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reason := range []func(error) error{explain, func(err error) error { return explain(reviewing(err)) }} {
				no, ok := refusal.From(reason(fmt.Errorf("land t: %w", row.err)))
				if !ok || no.Code != row.code || !strings.Contains(no.Reason, row.says) {
					t.Errorf("%+v", no)
				}
				if ok && strings.Contains(no.Reason+no.Remedy, "someone") {
					t.Errorf("the caller is shown the cause: %s", no)
				}
			}
		})
	}
}
