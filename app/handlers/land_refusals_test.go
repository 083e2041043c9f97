package handlers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"termic/app/git"
	"termic/registry/refusal"
)

// What a landing or a discard that met somebody else's writing says: which files, and whether there is anything left to do.
func TestALandingThatMeetsAWriterNamesTheFile(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		code refusal.Code
		says string
	}{
		"taken back whole":  {&git.WrittenError{Paths: []string{"a\nb.txt"}}, refusal.Busy, `"a\nb.txt"`},
		"not taken back":    {errors.Join(&git.WrittenError{Paths: []string{"x"}}, &git.HalfError{Paths: []string{"y.txt"}, Cause: errors.New("/home/someone")}), refusal.Conflict, "y.txt"},
		"without a name":    {&git.HalfError{Cause: errors.New("/home/someone")}, refusal.Conflict, "could not be taken back whole"},
		"no safe way there": {git.ErrNoExchange, refusal.Conflict, "neither exchange two names nor link"},
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
