package registry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestAReadLivesAsLongAsItsCallerAndItsGrant(t *testing.T) {
	for _, row := range []struct {
		says  string
		waits bool // somebody waits for the end before it comes
		end   func(caller context.CancelFunc, grant chan struct{}, stop func())
		cause error
	}{
		{"the caller goes away", false, func(caller context.CancelFunc, _ chan struct{}, _ func()) { caller() }, context.Canceled},
		{"the caller goes away, and somebody waits", true, func(caller context.CancelFunc, _ chan struct{}, _ func()) { caller() }, context.Canceled},
		{"the grant ends", false, func(_ context.CancelFunc, grant chan struct{}, _ func()) { close(grant) }, errGrantEnded},
		{"the grant ends, and somebody waits", true, func(_ context.CancelFunc, grant chan struct{}, _ func()) { close(grant) }, errGrantEnded},
		{"the handler returns", false, func(_ context.CancelFunc, _ chan struct{}, stop func()) { stop() }, context.Canceled},
		{"the handler returns, and somebody waits", true, func(_ context.CancelFunc, _ chan struct{}, stop func()) { stop(); stop() }, context.Canceled},
	} {
		t.Run(row.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type name struct{}
				parent, caller := context.WithCancel(context.WithValue(t.Context(), name{}, "kept"))
				defer caller()
				grant := make(chan struct{})
				ctx, stop := lifetime(parent, &Verb{Class: Read}, grant)
				defer stop()
				if row.waits {
					child, cancel := context.WithCancel(ctx)
					defer cancel()
					defer func() {
						if <-child.Done(); !errors.Is(context.Cause(child), row.cause) {
							t.Errorf("what was made of it ended with %v, want %v", context.Cause(child), row.cause)
						}
					}()
				}
				if ctx.Err() != nil || context.Cause(ctx) != nil || ctx.Value(name{}) != "kept" {
					t.Fatalf("before the end: %v, %v, value %v", ctx.Err(), context.Cause(ctx), ctx.Value(name{}))
				}
				row.end(caller, grant, stop)
				if err := ctx.Err(); !errors.Is(err, context.Canceled) {
					t.Errorf("after the end: %v", err)
				}
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, row.cause) {
					t.Errorf("it ended with %v, want %v", cause, row.cause)
				}
			})
		})
	}
}

func TestAWriteLivesToItsEnd(t *testing.T) {
	parent, caller := context.WithCancel(t.Context())
	grant := make(chan struct{})
	caller()
	close(grant)
	ctx, stop := lifetime(parent, &Verb{Class: Write}, grant)
	defer stop()
	if ctx.Err() != nil || ctx.Done() != nil {
		t.Errorf("a write ends with its caller: %v", ctx.Err())
	}
}
