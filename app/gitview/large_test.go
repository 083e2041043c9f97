//go:build unix

package gitview

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// largeFile makes the pointer of a large file, and what the agent's storage does with its bytes.
func (r *rig) largeFile(content string) (text string, p pointer) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	text = fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", sum, len(content))
	return text, pointer{sum, int64(len(content))}
}

func TestLargeFilesComeWithTheirCommits(t *testing.T) {
	const content = "a large file\n"
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte(content), 0o600))
	for name, c := range map[string]struct {
		put  func(r *rig, at string) // at is where the agent's storage has the file
		lim  Limits
		come bool
		note bool
	}{
		"it is there": {put: func(r *rig, at string) { r.write(at, content) }, come: true},
		"it is not there, but others are": {put: func(r *rig, at string) { r.write(filepath.Join(filepath.Dir(at), strings.Repeat("0", 64)), content) },
			note: true},
		"no storage at all":     {put: func(r *rig, at string) {}},
		"other bytes":           {put: func(r *rig, at string) { r.write(at, "A large file\n") }, note: true},
		"more bytes":            {put: func(r *rig, at string) { r.write(at, content+"x") }, note: true},
		"fewer bytes":           {put: func(r *rig, at string) { r.write(at, content[1:]) }, note: true},
		"20 GB":                 {put: func(r *rig, at string) { r.write(at, content); must(r.t, os.Truncate(at, 20<<30)) }, note: true},
		"more than may come in": {put: func(r *rig, at string) { r.write(at, content) }, lim: Limits{Large: 5}, note: true},
		"a FIFO": {put: func(r *rig, at string) {
			must(r.t, os.MkdirAll(filepath.Dir(at), 0o755))
			must(r.t, syscall.Mkfifo(at, 0o600))
		}, note: true},
		"a link to a file outside with those very bytes": {put: func(r *rig, at string) {
			must(r.t, os.MkdirAll(filepath.Dir(at), 0o755))
			must(r.t, os.Symlink(secret, at))
		}, note: true},
		"a directory that is a link": {put: func(r *rig, at string) {
			dir := r.t.TempDir()
			r.write(filepath.Join(dir, filepath.Base(at)), content)
			must(r.t, os.MkdirAll(filepath.Dir(filepath.Dir(at)), 0o755))
			must(r.t, os.Symlink(dir, filepath.Dir(at)))
		}, note: true},
		"the whole storage is a link": {put: func(r *rig, at string) {
			dir := r.t.TempDir()
			_, p := r.largeFile(content)
			r.write(filepath.Join(dir, p.path()), content)
			must(r.t, os.MkdirAll(filepath.Join(r.private, "lfs"), 0o755))
			must(r.t, os.Symlink(dir, filepath.Join(r.private, "lfs/objects")))
		}, note: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			text, p := r.largeFile(content)
			c.put(r, filepath.Join(r.private, "lfs/objects", p.path()))
			tip := r.commit("big.bin", text)
			claim := Claim{Tip: tip}
			got, err := r.task.Import(t.Context(), bytes.NewReader(r.packed(claim)), claim, c.lim)
			must(t, err)
			if got.Outcome != Moved {
				t.Errorf("%+v", got)
			}
			if noted := len(got.Notes) == 1 && got.Notes[0].Rule == NoteLarge; noted != c.note {
				t.Errorf("notes %+v", got.Notes)
			}
			data, err := os.ReadFile(filepath.Join(r.project, ".git/lfs/objects", p.path()))
			if c.come != (err == nil) || c.come && string(data) != content {
				t.Errorf("in the project: %q, %v", data, err)
			}
			if left, _ := filepath.Glob(filepath.Join(r.project, ".git/lfs/tmp/*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func FuzzParsePointer(f *testing.F) {
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 12\n"))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\next-0-x sha256:b\noid sha256:" + strings.Repeat("a", 64) + "\nsize 1\n"))
	f.Add([]byte("oid sha256:../../../../etc/passwd\nsize 1\n"))
	f.Fuzz(func(t *testing.T, blob []byte) {
		p, ok := parsePointer(blob)
		if !ok {
			return
		}
		if p.size < 0 || len(p.sum) != 64 || strings.Trim(p.sum, "0123456789abcdef") != "" || !filepath.IsLocal(p.path()) {
			t.Errorf("%q is %+v", blob, p)
		}
	})
}
