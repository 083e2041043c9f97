package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func library(t *testing.T, files map[string]string) *Library {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(dir)
}

func TestThePersonsPromptsAreFiles(t *testing.T) {
	l := library(t, map[string]string{
		"plain.md":   "Do it.\n",
		"for-all.md": "---\nname: For all\ndescription: \"what it is for\"\nagents: yes\n---\n\nDo this\nand that.\n",
		"mine.md":    "---\r\nagents: no\r\n---\r\nMine.\r\n",
		"review.md":  "My own review.",
		"notes.txt":  "no prompt",
		".hidden.md": "no prompt",
	})
	list, faults := l.List()
	if len(faults) > 0 || len(list) != len(Builtin())+3 {
		t.Fatalf("%d prompts, %v", len(list), faults)
	}
	for id, want := range map[string]Prompt{
		"plain":   {ID: "plain", Name: "plain", Text: "Do it."},
		"for-all": {ID: "for-all", Name: "For all", Description: "what it is for", Agents: true, Text: "Do this\nand that."},
		"mine":    {ID: "mine", Name: "mine", Text: "Mine."},
		"review":  {ID: "review", Name: "review", Text: "My own review."},
	} {
		if got, err := l.Get(id, false); err != nil || got != want {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
		if _, err := l.Get(id, true); errors.Is(err, ErrUnknown) == want.Agents {
			t.Errorf("%s for agents: %v", id, err)
		}
	}
	if _, err := l.Get("commit", true); err != nil {
		t.Errorf("a built-in one for agents: %v", err)
	}
	if _, err := New(filepath.Join(t.TempDir(), "none")).Get("review", false); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}

func TestFilesThatAreNoPromptsAreNamedAndLeftOut(t *testing.T) {
	l := library(t, map[string]string{
		"good.md":        "Good.",
		"big.md":         strings.Repeat("x", maxFile+1),
		"edge.md":        strings.Repeat("x", maxFile),
		"latin.md":       "caf\xe9",
		"Upper.md":       "x",
		"a b.md":         "x",
		"empty.md":       "---\nname: x\n---\n",
		"open.md":        "---\nname: x\n",
		"key.md":         "---\nagent: yes\n---\nx",
		"yes.md":         "---\nagents: true\n---\nx",
		"twice.md":       "---\nagents: no\nagents: yes\n---\nx",
		"escape.md":      "a\x1b[31mb",
		"name.md":        "---\nname: a\x1b[31mb\n---\nx",
		"bad\x1bname.md": "x",
	})
	dir := l.Dir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo.md"), 0o600); err != nil { // a read that would never end
		t.Fatal(err)
	}
	list, faults := l.List()
	var own []string
	for _, p := range list {
		if !p.Builtin {
			own = append(own, p.ID)
		}
	}
	if strings.Join(own, " ") != "edge good" {
		t.Errorf("%v", own)
	}
	if len(faults) != 15 {
		t.Errorf("%d faults: %v", len(faults), faults)
	}
	for _, fault := range faults {
		if strings.ContainsAny(fault.Error(), "\x1b\n") || strings.Contains(fault.Error(), "root:") {
			t.Errorf("%q", fault)
		}
	}
}

func TestTextIsComposedBelowThePrompt(t *testing.T) {
	for _, c := range [][3]string{{"saved\n", "own", "saved\n\nown"}, {"saved", "", "saved"}, {"saved", " \n", "saved"}, {"", "own", "own"}} {
		if got := Compose(c[0], c[1]); got != c[2] {
			t.Errorf("%q + %q: %q", c[0], c[1], got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: a\ndescription: b\nagents: yes\n---\ntext"))
	f.Add([]byte("---\n---\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("id", data)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v", err)
			}
			return
		}
		if p.Agents && !strings.Contains(string(data), "agents") {
			t.Fatal("marked for agents without a word of it")
		}
		if p.Text == "" || strings.ContainsRune(p.Text+p.Name+p.Description, '\x1b') {
			t.Fatalf("%+v", p)
		}
		again, err := Parse("id", []byte(p.Text))
		if !strings.HasPrefix(p.Text, "---\n") && (err != nil || again.Text != p.Text) {
			t.Fatalf("%q, then %q, %v", p.Text, again.Text, err)
		}
	})
}
