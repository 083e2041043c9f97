package git

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// relink makes the submodules of a restored checkout find their repositories, and these their files, where checkout and
// record are elsewhere than they were. What leads to the right place as it is stays byte for byte.
func (a *Archived) relink(to sources) error {
	if a.Record == "" { // an archive of an older version: it has no submodules
		return nil
	}
	for _, b := range a.Beside {
		if b.Git || !b.Mode.IsRegular() || filepath.Base(b.Path) != ".git" {
			continue
		}
		path := filepath.FromSlash(b.Path)
		text, err := to.work.ReadFile(path)
		if err != nil {
			return err
		}
		was, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if !ok {
			continue
		}
		module, err := filepath.Rel(a.Record, leadsTo(filepath.Join(a.Dir, filepath.Dir(path)), was))
		if err != nil || !filepath.IsLocal(module) {
			continue
		}
		if err := relinkOne(to, path, was, module); err != nil {
			return err
		}
	}
	return nil
}

// leadsTo is where a path leads that is written in a file of the directory from.
func leadsTo(from, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(from, path)
}

// relinkOne connects the submodule whose .git file is at path and says was with its repository, module, in the record.
func relinkOne(to sources, path, was, module string) error {
	files := filepath.Join(to.work.Name(), filepath.Dir(path))
	repository := filepath.Join(to.record.Name(), module)
	if leadsTo(files, was) != repository {
		link, err := filepath.Rel(files, repository)
		if err != nil {
			return err
		}
		if err := replaceIn(to.work, path, []byte("gitdir: "+link+"\n")); err != nil {
			return err
		}
	}
	config, err := to.record.ReadFile(filepath.Join(module, "config"))
	if err != nil {
		return err
	}
	worktree, err := filepath.Rel(repository, files)
	if err != nil {
		return err
	}
	changed, ok := setWorktree(config, func(now string) (string, bool) { return worktree, leadsTo(repository, now) != files })
	if !ok {
		return nil
	}
	return replaceIn(to.record, filepath.Join(module, "config"), changed)
}

// replaceIn replaces a file that was just written, whatever its permissions, which it keeps.
func replaceIn(root *os.Root, path string, data []byte) error {
	info, err := root.Lstat(path)
	if err != nil {
		return err
	}
	if err := root.Remove(path); err != nil {
		return err
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
}

// setWorktree rewrites core.worktree of a configuration file that git wrote, where change wants it, and no other byte. ok
// is false when nothing changed.
func setWorktree(config []byte, change func(now string) (string, bool)) (_ []byte, ok bool) {
	lines := bytes.SplitAfter(config, []byte("\n"))
	core := false
	for i, line := range lines {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			core = strings.EqualFold(text, "[core]")
			continue
		}
		key, value, is := strings.Cut(text, "=")
		if !core || !is || !strings.EqualFold(strings.TrimSpace(key), "worktree") {
			continue
		}
		now, wanted := change(unquoteConfig(strings.TrimSpace(value)))
		if !wanted {
			return nil, false
		}
		lines[i] = []byte("\tworktree = " + quoteConfig(now) + "\n")
		return bytes.Join(lines, nil), true
	}
	return nil, false
}

// unquoteConfig undoes quoteConfig, and takes what git leaves unquoted.
func unquoteConfig(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\b`, "\b").Replace(s[1 : len(s)-1])
}
