package screen

import (
	"net/url"
	"strings"
)

// setLink is OSC 8: "parameters;URI", an empty URI ends the link. A link with another scheme than these is none: its text stays.
func (s *Screen) setLink(text string) {
	_, uri, ok := strings.Cut(text, ";")
	if !ok {
		return
	}
	s.link = ""
	if len(text) <= maxLink && clean(text, maxLink) == text && safeLink(uri) {
		s.link = text
	}
	s.decorate()
}

// safeLink tells whether opening a URI, which the program in the terminal chose, does nothing but show a page or begin a mail.
// Others run programs: file: opens a .desktop file, and editors' own schemes install extensions or run tasks.
func safeLink(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil {
		return false
	}
	switch u.Scheme { // url.Parse has made it lower case
	case "http", "https":
		return u.Host != "" && u.User == nil // a user name makes http://bank.example@evil.example look like the bank
	case "mailto":
		return true
	}
	return false
}

// uriOf returns the URI of a link as it is kept.
func uriOf(link string) string {
	_, uri, _ := strings.Cut(link, ";")
	return uri
}
