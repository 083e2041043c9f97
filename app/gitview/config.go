//go:build unix

package gitview

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"termic/app/git"
)

// takenOnce are the keys of which the last value counts. None names a program, a credential or another file.
var takenOnce = []string{
	"core.filemode", "core.autocrlf", "core.eol", "core.safecrlf", "core.ignorecase", "core.precomposeunicode",
	"core.symlinks", "core.longpaths", "core.sparsecheckout", "core.sparsecheckoutcone",
	"user.name", "user.email", "pull.rebase", "push.default", "merge.conflictstyle",
}

// lfsFilter stands for the person's lfs filter. Without it `git add` of a large file commits the file itself.
var lfsFilter = [][2]string{
	{"filter.lfs.clean", "git-lfs clean -- %f"},
	{"filter.lfs.smudge", "git-lfs smudge -- %f"},
	{"filter.lfs.process", "git-lfs filter-process"},
	{"filter.lfs.required", "true"},
}

// privateConfig renders the configuration of a private git directory: an allow-list of the effective settings at
// the host view, written fresh.
func privateConfig(settings []git.Setting, branch string, sha256 bool) string {
	once := map[string]string{
		"core.bare": "false", "core.logallrefupdates": "true", "core.repositoryformatversion": "0",
		"gc.autodetach": "false", "commit.gpgsign": "false",
	}
	if sha256 {
		once["core.repositoryformatversion"], once["extensions.objectformat"] = "1", "sha256"
	}
	var lines []configLine
	lfs := false
	for _, s := range settings {
		section, sub, name := splitKey(s.Key)
		switch {
		case slices.Contains(takenOnce, s.Key):
			once[s.Key] = s.Value
		case section == "remote" && sub != "" && name == "url", section == "submodule" && sub != "" && name == "url":
			if u, ok := withoutUserinfo(s.Value); ok {
				lines = append(lines, configLine{section, sub, name, u})
			}
		case section == "remote" && sub != "" && name == "fetch":
			lines = append(lines, configLine{section, sub, name, s.Value})
		case section == "branch" && sub == branch && (name == "remote" || name == "merge"):
			lines = append(lines, configLine{section, sub, name, s.Value})
		case section == "filter" && sub == "lfs":
			lfs = true
		}
	}
	for key, value := range once {
		section, _, name := splitKey(key)
		lines = append(lines, configLine{section, "", name, value})
	}
	if lfs {
		for _, kv := range lfsFilter {
			section, sub, name := splitKey(kv[0])
			lines = append(lines, configLine{section, sub, name, kv[1]})
		}
	}
	// Stable: several values of one key keep their order.
	slices.SortStableFunc(lines, func(a, b configLine) int {
		return strings.Compare(a.section+"\x00"+a.sub+"\x00"+a.name, b.section+"\x00"+b.sub+"\x00"+b.name)
	})
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text())
	}
	return b.String()
}

type configLine struct{ section, sub, name, value string }

// text writes one setting with its own header (git-config(1), "Syntax"). A subsection holds no line break, or git
// would not have read it.
func (l configLine) text() string {
	header := l.section
	if l.sub != "" {
		header += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l.sub) + `"`
	}
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(l.value)
	return "[" + header + "]\n\t" + l.name + ` = "` + value + "\"\n"
}

// splitKey splits "section.sub.section.name"; the subsection may hold dots.
func splitKey(key string) (section, sub, name string) {
	section, rest, _ := strings.Cut(key, ".")
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		return section, rest[:i], rest[i+1:]
	}
	return section, "", rest
}

var (
	schemeRE = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	helperRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)
)

// withoutUserinfo returns the address of a remote without what could be a secret: name and password (an ssh name
// stays, since the server needs it), and for http the query. An address for a remote helper ("ext::…") is text
// that we cannot judge, and is left out.
func withoutUserinfo(address string) (string, bool) {
	switch {
	case helperRE.MatchString(address), strings.ContainsAny(address, "\n\x00"):
		return "", false
	case !schemeRE.MatchString(address): // a path, or user@host:path
		return address, true
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "ssh", "git+ssh", "ssh+git":
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
	default:
		u.User, u.RawQuery, u.Fragment = nil, "", ""
	}
	return u.String(), true
}
