package task

import (
	"os"
	"path/filepath"

	"termic/app/agent"
	"termic/app/store"
)

// hook returns the program that agents' hooks run outside any cage: our own; empty when it is not there.
func (s *Tasks) hook() string {
	if info, err := os.Stat(s.CLI); err != nil || !info.Mode().IsRegular() || !filepath.IsAbs(s.CLI) {
		return ""
	}
	return s.CLI
}

// writePlugins writes our plugin for opencode into a directory of ours, which it is pointed to at each start, and returns that
// directory.
func writePlugins(s *store.Store) (string, error) {
	dir, err := s.Subdir("opencode")
	if err != nil {
		return "", err
	}
	plugins := filepath.Join(dir, "plugins")
	if err := os.MkdirAll(plugins, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(plugins, "termic.js"), []byte(agent.OpenCodePlugin), 0o600)
}
