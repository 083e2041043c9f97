package tab

import "strings"

// A program may offer a text to the person's clipboard (OSC 52) while nobody looks at its tab. The last such offer is kept until
// the person has answered it, and goes to who comes to look: the window, which asks. Nothing here touches a clipboard.

// offers keeps an offer; the screen calls it inside Write, with t.mu held.
func (t *Tab) offers(payload string) {
	if isOffer(payload) {
		t.offer = payload
	}
}

// isOffer tells whether the payload of an OSC 52 is targets, ";" and base64, and nothing that would not stay inside of the command
// when it is sent on. A query ("?") and an empty text are none.
func isOffer(payload string) bool {
	targets, data, found := strings.Cut(payload, ";")
	if !found || data == "" || strings.Trim(targets, "cpqs01234567") != "" {
		return false
	}
	return !strings.ContainsFunc(data, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '/' && r != '='
	})
}

// WantOffers has the watcher told of the offer that nobody has answered, after each snapshot. Live ones are in the output anyway.
func (w *Watcher) WantOffers() {
	w.tab.mu.Lock()
	defer w.tab.mu.Unlock()
	w.offers = true
}

// unanswered returns the kept offer as the program made it, or nothing; tab.mu is held.
func (w *Watcher) unanswered() []byte {
	if !w.offers || w.tab.offer == "" {
		return nil
	}
	return []byte("\x1b]52;" + w.tab.offer + "\a")
}

// Answered says that the person was asked: the offer is not made again.
func (t *Tab) Answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.offer = ""
}
