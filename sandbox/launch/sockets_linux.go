package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"termic/sandbox/linuxcage"
)

// unixSockets is where Linux lists the Unix sockets of a network namespace.
const unixSockets = "/proc/self/net/unix"

// checkSockets returns a *SocketError for the first socket of the host that the plan would show. A socket that is made
// later is not seen: the paths that a person allows should be none where programs keep theirs.
func checkSockets(plan linuxcage.Plan, table string) error {
	names, err := boundSockets(table)
	if err != nil {
		return fmt.Errorf("list sockets: %w", err)
	}
	relative := map[string]bool{}
	for _, name := range names {
		if !path.IsAbs(name) {
			relative[path.Base(name)] = true
			continue
		}
		dir, err := filepath.EvalSymlinks(path.Dir(name))
		if err != nil { // gone, or of another root directory
			continue
		}
		real := path.Join(dir, path.Base(name))
		if m, shown := shows(plan, real); shown && isSocket(real) {
			return &SocketError{Path: real, Rule: m.Source}
		}
	}
	if len(relative) == 0 {
		return nil
	}
	return searchSockets(plan, relative)
}

// boundSockets returns the names of sockets that have a path; "@" begins one that has none.
func boundSockets(table string) ([]string, error) {
	file, err := os.Open(table)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var names []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// Num RefCount Protocol Flags Type St Inode Path; the path may hold blanks
		fields := strings.SplitN(strings.Join(strings.Fields(lines.Text()), " "), " ", 8)
		if len(fields) == 8 && fields[7] != "Path" && !strings.HasPrefix(fields[7], "@") {
			names = append(names, fields[7])
		}
	}
	return names, lines.Err()
}

// shows returns the mount through which the cage would see a path of the host.
func shows(plan linuxcage.Plan, name string) (linuxcage.Mount, bool) {
	for _, m := range plan.Mounts {
		if m.Source == "" || name != m.Source && !strings.HasPrefix(name, m.Source+"/") {
			continue
		}
		inside := path.Join(m.Path, name[len(m.Source):])
		deepest := m
		for _, other := range plan.Mounts {
			if len(other.Path) > len(deepest.Path) && (inside == other.Path || strings.HasPrefix(inside, other.Path+"/")) {
				deepest = other
			}
		}
		if deepest.Path == m.Path {
			return m, true
		}
	}
	return linuxcage.Mount{}, false
}

// searchSockets looks for sockets that were bound by a relative name, of which only the last element tells.
func searchSockets(plan linuxcage.Plan, names map[string]bool) error {
	for _, m := range plan.Mounts {
		if m.Kind != linuxcage.Bind || !m.Write || m.File {
			continue
		}
		err := filepath.WalkDir(m.Source, func(name string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if entry.Type()&fs.ModeSocket != 0 && names[entry.Name()] {
				return &SocketError{Path: name, Rule: m.Source}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isSocket(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}
