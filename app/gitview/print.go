//go:build unix

package gitview

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"strings"

	"termic/app/safefile"
)

const (
	maxPrintFiles = 50_000
	maxPrintDepth = 64
)

// Fingerprint returns a digest of everything in a private directory that Keep looks at: HEADs, refs, stashes and the
// index. Two that are the same, one from before a Keep and one from after the end of the cage, say that Keep saw all of
// it. The directory is read as bytes, beneath a held descriptor and bounded; an error means that nothing is known.
func Fingerprint(private string) (string, error) {
	d, err := safefile.Hold(private)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", private, err)
	}
	defer d.Close()
	p := &printer{top: d, sum: sha256.New()}
	for _, name := range []string{"HEAD", "packed-refs", "index", "refs", "logs/refs/stash", "worktrees"} {
		if err := p.add(name, 0); err != nil {
			return "", fmt.Errorf("look at %s: %w", private, err)
		}
	}
	return hex.EncodeToString(p.sum.Sum(nil)), nil
}

type printer struct {
	top   *safefile.Dir
	sum   hash.Hash
	files int
}

func (p *printer) add(name string, depth int) error {
	if p.files++; p.files > maxPrintFiles || depth > maxPrintDepth {
		return errors.New("too many refs")
	}
	mode, _, err := p.top.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(p.sum, "none %q\n", name)
		return nil
	case err != nil:
		return err
	case mode.IsRegular():
		data, err := p.top.Read(name, maxIndex)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.sum, "file %q %d %x\n", name, len(data), sha256.Sum256(data))
		return nil
	case !mode.IsDir(): // a link, a FIFO: git of the agent may see refs through it that we do not
		return fmt.Errorf("%s is no regular file", clip(name))
	}
	return p.addDir(name, depth)
}

func (p *printer) addDir(name string, depth int) error {
	d, err := p.top.Dir(name)
	if err != nil {
		return err
	}
	entries, more, err := d.List(maxPrintFiles)
	d.Close()
	if err == nil && more {
		err = fmt.Errorf("%s is too large to look at", clip(name))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.sum, "dir %q %d\n", name, len(entries))
	slices.SortFunc(entries, func(a, b safefile.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if err := p.add(name+"/"+e.Name, depth+1); err != nil {
			return err
		}
	}
	return nil
}
