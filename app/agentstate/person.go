package agentstate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// person is whose machine this is.
type person struct {
	home    string // as the environment names it: where the person's files are looked for
	real    string // resolved: where the cage has its home
	env     map[string]string
	environ []string
}

func newPerson(environ []string) (person, error) {
	p := person{env: map[string]string{}, environ: environ}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			p.env[name] = value
		}
	}
	p.home = p.env["HOME"]
	if !filepath.IsAbs(p.home) {
		return person{}, fmt.Errorf("HOME is %q: set it to the home directory", p.home)
	}
	var err error
	p.home = filepath.Clean(p.home)
	p.real, err = filepath.EvalSymlinks(p.home)
	return p, err
}

// dir is the directory that a variable names, or the place below the home directory.
func (p person) dir(variable, rel string) string {
	if dir := p.env[variable]; filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(p.home, rel)
}

// xdg is a directory of the XDG Base Directory Specification, which says to ignore relative ones.
func (p person) xdg(variable, rel string, elem ...string) string {
	return filepath.Join(append([]string{p.dir(variable, rel)}, elem...)...)
}

// maxLogin bounds a login file, in bytes. They are of a few KiB.
const maxLogin = 1 << 20

// readOwn reads a file of the person's. It may be reached through links, but is regular and bounded; one that is not
// there is nil.
func readOwn(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("read %s: not a regular file", name))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(data) > maxLogin {
		err = fmt.Errorf("read %s: more than %d bytes", name, maxLogin)
	}
	return data, err
}
