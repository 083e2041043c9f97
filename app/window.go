package app

import (
	"context"

	"termic/app/audit"
	"termic/app/gui"
	"termic/app/hold"
	"termic/registry"
	"termic/registry/ident"
	"termic/registry/verbs"
)

// window is what the app's window is told of: it stands between the router and the audit log, so that each call
// is shown once it is kept. It implements registry.Sink and handlers.Window.
type window struct {
	log  *audit.Log
	feed *gui.Feed
}

// watching returns a window that nobody has opened yet.
func watching(log *audit.Log) *window { return &window{log, gui.NewFeed()} }

// Record implements registry.Sink.
func (w *window) Record(ctx context.Context, event registry.Event) error {
	if err := w.log.Record(ctx, event); err != nil {
		return err
	}
	w.feed.Note(event)
	return nil
}

// shownCalls is how many of the newest calls are told at once: more than a person scrolls through.
const shownCalls = 300

// Calls implements handlers.Window.
func (w *window) Calls(of ident.Task) ([]verbs.Called, error) {
	entries, err := w.log.Tail(shownCalls, func(e audit.Entry) bool {
		return e.Event != nil && !gui.Noise(*e.Event) && (of == "" || e.Event.Task == of || e.Event.Subject.Task == of)
	})
	if err != nil {
		return nil, err
	}
	calls := make([]verbs.Called, len(entries))
	for i, e := range entries {
		calls[i] = gui.CalledOf(*e.Event)
	}
	return calls, nil
}

// Watch implements handlers.Window.
func (w *window) Watch() string { return w.feed.Watch() }

// Show implements handlers.Window.
func (w *window) Show(which ident.Task) bool { return w.feed.Show(which) }

// watchHolds has the window look again whenever a call begins or ceases to wait, until ctx ends.
func (w *window) watchHolds(ctx context.Context, holds *hold.Holds) {
	for {
		_, changed := holds.Pending()
		w.feed.Poke()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// guiStreams are the streams as the page's way in wants them.
type guiStreams struct{ *streams }

// Open implements gui.Streams. The page asks the person about texts for the clipboard (OSC 52), and answers no query.
func (s guiStreams) Open(_ context.Context, ticket string) (gui.Stream, error) {
	opened, err := s.open(ticket, func(number int) bool { return number != 52 && reaches(number) })
	if err != nil {
		return nil, err
	}
	opened.watcher.WantOffers()
	return opened, nil
}
