//go:build !linux

package cgroup

import (
	"context"
	"fmt"
)

// Groups makes none: this system has no control groups.
type Groups struct{}

// Group is a group that there is never one of.
type Group struct{ Held Limits }

var errSystem = fmt.Errorf("%w: this system has no control groups", ErrNone)

// Open returns the groups of this system.
func Open(string, []string) *Groups { return &Groups{} }

// Check says that there are none.
func (*Groups) Check(context.Context) (string, Limits, error) { return "", Limits{}, errSystem }

// Put says that there are none.
func (*Groups) Put(context.Context, string, int, Limits) (*Group, error) { return nil, errSystem }

// Usage is not counted.
func (*Group) Usage() Usage { return Usage{-1, -1} }

// Remove has nothing to remove.
func (*Group) Remove() error { return nil }
