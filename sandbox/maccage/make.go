package maccage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
)

// Made is a cage with what it was made of.
type Made struct {
	*Cage
	Places seatbelt.Places
	Ports  Pair // none in a mode with an open network
}

// Make starts the cage of a profile. Its own directories are in dir, which is the task's alone, and made anew. The ports are held
// before the first policy is rendered, and those that the profile has no use for are in none.
func Make(ctx context.Context, stage, dir, name string, p profile.Profile, ports *Ports) (*Made, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start cage: %w", err)
	}
	m := &Made{}
	var err error
	if m.Places, err = directories(dir); err != nil {
		return nil, fmt.Errorf("start cage: make its directories: %w", err)
	}
	var named []*Port
	if p.Mode == capability.Enforce {
		if m.Ports, err = ports.Hold(name); err != nil {
			return nil, fmt.Errorf("start cage: %w", err)
		}
		m.Places.MCP, m.Places.Proxy = m.Ports.MCP.Number(), m.Ports.Proxy.Number()
		named = []*Port{m.Ports.MCP, m.Ports.Proxy}
	}
	if err := fill(p, m.Places); err != nil {
		return nil, fmt.Errorf("start cage: fill its directories: %w", err)
	}
	policy := func(terminal string) (string, error) {
		at := m.Places
		at.Terminal = terminal
		return seatbelt.Render(p, at)
	}
	if _, err := policy(""); err != nil { // now, and not with the first program
		return nil, err
	}
	clear := func() { _ = Clear(filepath.Dir(m.Places.Home)) } // what cannot be removed now is tried again with the next
	m.Cage, err = Start(Spec{Stage: stage, Policy: policy, Ports: named, ended: clear})
	return m, err
}

// Directories of a cage, in the task's.
const (
	homeDir     = "home"
	tempDir     = "temp"
	programsDir = "programs"
	goneDir     = "gone"
)

// directories makes them, empty. What was there an earlier cage wrote: it is renamed, which nothing in it can hinder, and
// removed as far as it can be.
func directories(dir string) (seatbelt.Places, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return seatbelt.Places{}, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return seatbelt.Places{}, err
	}
	if err := Clear(real); err != nil {
		return seatbelt.Places{}, err
	}
	at := seatbelt.Places{Home: filepath.Join(real, homeDir), Temp: filepath.Join(real, tempDir), Programs: filepath.Join(real, programsDir)}
	return at, errors.Join(os.Mkdir(at.Home, 0o700), os.Mkdir(at.Temp, 0o700), os.Mkdir(at.Programs, 0o700))
}

// Clear takes away the directories of a cage that has ended.
func Clear(dir string) error {
	gone := filepath.Join(dir, goneDir)
	if err := os.MkdirAll(gone, 0o700); err != nil {
		return err
	}
	for _, name := range []string{homeDir, tempDir, programsDir} {
		old := filepath.Join(dir, name)
		info, err := os.Lstat(old)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil && info.IsDir() {
			err = os.Chmod(old, 0o700) // a directory that is closed to its owner cannot be moved everywhere
		}
		if err != nil {
			return err
		}
		to, err := os.MkdirTemp(gone, name+"-")
		if err != nil {
			return err
		}
		if err := os.Rename(old, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	_ = os.RemoveAll(gone) // what cannot be removed now is tried again with the next
	return nil
}

// fill makes the links of the cage's home, and its git. Nothing of the cage runs yet.
func fill(p profile.Profile, at seatbelt.Places) error {
	links, err := seatbelt.Links(p, at)
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(l.Path), 0o700), os.Symlink(l.Target, l.Path)); err != nil {
			return err
		}
	}
	file := seatbelt.GitFile(p)
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	script, err := seatbelt.Git(p, at, string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at.Programs, "git"), []byte(script), 0o700)
}
