package git

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Beside is one entry of a checkout that an archive keeps beside its trees, byte for byte: a large file, what lies in
// a repository of its own, an ignored file that a rule names, a FIFO. It is plain data.
type Beside struct {
	Path string      `json:"path"`           // from the top of the checkout
	Git  bool        `json:"git,omitempty"`  // from git's record of the checkout instead
	Mode fs.FileMode `json:"mode"`           // kind and permissions
	Size int64       `json:"size,omitempty"` // bytes of a file
	Link string      `json:"link,omitempty"` // where a link leads
	Name string      `json:"name,omitempty"` // of the copy in the store
	Sum  string      `json:"sum,omitempty"`  // of its contents, see contents
	// Changed is the modification time, which comes back.
	Changed time.Time `json:"changed,omitzero"`
	// stamp tells a file that was written to since from one that was not; only within one run.
	stamp string
}

const (
	// besideMost bounds the entries that one archive keeps beside its trees; a repository in a checkout rarely has more.
	besideMost = 500_000
	// block is what is skipped when it holds zeros only, when files are copied and summed. Holes need not be read.
	block = 128 << 10 // bytes
)

// besideDir is where the copies of one id are.
func (st *store) besideDir(id string) string { return filepath.Join(st.dir, "beside", id) }

// besideOf lists what lies at path and below it, directories before what is in them. Nothing is opened.
func besideOf(root *os.Root, path string, list *[]Beside) error {
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(*list) >= besideMost {
		return fmt.Errorf("more than %d files in %s: %w", besideMost, path, ErrTooLarge)
	}
	b := Beside{Path: filepath.ToSlash(path), Mode: info.Mode() & (fs.ModeType | fs.ModePerm | fs.ModeSticky), Changed: info.ModTime().UTC()}
	switch kind := info.Mode().Type(); {
	case kind == 0:
		b.Size, b.stamp = info.Size(), stampOf(info)
	case kind == fs.ModeSymlink:
		if b.Link, err = root.Readlink(path); err != nil {
			return err
		}
	case kind == fs.ModeDir:
		*list = append(*list, b)
		dir, err := root.Open(path)
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(-1)
		dir.Close()
		slices.Sort(names)
		for i := 0; err == nil && i < len(names); i++ {
			err = besideOf(root, filepath.Join(path, names[i]), list)
		}
		return err
	case kind != fs.ModeNamedPipe: // sockets and devices hold nothing
		return nil
	}
	*list = append(*list, b)
	return nil
}

// besidePath names what is to be kept: in the checkout, or in git's record of it.
type besidePath struct {
	path string
	git  bool
}

// sources are the two directories that Beside is about, held open.
type sources struct{ work, record *os.Root }

func openSources(work, record string) (s sources, err error) {
	if s.work, err = os.OpenRoot(work); err != nil {
		return s, err
	}
	if s.record, err = os.OpenRoot(record); err != nil {
		s.work.Close()
	}
	return s, err
}

func (s sources) close() { s.work.Close(); s.record.Close() }

func (s sources) of(git bool) *os.Root {
	if git {
		return s.record
	}
	return s.work
}

// list lists all that the paths name.
func (s sources) list(paths []besidePath) (all []Beside, err error) {
	for _, p := range paths {
		from := len(all)
		if err := besideOf(s.of(p.git), filepath.FromSlash(p.path), &all); err != nil {
			return nil, unkeepable(err, p.path)
		}
		for i := range all[from:] {
			all[from+i].Git = p.git
		}
	}
	return all, nil
}

// keepBeside copies what the paths name into the store and returns it. A copy that was made of the same file in the
// same state is taken as it is: an archive is made twice, once while the agents still run.
func (st *store) keepBeside(ctx context.Context, v view, id string, paths []besidePath) ([]Beside, error) {
	from, err := openSources(v.dir, v.gitDir)
	if err != nil {
		return nil, err
	}
	defer from.close()
	list, err := from.list(paths)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, nil
	}
	dir := st.besideDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if list[i].Mode.IsRegular() {
			if err := list[i].copyIn(ctx, from.of(list[i].Git), dir); err != nil {
				return nil, unkeepable(err, list[i].Path)
			}
		}
	}
	return list, syncDir(dir)
}

// unkeepable names the file that an error of permission is about.
func unkeepable(err error, path string) error {
	if errors.Is(err, fs.ErrPermission) {
		return errors.Join(&UnkeepableError{Paths: []string{path}}, err)
	}
	return err
}

// copyIn copies one file into dir. ErrBusy when it changes meanwhile.
func (b *Beside) copyIn(ctx context.Context, root *os.Root, dir string) error {
	src, err := root.OpenFile(filepath.FromSlash(b.Path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	same := func() error {
		info, err := src.Stat()
		if err == nil && (!info.Mode().IsRegular() || stampOf(info) != b.stamp) {
			err = fmt.Errorf("%s: %w", b.Path, ErrBusy)
		}
		return err
	}
	if err := same(); err != nil {
		return err
	}
	key := sha256.Sum256([]byte(b.Path + "\x00" + b.stamp))
	b.Name = hex.EncodeToString(key[:16])
	to := filepath.Join(dir, b.Name)
	if sum, err := os.Readlink(to + ".sum"); err == nil && sameSize(to, b.Size) {
		b.Sum = sum
		return nil
	}
	half := to + ".half"
	if b.Sum, err = copyContents(ctx, half, src, b.Size, 0o600); err != nil {
		return err
	}
	if err := same(); err != nil {
		return errors.Join(err, os.Remove(half))
	}
	if err := os.Rename(half, to); err != nil {
		return err
	}
	err = os.Symlink(b.Sum, to+".sum")
	if errors.Is(err, fs.ErrExist) {
		err = errors.Join(os.Remove(to+".sum"), os.Symlink(b.Sum, to+".sum"))
	}
	return err
}

func sameSize(path string, size int64) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// copyContents copies a file with its holes: what it shares with the source where the file system can do that, else
// block by block. The copy is on the disk when it returns its sum.
func copyContents(ctx context.Context, to string, src *os.File, size int64, mode fs.FileMode) (sum string, err error) {
	dst, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := dst.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(to) //nolint:errcheck // half a copy
		}
	}()
	return copyInto(ctx, dst, src, size)
}

// copyInto is copyContents into an open, empty file.
func copyInto(ctx context.Context, dst, src *os.File, size int64) (sum string, err error) {
	shared := share(dst, src)
	if !shared {
		if err := dst.Truncate(size); err != nil {
			return "", err
		}
	}
	sum, err = contents(ctx, src, size, func(at int64, data []byte) error {
		if shared {
			return nil
		}
		_, err := dst.WriteAt(data, at)
		return err
	})
	if err == nil {
		err = dst.Sync()
	}
	return sum, err
}

// contents returns the sum of a file of that size: SHA-256 over its size and, for each block that is not all zeros, its
// place and its bytes. So holes and zeros are one and the same, and holes are not read. each is called for these blocks.
func contents(ctx context.Context, f *os.File, size int64, each func(at int64, data []byte) error) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00", size)
	buf, zero := make([]byte, block), make([]byte, block)
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if next := nextData(f, at); next > at {
			at = next - next%block
			if at >= size {
				break
			}
		}
		want := min(int64(block), size-at)
		n, err := f.ReadAt(buf[:want], at)
		if int64(n) < want {
			return "", fmt.Errorf("%s ends at %d of %d bytes: %w", f.Name(), at+int64(n), size, errors.Join(ErrBusy, err))
		}
		if data := buf[:n]; string(data) != string(zero[:n]) {
			var place [8]byte
			binary.BigEndian.PutUint64(place[:], uint64(at))
			h.Write(place[:])
			h.Write(data)
			if err := each(at, data); err != nil {
				return "", err
			}
		}
		at += int64(n)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// nextData returns where the next data of a file is, at or after at; the file's end when there is none, and at where the
// file system does not say.
func nextData(f *os.File, at int64) int64 {
	next, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	switch {
	case err == nil:
		return next
	case errors.Is(err, unix.ENXIO):
		if end, err := f.Seek(0, io.SeekEnd); err == nil {
			return end
		}
	}
	return at
}

// sweepBeside removes copies that the archive does not name: of an attempt that failed, or of an earlier archive.
func (st *store) sweepBeside(a *Archived) error {
	dir := st.besideDir(a.ID)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	named := map[string]bool{}
	for _, b := range a.Beside {
		if b.Name != "" {
			named[b.Name], named[b.Name+".sum"] = true, true
		}
	}
	for _, e := range entries {
		if !named[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// checkBeside returns an error unless every copy that the record names is there, in its size.
func (st *store) checkBeside(a *Archived) error {
	for _, b := range a.Beside {
		if b.Mode.IsRegular() && !sameSize(filepath.Join(st.besideDir(a.ID), b.Name), b.Size) {
			return fmt.Errorf("the archive's copy of %s is not there", b.Path)
		}
	}
	return nil
}

// sameBeside returns ErrChanged unless what the paths name now is what was kept.
func sameBeside(v view, paths []besidePath, kept []Beside) error {
	from, err := openSources(v.dir, v.gitDir)
	if err != nil {
		return err
	}
	defer from.close()
	now, err := from.list(paths)
	if err != nil {
		return err
	}
	same := func(a, b Beside) bool {
		return a.Path == b.Path && a.Git == b.Git && a.Mode == b.Mode && a.Size == b.Size && a.Link == b.Link && a.stamp == b.stamp
	}
	if !slices.EqualFunc(now, kept, same) {
		return ErrChanged
	}
	return nil
}

// writeBeside brings back what an archive keeps beside its trees.
func (st *store) writeBeside(ctx context.Context, to sources, a *Archived) error {
	for _, b := range a.Beside {
		if err := st.writeOne(ctx, to.of(b.Git), a, b); err != nil {
			return fmt.Errorf("restore %s: %w", b.Path, err)
		}
	}
	if err := a.relink(to); err != nil {
		return fmt.Errorf("restore submodules: %w", err)
	}
	for _, b := range slices.Backward(a.Beside) { // what is in a directory before the directory itself
		path, root := filepath.FromSlash(b.Path), to.of(b.Git)
		if b.Mode.Type() == fs.ModeSymlink {
			continue
		}
		if err := root.Chmod(path, b.Mode&(fs.ModePerm|fs.ModeSticky)); err != nil {
			return err
		}
		if err := root.Chtimes(path, b.Changed, b.Changed); err != nil {
			return err
		}
	}
	return nil
}

func (st *store) writeOne(ctx context.Context, root *os.Root, a *Archived, b Beside) error {
	path := filepath.FromSlash(b.Path)
	if !filepath.IsLocal(path) {
		return errors.New("archive record is damaged")
	}
	if dir := filepath.Dir(path); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if b.Mode.IsDir() {
		return root.MkdirAll(path, 0o700)
	}
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch b.Mode.Type() {
	case fs.ModeSymlink:
		return root.Symlink(b.Link, path)
	case fs.ModeNamedPipe:
		return mkfifo(root, path)
	}
	if b.Name == "" || b.Name != filepath.Base(b.Name) {
		return errors.New("archive record is damaged")
	}
	src, err := openRegular(filepath.Join(st.besideDir(a.ID), b.Name))
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := root.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum, err := copyInto(ctx, dst, src, b.Size)
	if e := dst.Close(); err == nil {
		err = e
	}
	if err == nil && sum != b.Sum {
		err = errors.New("the archive's copy is damaged")
	}
	return err
}

// mkfifo makes a FIFO below root, through the directory that it is in.
func mkfifo(root *os.Root, path string) error {
	dir, err := root.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return fifoAt(dir, filepath.Base(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// stampOf is what changes with every change of a file.
func stampOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), inodeOf(info))
}

// besidePaths are the paths to keep beside the trees, without those below another of them, and the submodules'
// repositories in the record.
func besidePaths(modules []string, lists ...[]string) (paths []besidePath) {
	for _, p := range withoutInner(lists...) {
		paths = append(paths, besidePath{path: p})
	}
	for _, m := range modules {
		paths = append(paths, besidePath{path: strings.TrimPrefix(m, ".git/"), git: true})
	}
	return paths
}

// withoutInner joins the lists, sorted, without the paths below another one.
func withoutInner(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	slices.Sort(all)
	named := map[string]bool{}
	for _, p := range all {
		named[p] = true
	}
	return slices.DeleteFunc(slices.Compact(all), func(p string) bool {
		for dir := filepath.Dir(p); dir != "."; dir = filepath.Dir(dir) {
			if named[dir] {
				return true
			}
		}
		return false
	})
}

// keptIgnored tells of a path whether the archive keeps it, for the comparison with what is there now.
func (a *Archived) keptIgnored() func(path string) bool {
	if a.ignored != nil {
		return a.ignored
	}
	kept := map[string]bool{}
	for _, b := range a.Beside {
		kept[b.Path] = kept[b.Path] || !b.Git
	}
	return func(path string) bool { return kept[path] }
}
