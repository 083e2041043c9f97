package ident

import (
	"strings"
	"testing"
)

func TestNewIDsParseBackAsTheirOwnKindOnly(t *testing.T) {
	task, tab := NewTask(), NewTab()
	if got, err := ParseTask(string(task)); err != nil || got != task {
		t.Errorf("ParseTask(%q) = %q, %v", task, got, err)
	}
	if _, err := ParseTask(string(tab)); err == nil {
		t.Errorf("ParseTask took the tab id %q", tab)
	}
	if got, err := ParseTab(string(tab)); err != nil || got != tab {
		t.Errorf("ParseTab(%q) = %q, %v", tab, got, err)
	}
	if project := NewProject(); project != "" {
		if got, err := ParseProject(string(project)); err != nil || got != project {
			t.Errorf("ParseProject(%q) = %q, %v", project, got, err)
		}
	}
}

func TestIDsDoNotRepeat(t *testing.T) {
	seen := map[Task]bool{}
	for range 10_000 {
		id := NewTask()
		if seen[id] {
			t.Fatalf("%q twice", id)
		}
		seen[id] = true
	}
}

func FuzzParseTask(f *testing.F) {
	f.Add(string(NewTask()))
	f.Add("t-")
	f.Add("t-aaaaaaaaaaaaaaaa\n")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseTask(s)
		if err != nil {
			return
		}
		if string(id) != s || !strings.HasPrefix(s, taskPrefix) || len(s) != len(taskPrefix)+16 {
			t.Errorf("ParseTask(%q) accepted a string that is not an id", s)
		}
	})
}
