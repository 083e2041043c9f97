package store

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Names of our making: no separator, no leading dot (temporary files) or dash, nothing that a shell or terminal would
// interpret. 128 bytes leave room for a suffix within NAME_MAX (255).
var (
	validElem = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	// Data files are lower case throughout: macOS folds case, and two ids must never share a file there.
	validFile = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,127}$`)
	// Secrets have fixed endings, so that an interrupted write of one is recognised by its name alone.
	validSecret = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,127}(token|port)$`)
	// What renameio calls its temporary files: a dot, the target's name, a random number of at most 19 digits.
	tempName = regexp.MustCompile(`^\.[a-z0-9][a-z0-9._-]*(\.json|\.bak|token|port)[0-9]{1,19}$`)
)

// join returns the slash-separated relative path of elem, or ErrName.
func join(elem []string) (string, error) {
	if len(elem) == 0 {
		return "", fmt.Errorf("%w: empty", ErrName)
	}
	for _, e := range elem {
		if !validElem.MatchString(e) {
			return "", fmt.Errorf("%w: %q", ErrName, e)
		}
	}
	return strings.Join(elem, "/"), nil
}

// joinSecret returns the slash-separated name of a secret as it is when it is valid, or ErrName.
func joinSecret(name string) (string, error) {
	rel, err := join(strings.Split(name, "/"))
	if err == nil && !validSecret.MatchString(path.Base(rel)) {
		err = fmt.Errorf("%w: %q does not end in token or port", ErrName, rel)
	}
	return rel, err
}
