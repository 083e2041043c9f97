package ident

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is the longest name in characters: it has to fit a sidebar row, a branch and a directory.
const maxName = 64

// CheckName returns what keeps s from naming a project, a task or a tab, or nil. A name becomes part of a
// branch, a directory and a command line, so the rule is the strictest of the three: letters, digits, dot,
// underscore and hyphen; first a letter or a digit; not what git-check-ref-format(1) forbids. It must be in
// normal form (NFC), since two spellings of one name would be two directories on one file system and the
// same on another; and it must not look like an id.
func CheckName(s string) error {
	switch {
	case s == "":
		return errors.New("a name may not be empty")
	case !utf8.ValidString(s) || !norm.NFC.IsNormalString(s):
		return errors.New("a name must be plain text in normal form (NFC)")
	case utf8.RuneCountInString(s) > maxName:
		return errors.New("a name may have 64 characters at most")
	case strings.Contains(s, "..") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".lock"):
		return errors.New("a name may not hold two dots in a row, or end in a dot or in .lock")
	case looksLikeID(s):
		return errors.New("a name may not look like an id")
	}
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && (unicode.IsMark(r) || strings.ContainsRune("._-", r)) {
			continue
		}
		return errors.New("a name is made of letters, digits, dot, underscore and hyphen, and begins with a letter or a digit")
	}
	return nil
}

func looksLikeID(s string) bool {
	for _, prefix := range []string{taskPrefix, tabPrefix, projectPrefix} {
		if strings.HasPrefix(s, prefix) && len(s) == len(prefix)+encoding.EncodedLen(randomBytes) {
			return true
		}
	}
	return false
}
