package launch

import (
	"errors"
	"slices"
	"testing"

	"termic/sandbox/capability"
)

// A mode has cages only where its own trial passed; nothing else makes up for that.
func TestACageNeedsItsTrial(t *testing.T) {
	failed := errors.New("the person's key is read")
	for _, tt := range []struct {
		what string
		pass []capability.Mode
	}{{"none", nil}, {"one", []capability.Mode{capability.Enforce}}, {"both", []capability.Mode{capability.EnforceFS, capability.Enforce}}} {
		tried := 0
		s := onTrial(func(mode capability.Mode) error {
			tried++
			if slices.Contains(tt.pass, mode) {
				return nil
			}
			return failed
		})
		if tried != 2 {
			t.Errorf("%s: %d modes were tried", tt.what, tried)
		}
		for _, mode := range []capability.Mode{capability.EnforceFS, capability.Enforce} {
			err := s.Check(mode)
			var lacks *UnsupportedError
			switch passed := slices.Contains(tt.pass, mode); {
			case passed && err != nil:
				t.Errorf("%s: %s: %v", tt.what, mode, err)
			case !passed && (!errors.As(err, &lacks) || !errors.Is(err, failed) || lacks.Mode != mode):
				t.Errorf("%s: %s: %v", tt.what, mode, err)
			}
		}
	}
	if err := (Support{}).Check(capability.Enforce); err == nil {
		t.Error("a machine that was not asked has cages")
	}
}
