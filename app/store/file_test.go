package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type prefs struct {
	Theme string            `json:"theme"`
	Quiet time.Duration     `json:"quiet"`
	Hosts []string          `json:"hosts"`
	Extra map[string]string `json:"extra"`
}

var prefsFile = Define[prefs]("prefs", 1)

func put(t testing.TB, s *Store, name, content string) string {
	t.Helper()
	p := filepath.Join(s.Dir(), name)
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func content(t testing.TB, p string) string {
	t.Helper()
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSaveWritesAFileThatAPersonCanRead(t *testing.T) {
	s := openTemp(t)
	want := prefs{Theme: "dark <&>", Quiet: 90 * time.Second, Hosts: []string{"a", "b"}, Extra: map[string]string{"y": "2", "x": "1"}}
	if err := prefsFile.Save(s, want); err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(s.Dir(), "prefs.json")
	const text = `{
  "version": 1,
  "data": {
    "theme": "dark <&>",
    "quiet": "1m30s",
    "hosts": [
      "a",
      "b"
    ],
    "extra": {
      "x": "1",
      "y": "2"
    }
  }
}
`
	if got := content(t, p); got != text {
		t.Errorf("file is\n%s\nwant\n%s", got, text)
	}
	if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", fi.Mode(), err)
	}
	got, err := prefsFile.Load(s)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Load = %+v, %v; want %+v", got, err, want)
	}
	if n := names(t, s.Dir()); !slices.Equal(n, []string{"prefs.json"}) {
		t.Errorf("directory holds %q", n)
	}
}

func TestTheModeIs0600UnderAnyUmask(t *testing.T) {
	s := openTemp(t)
	defer syscall.Umask(syscall.Umask(0o277))
	if err := prefsFile.Save(s, prefs{}); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(s.Dir(), "prefs.json")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", fi.Mode(), err)
	}
}

func TestAMissingFileIsTheZeroValueAndNoProblem(t *testing.T) {
	s := openTemp(t)
	v, err := prefsFile.Load(s)
	if err != nil || !reflect.DeepEqual(v, prefs{}) || len(s.Problems()) != 0 {
		t.Errorf("Load = %+v, %v, problems %v", v, err, s.Problems())
	}
}

func TestTextThatIsNoUTF8IsSavedWithItsBadBytesReplaced(t *testing.T) {
	s := openTemp(t)
	if err := prefsFile.Save(s, prefs{Theme: "a\xffb"}); err != nil {
		t.Fatal(err)
	}
	if v, err := prefsFile.Load(s); err != nil || v.Theme != "a\uFFFDb" || len(s.Problems()) != 0 {
		t.Errorf("Load = %+v, %v, problems %v", v, err, s.Problems())
	}
}

// Rows of what may lie in the data directory; each is loaded, then saved over.
var badFiles = []struct {
	name, text string
	corrupt    bool
}{
	{"whole", `{"version":1,"data":{"theme":"x"}}`, false},
	{"no data members", `{"version":1,"data":{}}`, false},
	{"null data", `{"version":1,"data":null}`, false},
	{"unknown members", `{"version":1,"comment":"mine","data":{"theme":"x","later":[1]}}`, false},
	{"white space around it", " \n{\"version\":1,\"data\":{\"theme\":\"x\"}}\n\n", false},
	{"empty", "", true},
	{"only white space", " \n", true},
	{"truncated", `{"version":1,"data":{"theme":"x"`, true},
	{"text after it", `{"version":1,"data":{"theme":"x"}} x`, true},
	{"two documents", `{"version":1,"data":{}}{"version":1,"data":{}}`, true},
	{"zeros, as a crash without fsync leaves them", strings.Repeat("\x00", 512), true},
	{"binary", "\x7fELF\x02\x01\x01", true},
	{"wrong type of a member", `{"version":1,"data":{"theme":7}}`, true},
	{"wrong type of data", `{"version":1,"data":[]}`, true},
	{"a list", `[1,2]`, true},
	{"null", `null`, true},
	{"duplicate version", `{"version":1,"version":1,"data":{}}`, true},
	{"duplicate member", `{"version":1,"data":{"theme":"a","theme":"b"}}`, true},
	{"duplicate member that nobody reads", `{"version":1,"data":{"z":{"a":1,"a":2}}}`, true},
	{"member in the wrong case and twice", `{"version":1,"Version":9,"data":{"theme":"x"}}`, false},
	{"bad UTF-8", "{\"version\":1,\"data\":{\"theme\":\"\xff\"}}", true},
	{"no version", `{"data":{"theme":"x"}}`, true},
	{"no data", `{"version":1}`, true},
	{"version 0", `{"version":0,"data":{}}`, true},
	{"negative version", `{"version":-1,"data":{}}`, true},
	{"fractional version", `{"version":1.5,"data":{}}`, true},
	{"version as text", `{"version":"1","data":{}}`, true},
	{"version beyond an int", `{"version":99999999999999999999,"data":{}}`, true},
	{"bad duration", `{"version":1,"data":{"quiet":"soon"}}`, true},
	{"deep nesting", `{"version":1,"data":{"z":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`, true},
}

func TestWhatCannotBeUnderstoodIsSetAsideAndNeverLost(t *testing.T) {
	for _, tt := range badFiles {
		t.Run(tt.name, func(t *testing.T) {
			s := openTemp(t)
			put(t, s, "prefs.json", tt.text)
			v, err := prefsFile.Load(s)
			if err != nil {
				t.Fatal(err)
			}
			checkKept(t, s, tt.text, tt.corrupt)
			if tt.corrupt && !reflect.DeepEqual(v, prefs{}) {
				t.Errorf("Load = %+v, want the zero value", v)
			}
			if err := prefsFile.Save(s, prefs{Theme: "new"}); err != nil {
				t.Fatal(err)
			}
			checkKept(t, s, tt.text, tt.corrupt)
			if v, err := prefsFile.Load(s); err != nil || v.Theme != "new" {
				t.Errorf("after Save, Load = %+v, %v", v, err)
			}
		})
	}
}

func TestASaveWithoutALoadSetsCorruptContentAsideToo(t *testing.T) {
	for _, tt := range badFiles {
		t.Run(tt.name, func(t *testing.T) {
			s := openTemp(t)
			put(t, s, "prefs.json", tt.text)
			if err := prefsFile.Save(s, prefs{Theme: "new"}); err != nil {
				t.Fatal(err)
			}
			checkKept(t, s, tt.text, tt.corrupt)
		})
	}
}

func checkKept(t *testing.T, s *Store, text string, corrupt bool) {
	t.Helper()
	problems := s.Problems()
	if !corrupt {
		if len(problems) != 0 {
			t.Errorf("problems %v, want none", problems)
		}
		return
	}
	if len(problems) != 1 || problems[0].File != "prefs.json" || !errors.Is(problems[0], ErrCorrupt) {
		t.Fatalf("problems %v, want one of prefs.json", problems)
	}
	if got := content(t, problems[0].Kept); got != text {
		t.Errorf("kept %q, want %q", got, text)
	}
}

func TestWhatIsNoRegularFileIsSetAside(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	rows := []struct {
		name string
		make func(p string) error
	}{
		{"a directory", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"a FIFO, without waiting for a writer", func(p string) error { return syscall.Mkfifo(p, 0o600) }},
		{"a link out of the directory", func(p string) error { return os.Symlink(elsewhere, p) }},
		{"a link to another file of ours", func(p string) error { return os.Symlink("other.json", p) }},
		{"a file of more than 16 MiB", func(p string) error {
			return errors.Join(os.WriteFile(p, []byte(`{"version":1,"data":{}}`), 0o600), os.Truncate(p, maxFile+1))
		}},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			s := openTemp(t)
			if err := os.WriteFile(elsewhere, []byte("theirs"), 0o600); err != nil {
				t.Fatal(err)
			}
			other := put(t, s, "other.json", `{"version":1,"data":{"theme":"other"}}`)
			if err := tt.make(filepath.Join(s.Dir(), "prefs.json")); err != nil {
				t.Fatal(err)
			}
			if v, err := prefsFile.Load(s); err != nil || v.Theme != "" {
				t.Fatalf("Load = %+v, %v", v, err)
			}
			if err := prefsFile.Save(s, prefs{Theme: "new"}); err != nil {
				t.Fatal(err)
			}
			p := s.Problems()
			if len(p) != 1 || p[0].Kept == "" {
				t.Fatalf("problems %v, want one that was kept", p)
			}
			if _, err := os.Lstat(p[0].Kept); err != nil {
				t.Error(err)
			}
			if content(t, elsewhere) != "theirs" || !strings.Contains(content(t, other), `"other"`) {
				t.Error("a file behind a link was changed")
			}
		})
	}
}

func TestTwoCorruptFilesOfOneSecondAreBothKept(t *testing.T) {
	s := openTemp(t)
	for i := range 5 {
		put(t, s, "prefs.json", fmt.Sprint("broken ", i))
		if _, err := prefsFile.Load(s); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range s.Problems() {
		if got, want := content(t, p.Kept), fmt.Sprint("broken ", i); got != want {
			t.Errorf("%s holds %q, want %q", p.Kept, got, want)
		}
	}
	if n := len(s.Problems()); n != 5 {
		t.Errorf("%d problems, want 5", n)
	}
}

func TestANewerFileIsRefusedAndNeverTouched(t *testing.T) {
	for _, text := range []string{
		`{"version":2,"data":{"theme":"x"}}`,
		`{"version":2,"content":"of another shape"}`,
	} {
		s := openTemp(t)
		p := put(t, s, "prefs.json", text)
		var newer *NewerError
		if _, err := prefsFile.Load(s); !errors.Is(err, ErrNewer) || !errors.As(err, &newer) || newer.Version != 2 || newer.Known != 1 {
			t.Errorf("Load: %v, want ErrNewer", err)
		}
		if err := prefsFile.Save(s, prefs{}); !errors.Is(err, ErrNewer) {
			t.Errorf("Save: %v, want ErrNewer", err)
		}
		if err := prefsFile.Update(s, func(*prefs) error { return nil }); !errors.Is(err, ErrNewer) {
			t.Errorf("Update: %v, want ErrNewer", err)
		}
		if got := content(t, p); got != text || len(names(t, s.Dir())) != 1 {
			t.Errorf("file is %q, directory holds %q", got, names(t, s.Dir()))
		}
	}
}

// rename returns a migration that renames one member.
func rename(from, to string) Migration {
	return func(v jsontext.Value) (jsontext.Value, error) {
		var m map[string]jsontext.Value
		if err := json.Unmarshal(v, &m); err != nil {
			return nil, err
		}
		if _, ok := m[from]; !ok {
			return nil, fmt.Errorf("no member %q", from)
		}
		m[to] = m[from]
		delete(m, from)
		return json.Marshal(m, json.Deterministic(true))
	}
}

func TestAnOlderFileIsMigratedStepByStepWithABackup(t *testing.T) {
	f := Define[prefs]("prefs", 3, rename("colour", "look"), rename("look", "theme"))
	for _, how := range []string{"load", "save"} {
		t.Run("before a "+how, func(t *testing.T) {
			s := openTemp(t)
			const old = `{"version":1,"data":{"colour":"red"}}`
			put(t, s, "prefs.json", old)
			want := "red"
			if how == "load" {
				if v, err := f.Load(s); err != nil || v.Theme != want {
					t.Fatalf("Load = %+v, %v", v, err)
				}
			} else if want = "blue"; f.Save(s, prefs{Theme: want}) != nil {
				t.Fatal("save")
			}
			if got := content(t, filepath.Join(s.Dir(), "prefs.json.v1.bak")); got != old {
				t.Errorf("backup is %q", got)
			}
			if got := content(t, filepath.Join(s.Dir(), "prefs.json")); !strings.Contains(got, `"version": 3`) || !strings.Contains(got, want) {
				t.Errorf("file is %s", got)
			}
			if len(s.Problems()) != 0 {
				t.Errorf("problems %v", s.Problems())
			}
		})
	}
}

func TestAMigrationStartsAtTheFilesOwnVersion(t *testing.T) {
	s := openTemp(t)
	f := Define[prefs]("prefs", 3, rename("colour", "look"), rename("look", "theme"))
	put(t, s, "prefs.json", `{"version":2,"data":{"look":"red"}}`)
	if v, err := f.Load(s); err != nil || v.Theme != "red" {
		t.Fatalf("Load = %+v, %v", v, err)
	}
	if n := names(t, s.Dir()); !slices.Equal(n, []string{"prefs.json", "prefs.json.v2.bak"}) {
		t.Errorf("directory holds %q", n)
	}
}

func TestAnOlderFileWithoutDataIsCorruptAndNotMigrated(t *testing.T) {
	s := openTemp(t)
	put(t, s, "prefs.json", `{"version":1}`)
	f := Define[prefs]("prefs", 2, func(jsontext.Value) (jsontext.Value, error) { return jsontext.Value(`{"theme":"invented"}`), nil })
	if v, err := f.Load(s); err != nil || v.Theme != "" {
		t.Errorf("Load = %+v, %v", v, err)
	}
	checkKept(t, s, `{"version":1}`, true)
}

func TestABackupNeverOverwritesAnotherOne(t *testing.T) {
	f := Define[prefs]("prefs", 2, rename("look", "theme"))
	s := openTemp(t)
	for _, look := range []string{"a", "b", "b", "c"} {
		put(t, s, "prefs.json", `{"version":1,"data":{"look":"`+look+`"}}`)
		if _, err := f.Load(s); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"prefs.json", "prefs.json.v1.2.bak", "prefs.json.v1.3.bak", "prefs.json.v1.bak"}
	if n := names(t, s.Dir()); !slices.Equal(n, want) {
		t.Errorf("directory holds %q, want %q", n, want)
	}
}

func TestAFailedMigrationLeavesTheFileAndRefusesSaves(t *testing.T) {
	rows := map[string]Migration{
		"an error":         rename("absent", "theme"),
		"what is not JSON": func(jsontext.Value) (jsontext.Value, error) { return jsontext.Value("{"), nil },
		"nothing":          func(jsontext.Value) (jsontext.Value, error) { return nil, nil },
	}
	for name, m := range rows {
		t.Run("it returns "+name, func(t *testing.T) {
			s := openTemp(t)
			f := Define[prefs]("prefs", 2, m)
			const old = `{"version":1,"data":{"look":"red"}}`
			p := put(t, s, "prefs.json", old)
			if _, err := f.Load(s); !errors.Is(err, ErrMigration) {
				t.Errorf("Load: %v, want ErrMigration", err)
			}
			if err := f.Save(s, prefs{}); !errors.Is(err, ErrMigration) {
				t.Errorf("Save: %v, want ErrMigration", err)
			}
			if content(t, p) != old || len(names(t, s.Dir())) != 1 {
				t.Errorf("file is %q, directory holds %q", content(t, p), names(t, s.Dir()))
			}
		})
	}
}

func TestConcurrentSavesNeverTear(t *testing.T) {
	s := openTemp(t)
	c := DefineCollection[prefs]("things", 1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			f, err := c.File(fmt.Sprint("t", i%2))
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				theme := strings.Repeat(fmt.Sprint(i), 1000*(i+1))
				if err := f.Save(s, prefs{Theme: theme}); err != nil {
					t.Error(err)
				}
				v, err := f.Load(s)
				if err != nil || v.Theme == "" || strings.Trim(v.Theme, v.Theme[:1]) != "" || len(v.Theme)%1000 != 0 {
					t.Errorf("Load: %d bytes, %v", len(v.Theme), err)
				}
			}
		})
	}
	wg.Wait()
	if len(s.Problems()) != 0 {
		t.Error(s.Problems())
	}
	if n := names(t, s.Dir()); !slices.Equal(n, []string{"things"}) {
		t.Errorf("directory holds %q", n)
	}
}

func TestUpdatesAreNotLost(t *testing.T) {
	s := openTemp(t)
	f := Define[int]("count", 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if err := f.Update(s, func(n *int) error { *n++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stop := errors.New("stop")
	if err := f.Update(s, func(n *int) error { *n = 0; return stop }); err != stop {
		t.Errorf("Update: %v, want the error of the change", err)
	}
	if n, err := f.Load(s); err != nil || n != 80 {
		t.Errorf("Load = %d, %v; want 80", n, err)
	}
}

func TestACollectionListsItsFilesAndNothingElse(t *testing.T) {
	s := openTemp(t)
	c := DefineCollection[prefs]("things", 1)
	if ids, err := c.IDs(s); err != nil || len(ids) != 0 {
		t.Fatalf("IDs = %q, %v, want none", ids, err)
	}
	for _, id := range []string{"b", "a-1", "gone", "bad"} {
		f, err := c.File(id)
		if err != nil || f.Save(s, prefs{Theme: id}) != nil {
			t.Fatal(id, err)
		}
		if id == "gone" && errors.Join(f.Remove(s), f.Remove(s)) != nil {
			t.Error("remove")
		}
	}
	put(t, s, "things/bad.json", "{")
	bad, _ := c.File("bad")
	if _, err := bad.Load(s); err != nil {
		t.Fatal(err)
	}
	put(t, s, "things/.hidden.json", "{")
	put(t, s, "things/note.txt", "{")
	if ids, err := c.IDs(s); err != nil || !slices.Equal(ids, []string{"a-1", "b"}) {
		t.Errorf("IDs = %q, %v", ids, err)
	}
	for _, id := range []string{"", "..", "a/b", "../prefs", "A", "a.b", "-a", "a\n", strings.Repeat("a", 200)} {
		if _, err := c.File(id); !errors.Is(err, ErrName) {
			t.Errorf("File(%q): %v, want ErrName", id, err)
		}
	}
}

func TestAClosedStoreWritesNothing(t *testing.T) {
	s := openTemp(t)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, loadErr := prefsFile.Load(s)
	_, dirErr := s.Subdir("x")
	for what, err := range map[string]error{
		"Load": loadErr, "Save": prefsFile.Save(s, prefs{}), "Remove": prefsFile.Remove(s), "Subdir": dirErr,
		"WriteSecret": s.WriteSecret("cli-token", "x"), "RemoveSecret": s.RemoveSecret("cli-token"),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", what, err)
		}
	}
	if n := names(t, s.Dir()); len(n) != 0 {
		t.Errorf("directory holds %q", n)
	}
}

func TestAValueThatLoadWouldRefuseIsNotSaved(t *testing.T) {
	frame, err := encode(1, "")
	if err != nil {
		t.Fatal(err)
	}
	room := maxFile - len(frame)
	data, err := encode(1, strings.Repeat("x", room))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readBounded(bytes.NewReader(data), maxFile); err != nil || len(got) != maxFile {
		t.Errorf("the largest file reads as %d bytes, %v", len(got), err)
	}
	s := openTemp(t)
	f := Define[string]("big", 1)
	if err := f.Save(s, "small"); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(s, strings.Repeat("x", room+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Save: %v, want ErrTooLarge", err)
	}
	if v, err := f.Load(s); err != nil || v != "small" {
		t.Errorf("Load: %.20q, %v", v, err)
	}
}

func TestDefineRefusesWhatCannotWork(t *testing.T) {
	noop := func(v jsontext.Value) (jsontext.Value, error) { return v, nil }
	for what, define := range map[string]func(){
		"a path":                func() { Define[int]("a/b", 1) },
		"no name":               func() { Define[int]("", 1) },
		"upper case":            func() { Define[int]("Settings", 1) },
		"version 0":             func() { Define[int]("a", 0) },
		"a missing migration":   func() { Define[int]("a", 2) },
		"one migration to many": func() { Define[int]("a", 1, noop) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Define with %s did not panic", what)
				}
			}()
			define()
		}()
	}
	if err := (File[int]{}).Save(openTemp(t), 1); !errors.Is(err, ErrName) {
		t.Errorf("Save to the zero File: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, tt := range badFiles {
		f.Add([]byte(tt.text))
	}
	f.Add([]byte(`{"version":2,"data":{"theme":"x","quiet":"3s","hosts":[""],"extra":{"a":"b"}}}`))
	f.Add([]byte(`{"version":3,"data":7}`))
	file := Define[prefs]("prefs", 2, rename("look", "theme"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := openTemp(t)
		p := put(t, s, "prefs.json", string(text))
		v, err := file.Load(s)
		problems := s.Problems()
		switch {
		case err != nil: // newer, or not to be migrated: untouched, and a save is refused
			if !errors.Is(err, ErrNewer) && !errors.Is(err, ErrMigration) {
				t.Fatalf("Load: %v", err)
			}
			if file.Save(s, v) == nil || content(t, p) != string(text) || len(problems) != 0 {
				t.Fatalf("after %v the file was changed", err)
			}
			return
		case len(problems) != 0: // corrupt: every byte is kept
			if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) || content(t, problems[0].Kept) != string(text) {
				t.Fatalf("problem %v, but the bytes are not there", problems[0])
			}
		}
		if err := file.Save(s, v); err != nil {
			t.Fatalf("Save: %v", err)
		}
		first := content(t, p)
		again, err := file.Load(s)
		if err != nil || len(s.Problems()) != len(problems) {
			t.Fatalf("what Save wrote does not load: %v, %v\n%s", err, s.Problems(), first)
		}
		if err := file.Save(s, again); err != nil || content(t, p) != first {
			t.Fatalf("load and save is not stable: %v\n%s\n%s", err, first, content(t, p))
		}
	})
}
