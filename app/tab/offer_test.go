package tab

import (
	"strings"
	"testing"
	"time"
)

// sees returns what a new watcher gets first.
func sees(t *testing.T, tab *Tab, offers bool) string {
	t.Helper()
	w := tab.Watch()
	defer w.Close()
	if offers {
		w.WantOffers()
	}
	p, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

func TestTheLastOfferToTheClipboardWaitsForWhoLooks(t *testing.T) {
	tab := shell(t)
	say := func(text, mark string) {
		t.Helper()
		if err := tab.Type(t.Context(), []byte("printf '"+text+"'; echo "+mark+"''-there\r")); err != nil {
			t.Fatal(err)
		}
		see(t, tab, mark+"-there")
	}
	say("", "nothing")
	if got := sees(t, tab, true); strings.Contains(got, "\x1b]52") {
		t.Errorf("an offer that nobody made: %q", got)
	}
	say(`\033]52;c;b25l\a\033]52;;dHdv\a`, "two")
	for range 2 { // until it is answered, for each that comes
		if got := sees(t, tab, true); !strings.HasSuffix(got, "\x1b]52;;dHdv\a") || strings.Contains(got, "\x1b]52;c;b25l") {
			t.Errorf("the last offer does not follow the picture: %q", got)
		}
	}
	if got := sees(t, tab, false); strings.Contains(got, "\x1b]52") {
		t.Errorf("told to who did not ask: %q", got)
	}
	tab.Answered()
	if got := sees(t, tab, true); strings.Contains(got, "\x1b]52") {
		t.Errorf("offered again after its answer: %q", got)
	}
	say(`\033]52;c;?\a\033]52;c;\a\033]52;x;b25l\a\033]52;c;no text\a`, "none")
	if got := sees(t, tab, true); strings.Contains(got, "\x1b]52") {
		t.Errorf("what is no offer was kept: %q", got)
	}
}

// A watcher that fell behind is drawn a picture, and with it the offer that was in what it lost.
func TestAnOfferIsNotLostWithOutputThatIsDropped(t *testing.T) {
	tab := shell(t)
	w := tab.Watch()
	defer w.Close()
	w.WantOffers()
	if _, err := w.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tab.Type(t.Context(), []byte(`printf '\033]52;c;b25l\a'; head -c 3000000 /dev/zero | tr '\0' x; echo; echo all''-there`+"\r")); err != nil {
		t.Fatal(err)
	}
	see(t, tab, "all-there")
	deadline := time.Now().Add(20 * time.Second)
	for got := ""; !strings.Contains(got, "all-there"); {
		p, err := w.Next(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%q, %v", got, err)
		}
		if got = string(p); strings.Contains(got, "all-there") && !strings.HasSuffix(got, "\x1b]52;c;b25l\a") {
			t.Errorf("the picture comes without the offer: %q", got)
		}
	}
}

func FuzzIsOffer(f *testing.F) {
	for _, seed := range []string{"c;b25l", ";dHdv", "c;?", "c;", "c;b25l\x1b\\", "cs0;AA==", "x;AA=="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		if isOffer(payload) && strings.ContainsFunc(payload, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q would leave its command", payload)
		}
	})
}
