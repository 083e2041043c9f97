//go:build unix

package gitview

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"termic/app/git"
	"termic/app/safefile"
)

// maxStashLog bounds the log of stashes that is read: some 300 bytes each.
const maxStashLog = 1 << 20

// Stashes returns the stashes of a private directory, the newest first. The agent's files are read as data and no program runs, so
// that it needs no cage; what they say is the agent's claim.
func Stashes(private string) ([]KeptStash, error) {
	dir, err := safefile.Hold(private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list stashes: %w", err)
	}
	defer dir.Close()
	log, err := dir.Read("logs/refs/stash", maxStashLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list stashes: %w", err)
	}
	return parseStashes(string(log)), nil
}

// parseStashes reads git's log of refs/stash: "OLD NEW NAME <MAIL> TIME ZONE\tMESSAGE", the newest last. Lines that are none are left
// out, and so are those beyond maxStashes.
func parseStashes(log string) (list []KeptStash) {
	lines := slices.Collect(strings.Lines(log))
	for _, line := range slices.Backward(lines) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.SplitN(head, " ", 3)
		if len(list) == maxStashes {
			break
		}
		if len(fields) == 3 && len(fields[0]) == len(fields[1]) && git.OID(fields[1]).Valid() { // OLD of the first is all zeros
			list = append(list, KeptStash{git.OID(fields[1]), message[:min(len(message), maxMessage)]})
		}
	}
	return list
}
