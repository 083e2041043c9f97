package shellenv

import (
	"slices"
	"testing"
)

func TestClean(t *testing.T) {
	for name, row := range map[string]struct{ in, want []string }{
		"what is the person's stays": {
			[]string{"HOME=/home/a", "PATH=/usr/bin:/bin", "EDITOR=vim", "LANG=de_DE.UTF-8", "SSH_AUTH_SOCK=/run/x", "EMPTY=", "TERMINFO=/x"},
			[]string{"HOME=/home/a", "PATH=/usr/bin:/bin", "EDITOR=vim", "LANG=de_DE.UTF-8", "SSH_AUTH_SOCK=/run/x", "EMPTY=", "TERMINFO=/x"},
		},
		"another terminal's go": {
			[]string{"TERM=xterm", "TERM_PROGRAM=iTerm.app", "COLORTERM=24bit", "TMUX=/tmp/x", "TMUX_PANE=%1", "STY=1", "WINDOWID=7", "KITTY_PID=1", "LINES=9"}, nil,
		},
		"an editor's go": {
			[]string{"VSCODE_IPC_HOOK=/x", "ELECTRON_RUN_AS_NODE=1", "GIT_ASKPASS=/opt/vscode/askpass.sh", "NODE_OPTIONS=--require /x/js-debug/bootloader.js", "TERMINAL_EMULATOR=JetBrains-JediTerm", "ZED_TERM=true"}, nil,
		},
		"the same names that are the person's stay": {
			[]string{"GIT_ASKPASS=/usr/bin/ksshaskpass", "NODE_OPTIONS=--max-old-space-size=4096"},
			[]string{"GIT_ASKPASS=/usr/bin/ksshaskpass", "NODE_OPTIONS=--max-old-space-size=4096"},
		},
		"an AppImage's directory goes from every variable": {
			[]string{
				"APPDIR=/tmp/.mount_termicX", "APPIMAGE=/home/a/termic.AppImage", "OWD=/home/a", "ARGV0=termic", "PYTHONHOME=/tmp/.mount_termicX/usr",
				"PATH=/tmp/.mount_termicX/usr/bin:/usr/bin:/bin", "XDG_DATA_DIRS=/tmp/.mount_termicX/usr/share:/usr/share",
				"LD_LIBRARY_PATH=/tmp/.mount_termicX/lib:", "OTHER=/tmp/.mount_termicXY/lib",
			},
			[]string{"PATH=/usr/bin:/bin", "XDG_DATA_DIRS=/usr/share", "OTHER=/tmp/.mount_termicXY/lib"},
		},
		"a library path of the person's own stays beside it": {
			[]string{"APPDIR=/tmp/.mount_x", "LD_LIBRARY_PATH=/tmp/.mount_x/lib:/opt/cuda/lib"}, []string{"LD_LIBRARY_PATH=/opt/cuda/lib"},
		},
		"a package directory that says nothing takes nothing": {
			[]string{"APPDIR=/", "PATH=/usr/bin"}, []string{"PATH=/usr/bin"},
		},
		"what has no name goes": {[]string{"=C:=x", "noequals", "A=b"}, []string{"A=b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Clean(row.in)
			if !slices.Equal(got, row.want) {
				t.Errorf("%q\nwant %q", got, row.want)
			}
			if again := Clean(got); !slices.Equal(again, got) {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}
