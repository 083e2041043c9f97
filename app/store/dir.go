package store

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// EnvDir names the variable that moves the data directory.
const EnvDir = "TERMIC_DATA_DIR"

// Dir returns the absolute, cleaned path of termic's data directory; it touches no disk. env is os.Getenv or a stand-in.
//
// A relative TERMIC_DATA_DIR is ErrRelative: it would mean another directory for each program that asks, and the CLI
// would not find the app. ErrNoHome when the platform's place needs HOME and HOME is absent or relative; the user
// database is not asked, since an environment without HOME is usually a service whose data should not land anywhere by guess.
func Dir(env func(string) string) (string, error) { return dirFor(runtime.GOOS, env) }

func dirFor(goos string, env func(string) string) (string, error) {
	if dir := env(EnvDir); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s=%s: %w", EnvDir, dir, ErrRelative)
		}
		return filepath.Clean(dir), nil
	}
	if goos != "darwin" {
		// XDG Base Directory Specification 0.8: a relative path is invalid and is ignored.
		if dir := env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "termic"), nil
		}
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("find the data directory: %w: set HOME or %s", ErrNoHome, EnvDir)
	}
	if goos == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "termic"), nil
	}
	return filepath.Join(home, ".local", "share", "termic"), nil
}
