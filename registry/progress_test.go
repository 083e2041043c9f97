package registry

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheLatestOfACallsProgressIsPassedOn: no more often than asked for, the latest in place of those between, and nothing after
// the call.
func TestTheLatestOfACallsProgressIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		Watched(t.Context(), time.Second, func(text string) { told = append(told, text) }, func(ctx context.Context) {
			for _, text := range []string{"one", "two", "three"} {
				Progress(ctx, text)
				synctest.Wait()
			}
			time.Sleep(1500 * time.Millisecond)
			Progress(ctx, "four")
		})
		time.Sleep(time.Minute)
		if !slices.Equal(told, []string{"one", "three"}) {
			t.Errorf("told %q", told)
		}
	})
	Progress(t.Context(), "nobody listens")
}
