package profile_test

import (
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
)

func TestEnviron(t *testing.T) {
	person := []string{"HOME=/home/link", "PATH=/usr/bin", "LANG=de_DE.UTF-8", "LC_TIME=C", "TERM=xterm", "TZ=UTC", "TMPDIR=/var/x",
		"SSH_AUTH_SOCK=/run/ssh", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus", "DISPLAY=:0", "LD_PRELOAD=/x.so", "BASH_ENV=/x", "NODE_OPTIONS=-r x",
		"GIT_DIR=/x", "AWS_SECRET_ACCESS_KEY=s", "GITHUB_TOKEN=s", "API_KEY=s", "TERMIC_MCP_TOKEN=full", "XDG_RUNTIME_DIR=/run/user/1000",
		"BASH_FUNC_ls%%=() { x; }", "http_proxy=http://corp:3128", "broken"}
	set := capability.Set{Env: must(capability.NamesOf("API_KEY", "TERMIC_MCP_TOKEN", "HOME"))}
	tests := []struct {
		name string
		mode capability.Mode
		want []string
	}{
		{"an open network", capability.EnforceFS, []string{"API_KEY=s", "HOME=/home/u", "LANG=de_DE.UTF-8", "LC_TIME=C", "PATH=/usr/bin", "TERM=xterm",
			"TMPDIR=/tmp", "TZ=UTC", "XDG_RUNTIME_DIR=/run/user/1000"}},
		{"a network of its own", capability.Enforce, []string{"ALL_PROXY=http://127.0.0.1:24312", "API_KEY=s", "HOME=/home/u", "HTTPS_PROXY=http://127.0.0.1:24312",
			"HTTP_PROXY=http://127.0.0.1:24312", "LANG=de_DE.UTF-8", "LC_TIME=C", "NODE_USE_ENV_PROXY=1", "NO_PROXY=127.0.0.1,localhost,::1", "PATH=/usr/bin",
			"TERM=xterm", "TMPDIR=/tmp", "TZ=UTC", "XDG_RUNTIME_DIR=/run/user/1000", "all_proxy=http://127.0.0.1:24312", "http_proxy=http://127.0.0.1:24312",
			"https_proxy=http://127.0.0.1:24312", "no_proxy=127.0.0.1,localhost,::1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, set, dirs(), machine())
			p.Mode = tt.mode
			if got := p.Environ(person, 1000); !slices.Equal(got, tt.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), strings.Join(tt.want, " "))
			}
		})
	}
}
