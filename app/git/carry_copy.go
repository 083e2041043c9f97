package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// carrier copies trees from one checkout into another. Both are held open, so that nothing outside them is reached
// whatever links there are.
type carrier struct {
	from, to *os.Root
	say      func(string)
	done     int // files
}

func newCarrier(from string, o CarryOptions) (*carrier, error) {
	c := &carrier{say: o.Progress}
	if c.say == nil {
		c.say = func(string) {}
	}
	var err error
	if c.from, err = os.OpenRoot(from); err != nil {
		return nil, err
	}
	if c.to, err = os.OpenRoot(o.Dir); err != nil {
		c.from.Close()
		return nil, err
	}
	return c, nil
}

func (c *carrier) close() { c.from.Close(); c.to.Close() }

// carryEach is after how many files progress is said.
const carryEach = 1000

// errInTheWay: something else is where a copy would be.
var errInTheWay = errors.New("something else is there")

// copy copies a tree. What is there already stays as it is; a tree that cannot be copied whole is not there afterwards,
// unless something of it was there before.
func (c *carrier) copy(ctx context.Context, t carryTree) error {
	top := filepath.FromSlash(t.Path)
	if err := c.parents(filepath.Dir(top)); err != nil {
		return err
	}
	info, err := c.to.Lstat(top)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err == nil && (!info.IsDir() || !t.all[0].Mode.IsDir()) {
		return errInTheWay
	}
	if err != nil && !fresh {
		return err
	}
	if err := c.copyAll(ctx, t); err != nil {
		if fresh {
			err = errors.Join(err, c.remove(top, t.all))
		}
		return err
	}
	return nil
}

// parents makes the directories on the way to an entry. None of them may be a link.
func (c *carrier) parents(dir string) error {
	if dir == "." {
		return nil
	}
	if err := c.parents(filepath.Dir(dir)); err != nil {
		return err
	}
	err := c.to.Mkdir(dir, 0o755)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := c.to.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errInTheWay
	}
	return err
}

func (c *carrier) copyAll(ctx context.Context, t carryTree) error {
	blocked := "" // a directory that is something else here: nothing is copied below it
	for _, b := range t.all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if blocked != "" && strings.HasPrefix(b.Path, blocked) {
			continue
		}
		there, err := c.one(b)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", b.Path, err)
		case there && b.Mode.IsDir():
			blocked = b.Path + "/"
		case b.Mode.IsRegular():
			if c.done++; c.done%carryEach == 0 {
				c.say(fmt.Sprintf("copying %s: %d files", t.Path, c.done))
			}
		}
	}
	return c.finish(t.all)
}

// one copies one entry; there tells that something else is in its place.
func (c *carrier) one(b Beside) (there bool, err error) {
	name := filepath.FromSlash(b.Path)
	switch b.Mode.Type() {
	case fs.ModeDir:
		err = c.to.Mkdir(name, 0o700) // its own permissions come when all is in it
		if !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		info, err := c.to.Lstat(name)
		return err != nil || !info.IsDir(), err
	case fs.ModeSymlink:
		err = c.to.Symlink(b.Link, name)
	case 0:
		err = c.file(b, name)
	}
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	return false, err
}

// file copies one file: what it shares with the source where the file system can do that, else its bytes. A file that
// changes meanwhile is ErrBusy.
func (c *carrier) file(b Beside, name string) error {
	src, err := c.from.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	same := func() error {
		info, err := src.Stat()
		if err == nil && (!info.Mode().IsRegular() || stampOf(info) != b.stamp) {
			err = ErrBusy
		}
		return err
	}
	if err := same(); err != nil {
		return err
	}
	dst, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if !share(dst, src) {
		_, err = io.Copy(dst, io.LimitReader(src, b.Size))
	}
	if err == nil {
		err = dst.Chmod(b.Mode.Perm())
	}
	if e := dst.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = c.to.Chtimes(name, time.Time{}, b.Changed)
	}
	if err == nil {
		err = same()
	}
	return err
}

// finish gives directories their permissions and times, the innermost first.
func (c *carrier) finish(all []Beside) error {
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].Mode.IsDir() {
			continue
		}
		name := filepath.FromSlash(all[i].Path)
		if info, err := c.to.Lstat(name); err != nil || !info.IsDir() {
			continue // something else is there
		}
		if err := errors.Join(c.to.Chtimes(name, time.Time{}, all[i].Changed), c.to.Chmod(name, all[i].Mode.Perm())); err != nil {
			return err
		}
	}
	return nil
}

// remove takes back half a copy; directories may have lost the permission to empty them.
func (c *carrier) remove(top string, all []Beside) error {
	for _, b := range all {
		if b.Mode.IsDir() {
			_ = c.to.Chmod(filepath.FromSlash(b.Path), 0o700) // it may not be there yet
		}
	}
	return c.to.RemoveAll(top)
}

// whyNotCopied says in words why a tree was not copied.
func whyNotCopied(err error) string {
	switch {
	case errors.Is(err, ErrBusy):
		return "it changed while it was copied"
	case errors.Is(err, errInTheWay):
		return "something else is there already"
	case errors.Is(err, fs.ErrPermission):
		return "it cannot be read"
	case errors.Is(err, syscall.ENOSPC):
		return "there is no room for it"
	}
	return "it could not be copied"
}
