package task

import (
	"context"

	"termic/sandbox/profile"
)

// gitOwn returns what a cage has of its task's git.
func (s *Tasks) gitOwn(context.Context, Record) ([]profile.Own, error) { return nil, nil }
