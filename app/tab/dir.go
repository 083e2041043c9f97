package tab

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDir bounds a directory that a program reports, in bytes: it is shown, and nothing else.
const maxDir = 512

// below returns which directory of the checkout a report of the working directory (OSC 7, file://host/path) names, relative to the
// checkout; "." for the checkout itself, empty for any other place, another machine's too. The report is a claim of whatever writes to the
// terminal, and the path may lead out through a link: it is shown, and never opened.
func below(checkout, report string) string {
	at, err := url.Parse(report)
	if err != nil || at.Scheme != "file" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || !thisMachine(at.Host) || !filepath.IsAbs(at.Path) {
		return ""
	}
	rel, err := filepath.Rel(checkout, filepath.Clean(at.Path))
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || len(rel) > maxDir || strings.ContainsFunc(rel, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return ""
	}
	return rel
}

// thisMachine tells whether a host's name means this machine: a shell on another one, over ssh, reports that one's.
func thisMachine(host string) bool {
	if host == "" || host == "localhost" {
		return true
	}
	name, err := os.Hostname()
	return err == nil && strings.EqualFold(host, name)
}
