//go:build unix

package gitview

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"termic/app/git"
	"termic/app/safefile"
)

// maxPointer is the size from which a blob is no pointer (git-lfs, docs/spec.md: "MUST be less than 1024 bytes").
const maxPointer = 1023

// pointer stands for a large file in a commit.
type pointer struct {
	sum  string // sha256, hexadecimal
	size int64
}

// path is where large file storage keeps a file, below its objects directory.
func (p pointer) path() string { return p.sum[:2] + "/" + p.sum[2:4] + "/" + p.sum }

var pointerRE = regexp.MustCompile(`^version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n$`)

func parsePointer(blob []byte) (pointer, bool) {
	m := pointerRE.FindSubmatch(blob)
	if m == nil {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{sum: string(m[1]), size: size}, err == nil
}

// findPointers lists the large files that new commits name, while their objects are in the quarantine. Where the cage
// has no large files of its own, nothing is read.
func (in *incoming) findPointers(ctx context.Context) error {
	if in.Private == "" || len(in.commits) == 0 {
		return nil
	}
	store, err := in.privateLarge()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil { // a link, or no directory: there is nothing to take from it
		in.notes = append(in.notes, Note{NoteLarge, "lfs/objects"})
		return nil
	}
	store.Close()
	out, err := in.run(ctx, git.Sealed{Stdin: in.revisions(), Limit: 1 << 30, Args: []string{"rev-list", "--objects", "--no-object-names",
		fmt.Sprintf("--filter=blob:limit=%d", maxPointer+1), "--stdin"}})
	if err != nil {
		return refuse(ctx, RuleMissing, "objects cannot be listed", err)
	}
	sizes, err := in.run(ctx, git.Sealed{Stdin: strings.NewReader(string(out)), Limit: 1 << 30,
		Args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "--buffer"}})
	if err != nil {
		return refuse(ctx, RuleMissing, "objects cannot be read", err)
	}
	blobs := in.objects(ctx)
	defer blobs.close() //nolint:errcheck // it is ended in the middle
	seen := map[pointer]bool{}
	for line := range strings.Lines(string(sizes)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "blob" {
			continue
		}
		data, err := blobs.get(git.OID(f[0]), "blob", maxPointer)
		if err != nil {
			return refuse(ctx, RuleMissing, "an object cannot be read", err)
		}
		if p, ok := parsePointer(data); ok && !seen[p] {
			seen[p] = true
			in.large = append(in.large, p)
		}
	}
	return nil
}

func (in *incoming) privateLarge() (*safefile.Dir, error) {
	d, err := safefile.Hold(in.Private)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Dir("lfs/objects")
}

// takeLarge copies the large files of the new commits into the project, before the branch moves to them. What the
// cage does not have, or has with other bytes than its pointer says, is noted: the commits are whole without it.
func (in *incoming) takeLarge(ctx context.Context) error {
	if len(in.large) == 0 {
		return nil
	}
	from, err := in.privateLarge()
	if err != nil {
		in.note(NoteLarge, "lfs/objects")
		return nil
	}
	defer from.Close()
	to := filepath.Join(in.Repo.CommonDir, "lfs")
	left := in.lim.Large
	for _, p := range in.large {
		if err := ctx.Err(); err != nil {
			return err
		}
		if info, err := os.Stat(filepath.Join(to, "objects", p.path())); err == nil && info.Size() == p.size {
			continue
		}
		if p.size > left {
			in.note(NoteLarge, p.sum)
			continue
		}
		switch err := copyLarge(from, to, p); {
		case err == nil:
			left -= p.size
		case errors.Is(err, errNotAsNamed):
			in.note(NoteLarge, p.sum)
		default:
			return fmt.Errorf("take large file %s over: %w", p.sum, err)
		}
	}
	return nil
}

// errNotAsNamed is a large file of the cage that is not there, is no regular file, or has other bytes than its name says.
var errNotAsNamed = errors.New("not the file that its name says")

// copyLarge copies one file, under its name only when its bytes have that hash and it is whole on disk.
func copyLarge(from *safefile.Dir, to string, p pointer) (err error) {
	if err := os.MkdirAll(filepath.Join(to, "tmp"), 0o755); err != nil {
		return err
	}
	half := filepath.Join(to, "tmp", "termic-"+rand.Text())
	f, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(half))
		}
	}()
	h := sha256.New()
	src := &reading{Writer: io.MultiWriter(f, h)}
	n, err := from.Copy(src, p.path(), p.size)
	if err != nil && src.failed == nil {
		err = fmt.Errorf("%w: %w", errNotAsNamed, err)
	}
	if err == nil && (n != p.size || hex.EncodeToString(h.Sum(nil)) != p.sum) {
		err = errNotAsNamed
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	name := filepath.Join(to, "objects", p.path())
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.Rename(half, name)
}

// reading remembers whether it was the writing that failed.
type reading struct {
	io.Writer
	failed error
}

func (r *reading) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	r.failed = err
	return n, err
}

func (in *incoming) note(rule Rule, path string) {
	if len(in.notes) < maxNotes {
		in.notes = append(in.notes, Note{rule, path})
	}
}
