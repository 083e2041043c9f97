package agentsmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const text = "## termic\n\n- a\n"

func TestTheTextComesAndGoesWithoutATrace(t *testing.T) {
	for name, src := range map[string]string{
		"an empty file":            "",
		"one with a line":          "# Mine\n",
		"no line break at the end": "# Mine",
		"empty lines at the end":   "# Mine\n\n\n",
		"line ends of Windows":     "# Mine\r\nx\r\n",
		"only a line break":        "\n",
		"a mark within a line":     "about " + begin + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			checkProperties(t, src)
			out, err := Put([]byte(src), text)
			if err != nil || !strings.Contains(string(out), "- a") {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

func checkProperties(t *testing.T, src string) {
	t.Helper()
	out, err := Put([]byte(src), text)
	if err != nil {
		if taken, takeErr := Take([]byte(src)); takeErr == nil && !errors.Is(err, ErrTrace) {
			t.Errorf("taken from what it cannot be put into: %q", taken)
		}
		return
	}
	twice, err := Put(out, text)
	if err != nil || string(twice) != string(out) {
		t.Errorf("put twice: %q, %v", twice, err)
	}
	if len(marks([]byte(src), begin)) > 0 {
		return
	}
	back, err := Take(out)
	if err != nil || string(back) != src {
		t.Errorf("taken out: %q, %v; want %q", back, err, src)
	}
}

func TestANewerTextReplacesTheOldOneOnly(t *testing.T) {
	src := "a\n\n" + strings.Replace(begin, "are lost", "will be lost", 1) + "\nold\n" + end + "\n\nb"
	out, err := Put([]byte(src), text)
	if want := "a\n\n" + begin + "\n" + text + end + "\n\nb"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

func TestAFileThatWouldKeepATraceIsRefused(t *testing.T) {
	if out, err := Put([]byte("a\r"), text); !errors.Is(err, ErrTrace) {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := Put([]byte("a\r\n"), text); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

func TestMarksThatAreNoPairAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"one missing":  begin + "\n",
		"the other":    end + "\n",
		"turned round": end + "\n" + begin + "\n",
		"twice":        begin + "\n" + end + "\n" + begin + "\n" + end + "\n",
	} {
		if out, err := Put([]byte(src), text); !errors.Is(err, ErrMarks) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if out, err := Take([]byte(src)); !errors.Is(err, ErrMarks) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

func TestFilesAreChangedWithABackup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "AGENTS.md")
	if err := os.WriteFile(file, []byte("# Mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	diff, backup, err := Install(file, text, time.Now())
	if err != nil || !strings.Contains(diff, "+- a\n") || backup == "" {
		t.Errorf("%q, %q, %v", diff, backup, err)
	}
	if diff, backup, err := Install(file, text, time.Now()); err != nil || diff != "" || backup != "" {
		t.Errorf("again: %q, %q, %v", diff, backup, err)
	}
	if _, _, err := Install(file, text+"- more\n", time.Now()); err != nil {
		t.Error(err)
	}
	others := file + ".termic-20260101-000000.bak" // of a time when more stood in it
	if err := os.WriteFile(others, []byte("# Mine\nand more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff, backup, err := Remove(file, time.Now()); err != nil || diff == "" || backup != "" {
		t.Errorf("%q, %q, %v", diff, backup, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "# Mine\n" {
		t.Errorf("%q, %v", data, err)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) != 1 || left[0] != others {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestAFileThatHoldsNothingElseGoesUnlessItWasThereBefore(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(file string) error
		after   string // what is typed into it while the text is in it
		stays   bool
	}{
		"it was made for the text":          {func(string) error { return nil }, "", false},
		"it was made, and written into":     {func(string) error { return nil }, "# Mine\n", true},
		"it was there, empty":               {func(file string) error { return os.WriteFile(file, nil, 0o600) }, "", true},
		"a link led to where nothing was":   {func(file string) error { return os.Symlink("elsewhere.md", file) }, "", true},
		"it was there, with a line of mine": {func(file string) error { return os.WriteFile(file, []byte("# Mine\n"), 0o600) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "AGENTS.md")
			if err := c.prepare(file); err != nil {
				t.Fatal(err)
			}
			for _, words := range []string{text, text + "- more\n"} { // brought up to date, it leaves a copy
				if _, _, err := Install(file, words, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if c.after != "" {
				data, err := os.ReadFile(file)
				if err == nil {
					err = os.WriteFile(file, append(data, c.after...), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if diff, _, err := Remove(file, time.Now()); err != nil || diff == "" {
				t.Fatalf("%q, %v", diff, err)
			}
			if _, err := os.Stat(file); (err == nil) != c.stays {
				t.Errorf("afterwards: %v", err)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.bak")); err != nil || len(left) > 0 {
				t.Errorf("copies left: %v, %v", left, err)
			}
		})
	}
}

func TestAFileThatIsNoUTF8IsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "AGENTS.md")
	for src, want := range map[string]error{"\xff\xfe#\x00\n\x00": ErrEncoding, "# \u00e9\n": nil} {
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Install(file, text, time.Now()); !errors.Is(err, want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// FuzzPut holds the promises of the package on any bytes.
func FuzzPut(f *testing.F) {
	f.Add("# Mine\n" + begin + "\nx\n" + end)
	f.Add("x\r\n\n")
	f.Fuzz(checkProperties)
}
