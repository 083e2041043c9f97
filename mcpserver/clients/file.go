package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

var (
	// ErrChanged: another program changed the file between reading and writing. Nothing was written.
	ErrChanged = errors.New("changed by another program meanwhile")
	// ErrUnsafe: the file is none that can be replaced as it is: not a regular file, too large, not ours, or one
	// of several names of the same file. Nothing was written.
	ErrUnsafe = errors.New("cannot be replaced safely")
	// ErrLocked: the client is writing its configuration. Nothing was written.
	ErrLocked = errors.New("locked by the client")
)

// maxFile bounds a configuration, 32 MiB: the largest seen, Claude Code's with its history, had some hundred KiB.
const maxFile = 32 << 20

// maxLinks is how many symbolic links are followed, as many as the kernel does (path_resolution(7)).
const maxLinks = 40

// File is a configuration as it was when it was read.
type File struct {
	// Name is the path that was asked for, Target the one that links lead to, which is what is replaced.
	Name, Target string
	Exists       bool
	Data         []byte
	info         fs.FileInfo

	// beforeRename, when set by a test, runs when everything but the last comparison and the rename is done.
	beforeRename func()
}

// Open reads a configuration; one that is absent is no error. Links are followed, also one that leads to nothing
// yet: dotfiles are often links into a repository. The error wraps ErrUnsafe when it could not be replaced.
func Open(name string) (File, error) {
	target, err := resolve(name)
	if err != nil {
		return File{}, fmt.Errorf("read configuration: %w", err)
	}
	f := File{Name: name, Target: target}
	f.Data, f.info, err = read(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return File{}, fmt.Errorf("read configuration: %w", err)
	}
	f.Exists = true
	return f, nil
}

// resolve returns the path that a name's own links lead to. Links in its directories are the kernel's work.
func resolve(name string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			// The directory may be a link itself, so its ".." is not where the text says.
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		name = link
	}
	return "", fmt.Errorf("%s: %w", name, syscall.ELOOP)
}

// read returns what a regular file holds. It follows no link and never waits for a FIFO's writer.
func read(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: %w: not a regular file", path, ErrUnsafe)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: %w: larger than %d bytes", path, ErrUnsafe, maxFile)
	}
	return data, info, err
}

// Done is what a replacement left beside the file.
type Done struct {
	// Backup is the copy of what the file held; empty when it was not there.
	Backup string
	// Dirs are the directories that were made, the outermost first.
	Dirs []string
}

// Replace makes data the file's content: a copy of the old content stays beside it, mode and owner stay, and at
// each moment the file is whole. What the file holds is compared once more just before the rename, and ErrChanged
// says that it is no longer what was read. A file that is absent is made with mode 0600.
func (f File) Replace(data []byte, now time.Time) (Done, error) {
	done, err := f.replace(data, now)
	if err != nil {
		return Done{}, fmt.Errorf("write %s: %w", f.Name, err)
	}
	return done, nil
}

func (f File) replace(data []byte, now time.Time) (done Done, err error) {
	if !f.Exists {
		return f.create(data)
	}
	if err := f.replaceable(); err != nil {
		return Done{}, err
	}
	if done.Backup, err = f.backup(now); err != nil {
		return Done{}, err
	}
	if err := f.swap(data); err != nil {
		return Done{}, errors.Join(err, os.Remove(done.Backup))
	}
	return done, nil
}

// replaceable refuses what a rename would change besides the content.
func (f File) replaceable() error {
	stat, ok := f.info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || stat.Nlink > 1:
		return fmt.Errorf("%w: it has another name (hard link), which would keep the old content", ErrUnsafe)
	case int(stat.Uid) != os.Geteuid() && os.Geteuid() != 0:
		return fmt.Errorf("%w: it belongs to another user", ErrUnsafe)
	}
	return nil
}

// backup copies what was read beside the file, under a name with the date that nothing has yet.
func (f File) backup(now time.Time) (string, error) {
	stamp := f.Target + ".termic-" + now.Format("20060102-150405")
	for n := 1; ; n++ {
		name := stamp + ".bak"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.bak", stamp, n)
		}
		err := f.copyTo(name, f.Data)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		return name, err
	}
}

// copyTo makes a new file with the mode and the owner of this one.
func (f File) copyTo(name string, data []byte) (err error) {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	if _, err = out.Write(data); err == nil {
		err = f.dress(out)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// dress gives a new file the owner and then the mode of this one: chown(2) may clear bits of the mode.
func (f File) dress(out *os.File) error {
	if f.info == nil {
		return nil
	}
	stat, ok := f.info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: its owner is not known", ErrUnsafe)
	}
	own, err := out.Stat()
	if err != nil {
		return err
	}
	if mine, ok := own.Sys().(*syscall.Stat_t); !ok || mine.Uid != stat.Uid || mine.Gid != stat.Gid {
		if err := out.Chown(int(stat.Uid), int(stat.Gid)); err != nil {
			return fmt.Errorf("%w: its owner cannot be kept: %w", ErrUnsafe, err)
		}
	}
	return out.Chmod(f.info.Mode().Perm())
}

// swap replaces the file by one with the new data, if it is still what was read.
func (f File) swap(data []byte) error {
	temp := fmt.Sprintf("%s.termic-%d.tmp", f.Target, os.Getpid())
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.copyTo(temp, data); err != nil {
		return err
	}
	if f.beforeRename != nil {
		f.beforeRename()
	}
	err := f.unchanged()
	if err == nil {
		err = os.Rename(temp, f.Target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(f.Target))
}

// unchanged compares with what was read: the content, the file itself, and where the name leads.
func (f File) unchanged() error {
	now, err := Open(f.Name)
	switch {
	case err != nil:
		return err
	case now.Target != f.Target || now.Exists != f.Exists || !bytes.Equal(now.Data, f.Data):
		return ErrChanged
	case now.info.Mode() != f.info.Mode():
		return ErrChanged
	}
	return nil
}

// create makes the file and the directories on the way. One that somebody else made meanwhile is left alone.
func (f File) create(data []byte) (Done, error) {
	var done Done
	for dir := filepath.Dir(f.Target); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		done.Dirs = slices.Insert(done.Dirs, 0, dir)
	}
	if err := os.MkdirAll(filepath.Dir(f.Target), 0o700); err != nil {
		return Done{}, err
	}
	if f.beforeRename != nil {
		f.beforeRename()
	}
	err := f.copyTo(f.Target, data)
	if errors.Is(err, fs.ErrExist) {
		err = ErrChanged
	}
	if err != nil {
		return Done{}, errors.Join(err, removeEmpty(done.Dirs))
	}
	return done, syncDir(filepath.Dir(f.Target))
}

// Remove deletes a file that was made for an entry and holds nothing else, and the directories that were made
// for it, as far as nothing else is in them.
func (f File) Remove(dirs []string) error {
	err := f.unchanged()
	if err == nil {
		err = os.Remove(f.Target)
	}
	if err == nil {
		err = removeEmpty(dirs)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", f.Name, err)
	}
	return nil
}

// removeEmpty removes directories, the innermost first, until one is not empty.
func removeEmpty(dirs []string) error {
	for _, dir := range slices.Backward(dirs) {
		err := os.Remove(dir)
		switch {
		case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST), errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// Backups returns the copies of the file that stand beside it.
func (f File) Backups() ([]string, error) {
	dir := filepath.Dir(f.Target)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list copies: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(f.Target)+".termic-") && strings.HasSuffix(entry.Name(), ".bak") {
			names = append(names, filepath.Join(dir, entry.Name()))
		}
	}
	return names, nil
}

// Tidy removes those backups of which useless says that nobody can miss what they hold, and returns the others.
func Tidy(backups []string, useless func(data []byte) bool) []string {
	var kept []string
	for _, name := range backups {
		data, _, err := read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || !useless(data) || os.Remove(name) != nil:
			kept = append(kept, name)
		}
	}
	return kept
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// fsync(2): EINVAL means that this file system cannot do it for a directory.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
