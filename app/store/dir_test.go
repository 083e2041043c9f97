package store

import (
	"errors"
	"testing"
)

func TestDirFollowsThePlatformAndNamesWhatIsMissing(t *testing.T) {
	rows := []struct {
		name, goos string
		env        map[string]string
		want       string
		err        error
	}{
		{"the variable wins", "linux", map[string]string{EnvDir: "/x/y", "XDG_DATA_HOME": "/d", "HOME": "/h"}, "/x/y", nil},
		{"the variable is cleaned", "linux", map[string]string{EnvDir: "/x//y/../z/"}, "/x/z", nil},
		{"a relative variable is refused", "linux", map[string]string{EnvDir: "x", "HOME": "/h"}, "", ErrRelative},
		{"XDG_DATA_HOME", "linux", map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/h"}, "/d/termic", nil},
		{"XDG_DATA_HOME alone", "linux", map[string]string{"XDG_DATA_HOME": "/d"}, "/d/termic", nil},
		{"a relative XDG_DATA_HOME is ignored", "linux", map[string]string{"XDG_DATA_HOME": "d", "HOME": "/h"}, "/h/.local/share/termic", nil},
		{"HOME", "linux", map[string]string{"HOME": "/h"}, "/h/.local/share/termic", nil},
		{"no HOME", "linux", nil, "", ErrNoHome},
		{"a relative HOME", "linux", map[string]string{"HOME": "h"}, "", ErrNoHome},
		{"macOS", "darwin", map[string]string{"HOME": "/Users/a", "XDG_DATA_HOME": "/d"}, "/Users/a/Library/Application Support/termic", nil},
		{"macOS with the variable", "darwin", map[string]string{EnvDir: "/x", "HOME": "/Users/a"}, "/x", nil},
		{"macOS without HOME", "darwin", map[string]string{"XDG_DATA_HOME": "/d"}, "", ErrNoHome},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got, err := dirFor(tt.goos, func(k string) string { return tt.env[k] })
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Dir = %q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}
