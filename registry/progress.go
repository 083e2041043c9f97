package registry

import (
	"context"
	"time"
)

type progressKey struct{}

// WithProgress returns a context whose calls tell report how far they have come. report must return at once.
func WithProgress(ctx context.Context, report func(text string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress says in a few words how far a call has come, for whoever waits for it. It is a courtesy: nobody may
// listen, and reports that come faster than they can be passed on replace each other. Text is shown to the caller, so it
// must hold nothing that the result would not.
func Progress(ctx context.Context, text string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(text)
	}
}

// Reports keeps the latest that a call reported until it is passed on.
type Reports chan string

// NewReports returns an empty one.
func NewReports() Reports { return make(Reports, 1) }

// Say keeps text, in place of an earlier one that was not passed on. It returns at once.
func (r Reports) Say(text string) {
	for {
		select {
		case r <- text:
			return
		default:
		}
		select {
		case <-r:
		default:
		}
	}
}

// Watched runs call, and meanwhile passes its progress on to tell, at most once in gap. tell is called by one goroutine at a
// time, and not any more when Watched returns.
func Watched(ctx context.Context, gap time.Duration, tell func(text string), call func(ctx context.Context)) {
	reports, over, gone := NewReports(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-over:
				return
			case text := <-reports:
				tell(text)
			}
			select {
			case <-over:
				return
			case <-time.After(gap):
			}
		}
	}()
	defer func() { close(over); <-gone }()
	call(WithProgress(ctx, reports.Say))
}
