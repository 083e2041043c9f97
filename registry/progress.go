package registry

import "context"

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
