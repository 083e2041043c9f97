package git

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestLargeFilesThatAreAsTheirPointersSayAreUnchanged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.repo("p")
	pointer := func(text string) string {
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(text)), len(text))
	}
	big := strings.Repeat("12345678", 2<<20) // 16 MiB
	texts := map[string]string{"same.bin": "the same\n", "other.bin": "was this\n", "gone.bin": "gone\n", "big.bin": big, "plain.txt": "plain\n"}
	h.write(r.Root+"/.gitattributes", "*.bin filter=lfs\n")
	for name, text := range texts { // as the lfs program commits them
		h.write(r.Root+"/"+name, pointer(text))
	}
	h.sh(r.Root, "add", "-A")
	h.sh(r.Root, "commit", "-qm", "large files")
	base := h.oid(r.Root, "HEAD")
	dir := h.worktree(r, "task")
	for name, text := range texts { // as it checks them out
		h.write(dir+"/"+name, text)
	}
	h.write(dir+"/other.bin", "now that\n")
	os.Remove(dir + "/gone.bin")

	for _, c := range []struct {
		name, want string
	}{
		{"without lfs in the repository all show", "big.bin gone.bin other.bin plain.txt same.bin"},
		{"with it the unchanged ones do not", "gone.bin other.bin plain.txt"},
	} {
		s, err := r.Status(t.Context(), dir)
		var got []string
		for _, f := range s.Files {
			got = append(got, f.Path)
		}
		if err != nil || strings.Join(got, " ") != c.want || s.Unstaged != len(got) {
			t.Errorf("%s: %+v %v", c.name, s, err)
		}
		d, err := r.Diff(t.Context(), dir, base, DiffOptions{})
		got = nil
		for _, f := range d.Files {
			got = append(got, f.Path)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %+v %v", c.name, d.Files, err)
		}
		os.Mkdir(r.CommonDir+"/lfs", 0o755)
	}
}
