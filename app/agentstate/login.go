package agentstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// login is how an agent's login is found, copied without what renews it, and renewed.
type login struct {
	file func(p person) string
	// copy returns what a cage gets of a login file; no files when there is no login in it that serves there.
	copy  func(p person, data []byte) (copied, error)
	renew renewal       // zero: the program has no way but to ask a model
	early time.Duration // before the end, from when on it is renewed
}

// copied is what a cage gets of a login.
type copied struct {
	files   map[string]string // by name in the login directory
	expires time.Time         // zero: not known, or never
	hosts   []string          // that the login needs, besides those of the agent
	notes   []string
}

// serves reports whether there is a login, and it has not ended.
func (c copied) serves() bool {
	return len(c.files) > 0 && (c.expires.IsZero() || time.Now().Before(c.expires))
}

// errLeak is a copy that holds what renews the login: a defect of ours, or a file of a form that we do not know.
var errLeak = errors.New("the copy of the login would hold what renews it")

// loginOf reads a person's login and returns its copy. No file is no copy.
func (l login) of(p person) (copied, error) {
	data, err := readOwn(l.file(p))
	if err != nil || data == nil {
		return copied{}, err
	}
	c, err := l.copy(p, data)
	if err != nil {
		return copied{}, err
	}
	for _, secret := range renewing(data) {
		for _, content := range c.files {
			if strings.Contains(content, secret) {
				return copied{}, errLeak
			}
		}
	}
	return c, nil
}

// shortest is the length from which a string is looked for in copies, in bytes. Refresh tokens have 40 and more.
const shortest = 8

// renewing returns the strings of a login file that stand under a name with "refresh" in it, at any depth.
func renewing(data []byte) []string {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return nil
	}
	var found []string
	var walk func(v any, under bool)
	walk = func(v any, under bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, below := range v {
				walk(below, under || strings.Contains(strings.ToLower(name), "refresh") && name != "last_refresh")
			}
		case []any:
			for _, below := range v {
				walk(below, under)
			}
		case string:
			if under && len(v) >= shortest {
				found = append(found, v)
			}
		}
	}
	walk(value, false)
	return found
}

// put makes a login directory hold the files of a copy and nothing else. Each is replaced by rename: the cage sees the
// old one or the new one, whole. What comes before the rename lies beside the directory, where no cage looks.
func put(dir string, files map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, name)
		if have, err := os.ReadFile(file); err == nil && string(have) == files[name] {
			continue
		}
		next := dir + ".next"
		if err := os.WriteFile(next, []byte(files[name]), 0o600); err != nil {
			return fmt.Errorf("write copy of a login: %w", err)
		}
		if err := os.Rename(next, file); err != nil {
			return fmt.Errorf("write copy of a login: %w", err)
		}
	}
	for _, entry := range entries {
		if _, ok := files[entry.Name()]; !ok {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}
