package task

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"termic/registry/ident"
)

// Looking through a task's files ends after this many entries or this long, and says so.
const (
	maxCounted = 500_000
	countTime  = 20 * time.Second
)

// DiskUse is what one kind of a task's files takes of the disk.
type DiskUse struct {
	What  string // "checkout", "git", "state", "caches"
	Bytes int64  // as the system counts blocks; a file with several names is shared among them
	Files int
}

// Disk returns what a task takes of the disk. It is at least that: whole is false when not all could be looked at. No file
// is opened and no link followed.
func (s *Tasks) Disk(ctx context.Context, id ident.Task) (use []DiskUse, whole bool, err error) {
	record, ok := s.Get(id)
	if !ok {
		return nil, false, noSuchTask()
	}
	view, err := s.viewDir(id)
	if err != nil {
		return nil, false, err
	}
	caches := s.State.CachesDir(id)
	dirs := []struct{ what, dir, but string }{{"git", view, ""}, {"state", s.State.Dir(id), filepath.Base(caches)}, {"caches", caches, ""}}
	if record.OwnCheckout {
		dirs = append([]struct{ what, dir, but string }{{"checkout", record.Dir, ""}}, dirs...)
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	whole = true
	left := maxCounted
	for _, d := range dirs {
		u := DiskUse{What: d.what}
		all, err := u.count(ctx, d.dir, d.but, &left)
		if err != nil {
			return nil, false, err
		}
		whole = whole && all
		use = append(use, u)
	}
	return use, whole, nil
}

// errEnough ends a count.
var errEnough = errors.New("enough was counted")

// overlaysOwn are the directories of a layer that the kernel keeps for itself, and closes to everyone but root.
const overlaysOwn = "*/work/work"

// count adds up what is below a directory, but for one name in it.
func (u *DiskUse) count(ctx context.Context, dir, but string, left *int) (whole bool, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	whole = true
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil || *left == 0 {
			return errEnough
		}
		if err != nil { // unreadable, or gone meanwhile
			closed, _ := path.Match(overlaysOwn, name)
			whole = whole && (errors.Is(err, fs.ErrNotExist) || closed)
			return nil
		}
		if name == but {
			return fs.SkipDir
		}
		*left--
		if info, err := entry.Info(); err == nil {
			u.Bytes += onDisk(info)
			u.Files++
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return whole, err
}
