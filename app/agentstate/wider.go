package agentstate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"termic/sandbox/capability"
)

// limitFile holds what every cage could touch that wrote into what is kept beside it.
const limitFile = "limit.json"

// widens reports whether a cage with this limit may touch what one that wrote the kept state could not, and what to note
// once that is dealt with. A note that cannot be read, or is missing, says yes: then instructions are dropped without
// need.
func widens(base string, limit capability.Set) (bool, capability.Set, error) {
	data, err := os.ReadFile(filepath.Join(base, limitFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, capability.Set{}, err
	}
	var before capability.Set
	if err != nil || json.Unmarshal(data, &before) != nil {
		return true, limit, nil
	}
	if _, within := limit.Within(before); !within {
		return true, limit, nil
	}
	return false, capability.Meet(limit, before), nil
}

func noteLimit(base string, limit capability.Set) error {
	data, err := json.Marshal(limit)
	if err != nil {
		return err
	}
	file := filepath.Join(base, limitFile)
	if err := os.WriteFile(file+".next", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".next", file)
}
