package mcpserver

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestABoundedContextEndsLikeOneThatIsMadeAtOnce(t *testing.T) {
	type way func(context.Context, time.Duration) (context.Context, func())
	atOnce := func(ctx context.Context, length time.Duration) (context.Context, func()) {
		return context.WithTimeout(ctx, length)
	}
	for _, row := range []struct {
		says string
		then func(cancelParent, stop func())
		want error
	}{
		{"while nothing happens it goes on", func(_, _ func()) {}, nil},
		{"just before its time it goes on", func(_, _ func()) { time.Sleep(time.Minute - 1) }, nil},
		{"at its time it ends", func(_, _ func()) { time.Sleep(time.Minute) }, context.DeadlineExceeded},
		{"it ends with its parent", func(cancelParent, _ func()) { cancelParent() }, context.Canceled},
		{"it ends when the work is over", func(_, stop func()) { stop() }, context.Canceled},
		{"the work may be over twice", func(_, stop func()) { stop(); stop() }, context.Canceled},
		{"what came first counts", func(_, stop func()) { time.Sleep(time.Minute + 1); stop() }, context.DeadlineExceeded},
	} {
		for name, make := range map[string]way{"made when it is waited for": within, "made at once": atOnce} {
			for _, waits := range []string{"", "Done", "child"} { // who waits for the end before it comes
				t.Run(row.says+", "+name+", "+waits, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						parent, cancelParent := context.WithCancel(t.Context())
						defer cancelParent()
						ctx, stop := make(parent, time.Minute)
						defer stop()
						child := ctx
						switch waits {
						case "Done":
							_ = ctx.Done()
						case "child":
							var cancel func()
							child, cancel = context.WithCancel(ctx)
							defer cancel()
						}
						row.then(cancelParent, stop)
						synctest.Wait()
						for _, one := range []context.Context{ctx, child} {
							if got := one.Err(); !errors.Is(got, row.want) {
								t.Errorf("Err is %v, want %v", got, row.want)
							}
							if got := context.Cause(one); !errors.Is(got, row.want) {
								t.Errorf("Cause is %v, want %v", got, row.want)
							}
							select {
							case <-one.Done():
								if row.want == nil {
									t.Error("it is done")
								}
							default:
								if row.want != nil {
									t.Error("it is not done")
								}
							}
						}
						if until, ok := ctx.Deadline(); !ok || time.Until(until) > time.Minute {
							t.Errorf("Deadline is %v, %v", until, ok)
						}
					})
				})
			}
		}
	}
}

func TestAnEarlierDeadlineOfTheParentStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx, stop := within(parent, time.Minute)
		defer stop()
		if until, ok := ctx.Deadline(); !ok || time.Until(until) != time.Second {
			t.Errorf("Deadline is %v, %v", until, ok)
		}
		time.Sleep(time.Second)
		synctest.Wait() // for the timer of the parent
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Err is %v", err)
		}
	})
}
