package shellenv

import (
	"path/filepath"
	"slices"
	"strings"
)

// foreign are variables that speak of the program that the app was started from or packed in, and would be lies in a terminal. A
// name that ends in * is a prefix.
var foreign = []string{
	// Terminals and multiplexers.
	"TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "TMUX", "TMUX_*", "STY", "VTE_VERSION", "KITTY_*", "WEZTERM_*",
	"ITERM_*", "LC_TERMINAL*", "GNOME_TERMINAL_*", "KONSOLE_*", "ALACRITTY_*", "GHOSTTY_*", "WT_SESSION", "ZELLIJ*",
	// Editors. The askpass and browser helpers of VS Code are scripts that talk to the window that set them.
	"VSCODE_*", "ELECTRON_*", "CHROME_DESKTOP", "ORIGINAL_XDG_CURRENT_DESKTOP", "GIO_LAUNCHED_DESKTOP_FILE*", "BAMF_DESKTOP_FILE_HINT",
	"TERMINAL_EMULATOR", "IDEA_*", "INTELLIJ_*", "__INTELLIJ_*", "PYCHARM_HOSTED", "ZED_*", "NVIM", "NVIM_*", "VIM", "VIMRUNTIME", "INSIDE_EMACS",
	// Packagings: AppImage, snap, flatpak.
	"APPDIR", "APPIMAGE", "ARGV0", "OWD", "SNAP", "SNAP_*", "FLATPAK_*",
	// The shell that the app was started from.
	captureMark, "SHLVL", "_", "OLDPWD", "PWD", "PS1",
}

// fromEditors are variables that are the person's own unless they point into an editor.
var fromEditors = []string{"GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "BROWSER", "NODE_OPTIONS", "PYTHONSTARTUP", "ZDOTDIR", "USER_ZDOTDIR"}

// Clean returns environ without what the program that started the app has left in it. In an AppImage or snap it takes the package's
// directory out of every variable, whatever its name: PATH and XDG_DATA_DIRS lose an entry, PYTHONHOME goes.
func Clean(environ []string) []string {
	inside := packageDirs(environ)
	var out []string
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || isForeign(name) || slices.Contains(fromEditors, name) && isEditors(value) {
			continue
		}
		kept, ok := without(value, inside)
		if !ok {
			continue
		}
		out = append(out, name+"="+kept)
	}
	return out
}

func isForeign(name string) bool {
	return slices.ContainsFunc(foreign, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return name == pattern || wild && strings.HasPrefix(name, prefix)
	})
}

func isEditors(value string) bool {
	lower := strings.ToLower(value)
	return slices.ContainsFunc([]string{"vscode", "visual studio code", "cursor", "js-debug", "windsurf", "jetbrains"}, func(mark string) bool {
		return strings.Contains(lower, mark)
	})
}

// packageDirs are where the package lies that the app was started from, if it was.
func packageDirs(environ []string) []string {
	var dirs []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if (name == "APPDIR" || name == "SNAP") && filepath.IsAbs(value) && filepath.Clean(value) != "/" {
			dirs = append(dirs, filepath.Clean(value))
		}
	}
	return dirs
}

// without returns a value without its entries below dirs; false when that was all there was.
func without(value string, dirs []string) (string, bool) {
	below := func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
	}
	entries := strings.Split(value, ":")
	kept := slices.DeleteFunc(slices.Clone(entries), below)
	if len(kept) == len(entries) {
		return value, true
	}
	// AppRun writes "$APPDIR/lib:$LD_LIBRARY_PATH", which leaves an empty entry where there was nothing; for the loader that would be
	// the working directory.
	kept = slices.DeleteFunc(kept, func(entry string) bool { return entry == "" })
	return strings.Join(kept, ":"), len(kept) > 0
}
