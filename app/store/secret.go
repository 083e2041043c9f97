package store

import (
	"fmt"
	"strings"
)

// WriteSecret makes value the content of a token or port file: mode 0600 from its first byte on, replaced atomically, and a
// symbolic link of that name is replaced, not followed. name may hold directories ("clients/x.token") and ends in "token" or "port".
// value is what can stand in a header: 1 to 4096 visible ASCII characters. It never appears in an error.
func (s *Store) WriteSecret(name, value string) error {
	rel, err := joinSecret(name)
	if err != nil {
		return fmt.Errorf("write secret: %w", err)
	}
	if value == "" || len(value) > maxSecret || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("write %s: value is empty, too long, or not visible ASCII", rel)
	}
	done, err := s.writing()
	if err != nil {
		return fmt.Errorf("write %s: %w", rel, err)
	}
	defer done()
	st := s.state(rel)
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := s.replace(rel, []byte(value)); err != nil {
		return fmt.Errorf("write %s: %w", rel, err)
	}
	return nil
}

// RemoveSecret deletes a token or port file durably; one that is absent is no error. It needs no free disk (I14).
func (s *Store) RemoveSecret(name string) error {
	rel, err := joinSecret(name)
	if err != nil {
		return fmt.Errorf("remove secret: %w", err)
	}
	done, err := s.writing()
	if err != nil {
		return fmt.Errorf("remove %s: %w", rel, err)
	}
	defer done()
	st := s.state(rel)
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := s.remove(rel); err != nil {
		return fmt.Errorf("remove %s: %w", rel, err)
	}
	return nil
}
