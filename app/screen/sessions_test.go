package screen

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// session is one recording: what programs really printed, with every size that the terminal had (asciicast v2; build/record
// made those of vim, less, htop and tmux).
type session struct {
	Width, Height int
	events        []event
}

type event struct {
	kind string
	text string
}

func loadSession(t testing.TB, name string) session {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 16<<20)
	var s session
	for first := true; lines.Scan(); first = false {
		var e [3]any
		if first {
			err = json.Unmarshal(lines.Bytes(), &s)
		} else if err = json.Unmarshal(lines.Bytes(), &e); err == nil {
			s.events = append(s.events, event{fmt.Sprint(e[1]), fmt.Sprint(e[2])})
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

func sessionNames(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/sessions/*.cast.gz")
	if err != nil || len(names) < 15 {
		t.Fatalf("%d recordings, %v", len(names), err)
	}
	return names
}

// TestRecordedSessions compares whole states at every 100th event of each recording and before each resize. Directly after a
// resize the two differ on purpose until the program has drawn anew; and they say of themselves who they are.
func TestRecordedSessions(t *testing.T) {
	names := sessionNames(t)
	var trials []trial
	for _, name := range names {
		s := loadSession(t, name)
		one := trial{Cols: s.Width, Rows: s.Height}
		calm := 0 // events since the last resize
		for i, e := range s.events {
			switch e.kind {
			case "o":
				one.Ops = append(one.Ops, []byte(e.text))
				if calm++; calm > 10 && i%100 == 0 {
					one.Ops = append(one.Ops, look{})
				}
			case "r":
				var to size
				if _, err := fmt.Sscanf(e.text, "%dx%d", &to[0], &to[1]); err != nil {
					t.Fatal(err)
				}
				one.Ops = append(one.Ops, look{}, to)
				calm = 0
			}
		}
		trials = append(trials, one)
	}
	compare(t, trials, false, func(i int) string { return filepath.Base(names[i]) })
}
