package profile

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// homeSecrets are the paths below a home directory that hold keys, tokens, cookies, histories, or the state of
// agents, in which there are refresh tokens and the transcripts of other projects.
var homeSecrets = []string{
	".ssh", ".gnupg", ".pki", ".netrc", ".authinfo", ".git-credentials", ".password-store", ".age", ".config/sops",
	".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers", ".terraform.d", ".terraformrc",
	".vault-token", ".config/doctl", ".config/hcloud", ".fly", ".config/heroku", ".oci", ".boto", ".s3cfg",
	".config/rclone", ".config/gh", ".config/hub", ".config/glab-cli", ".config/git/credentials", ".config/op",
	".npmrc", ".yarnrc.yml", ".pypirc", ".config/pip", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml",
	".m2/settings.xml", ".gradle/gradle.properties", ".nuget", ".composer/auth.json", ".config/composer/auth.json",
	".pgpass", ".my.cnf", ".mylogin.cnf", ".local/share/keyrings", ".local/share/kwalletd",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".bash_history", ".zsh_history", ".local/share/fish", ".python_history", ".node_repl_history", ".psql_history",
	".claude", ".claude.json", ".codex", ".gemini", ".local/share/opencode", ".config/opencode", ".config/github-copilot",
	".Xauthority", ".ICEauthority", ".config/pulse/cookie",
	"Library/Keychains", "Library/Cookies", "Library/Application Support",
}

// programs are directories inside homeSecrets in which agents install themselves.
var programs = []string{".claude/local"}

// systemSecrets are secrets of the machine, and the sockets that give power over it.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private",
	"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_dsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
	"/run/docker.sock", "/run/podman", "/run/containerd", "/run/dbus", "/run/systemd/private", "/tmp/.X11-unix",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/libvirt", "/var/lib/sss", "/var/log",
}

// homeExecuted are the paths below a home directory that the person's own programs execute or obey: none of them may
// be written from a cage, nor anything around them.
var homeExecuted = []string{
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".inputrc",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".oh-my-zsh", ".config/fish", ".config/nushell",
	".gitconfig", ".config/git", ".tmux.conf", ".screenrc", ".vimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d",
	".config/autostart", ".config/systemd", ".local/share/systemd", ".local/share/applications", ".config/environment.d",
	".vscode", ".vscode-server", ".config/Code", ".config/VSCodium", ".config/Cursor", ".config/zed", ".idea", ".local/share/JetBrains",
	"bin", ".local/bin", ".local/lib", ".cargo", "go/bin", ".bun", ".deno", ".nvm", ".pyenv", ".rbenv", ".rustup", ".asdf", ".volta",
	".cache", ".npm", "go/pkg", ".gradle", ".m2", ".pnpm-store", ".local/share/pnpm",
	".direnvrc", ".config/direnv", ".envrc", ".gdbinit", ".lldbinit", ".psqlrc", ".pythonrc", ".editorconfig",
	"Library/LaunchAgents",
}

// toolchains are where programs for development lie below a home directory. They are read-only in a cage.
var toolchains = []string{
	".nvm", ".fnm", ".local/share/fnm", ".volta", ".npm-global", ".bun/bin", ".deno/bin", ".local/share/pnpm",
	".pyenv", ".local/share/uv", ".local/share/pipx", ".rbenv", ".rvm", ".rustup", ".cargo/bin", "go/bin", "sdk",
	".sdkman/candidates", ".jenv", ".asdf", ".local/share/mise", ".juliaup", ".ghcup", ".local/bin", ".local/lib",
}

// Toolchains returns those directories of development tools below a home directory that exist, for Dirs.Read.
func Toolchains(disk Disk, home string) []string {
	var found []string
	for _, rel := range toolchains {
		if entry, err := disk.Lstat(path.Join(home, rel)); err == nil && entry.Mode.IsDir() {
			found = append(found, path.Join(home, rel))
		}
	}
	return found
}

// closed returns what below dir others than the owner's group may not read: for root, who may read all of it, the
// permissions of the files say what is meant to be secret. A directory that is closed stands for all below it.
func closed(disk Disk, dir string) ([]string, error) {
	names, err := disk.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var found []string
	for _, name := range names {
		entry, err := disk.Lstat(path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		open := entry.Mode.Perm()&0o004 != 0
		switch {
		case entry.Mode&fs.ModeSymlink != 0:
		case entry.Mode.IsDir() && open && entry.Mode.Perm()&0o001 != 0:
			below, err := closed(disk, path.Join(dir, name))
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		case entry.Mode.IsDir(), !open:
			found = append(found, path.Join(dir, name))
		}
	}
	return found, nil
}

// executed are the files and directories of a checkout that tools outside execute, or take instructions from, by
// themselves. In a cage they are read-only when they exist. Those that do not exist are left alone: placeholders would
// litter the project, so what an agent adds there is shown before anything outside the cage runs in the checkout.
var executed = []string{
	".git", ".gitmodules", ".vscode", ".idea", ".zed", ".fleet", ".mcp.json", ".cursor", ".codex", ".gemini", ".opencode",
	".claude/settings*.json", ".claude/hooks", ".claude/commands", ".claude/agents", ".claude/skills",
	".windsurf", ".continue", ".kiro", ".amazonq", ".aider.conf.yml", "opencode.json", "opencode.jsonc",
	".envrc", ".mise.toml", "mise.toml", ".autoenv.zsh", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".dir-locals-2.el",
	".husky", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook-local.yml",
	".github/workflows", ".devcontainer", ".devcontainer.json", ".termic.toml",
}

// Executed returns them, relative to the checkout; "*" stands for any part of a name.
func Executed() []string { return slices.Clone(executed) }

// executedIn returns those of executed that are in the checkout.
func executedIn(disk Disk, checkout string) ([]string, error) {
	var found []string
	for _, rel := range executed {
		dir, base := path.Split(rel)
		if !strings.Contains(base, "*") {
			found = append(found, path.Join(checkout, rel))
			continue
		}
		names, err := readDirIfAny(disk, path.Join(checkout, dir))
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			if ok, _ := path.Match(base, name); ok { // the patterns are constants; TestPatterns
				found = append(found, path.Join(checkout, dir, name))
			}
		}
	}
	return found, nil
}
