package profile

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"termic/sandbox/capability"
)

// everyCage are the variables that every cage is passed as they are. What is in no list is dropped: sockets of the
// session (SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, DISPLAY), code that programs run (LD_PRELOAD, BASH_ENV,
// NODE_OPTIONS, PROMPT_COMMAND), redirections (GIT_DIR, DOCKER_HOST) and whatever holds a key or a token.
var everyCage = []string{"USER", "LOGNAME", "SHELL", "PATH", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ"}

// Inside is where a cage's processes find what is theirs.
type Inside struct {
	Home, Temp string
	Runtime    string // XDG_RUNTIME_DIR; empty: the system has none
	Programs   string // a directory before all others in the PATH; empty: none
	Proxy      uint16 // the port of the cage's proxy, in a cage that has one
}

// Environ is EnvironAt where a cage has private paths of the usual names.
func (p Profile) Environ(person []string, uid int) []string {
	return p.EnvironAt(Inside{Home: p.Home, Temp: "/tmp", Runtime: path.Join("/run/user", strconv.Itoa(uid)), Proxy: ProxyPort}, person)
}

// EnvironAt returns the environment of a process in the cage, of that of the person ("NAME=value" each): what every
// cage is passed, what the task's capability names, and what the cage itself is (its home, its temporary directory,
// its proxy). Names that begin with TERMIC_ are never passed: a full token could be in one.
func (p Profile) EnvironAt(in Inside, person []string) []string {
	env := map[string]string{}
	for _, entry := range person {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || strings.HasPrefix(name, "TERMIC_") {
			continue
		}
		if slices.Contains(everyCage, name) || strings.HasPrefix(name, "LC_") || p.Env.Covers(name) {
			env[name] = value
		}
	}
	env["HOME"], env["TMPDIR"] = in.Home, in.Temp
	delete(env, "XDG_RUNTIME_DIR")
	if in.Runtime != "" {
		env["XDG_RUNTIME_DIR"] = in.Runtime
	}
	if in.Programs != "" {
		env["PATH"] = strings.TrimSuffix(in.Programs+":"+env["PATH"], ":")
	}
	if p.Mode == capability.Enforce {
		proxied(env, in.Proxy)
	}
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// proxied points programs at the cage's proxy, in both spellings, since programs read one or the other.
func proxied(env map[string]string, port uint16) {
	const direct = "127.0.0.1,localhost,::1"
	url := "http://127.0.0.1:" + strconv.Itoa(int(port))
	for name, value := range map[string]string{"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": direct} {
		env[name], env[strings.ToLower(name)] = value, value
	}
	env["NODE_USE_ENV_PROXY"] = "1" // Node's own fetch reads the variables only with this (22.21 and later)
}
