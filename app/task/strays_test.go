package task

import (
	"os"
	"testing"

	"termic/app/pty"
	"termic/registry/ident"
)

func TestWhatTheAppStartsIsNoStray(t *testing.T) {
	app := os.Getpid()
	parents := map[int]int{app: 1, 900: app, 901: 900, 800: app, 801: 800, 700: 1, 600: 601, 601: 600}
	tabs := map[int]bool{800: true}
	for _, c := range []struct {
		name string
		pid  int
		want bool
	}{
		{"the app", app, true},
		{"its git", 900, true},
		{"what its git started", 901, true},
		{"what a tab's shell started", 801, false},
		{"one that init has", 700, false},
		{"one that nothing is known of", 5, false},
		{"a chain that goes round", 600, false},
	} {
		if got := ownWork(c.pid, parents, tabs); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAPlaceIsACheckoutOfALiveTask(t *testing.T) {
	dir := t.TempDir()
	records := func(change func(*Record)) []Record {
		r := Record{ID: "t-1", Dir: dir, Stage: Live, OwnCheckout: true}
		if change != nil {
			change(&r)
		}
		return []Record{r}
	}
	for _, c := range []struct {
		name    string
		process pty.Process
		records []Record
		want    ident.Task
	}{
		{"below", pty.Process{Dir: dir + "/src"}, records(nil), "t-1"},
		{"the checkout", pty.Process{Dir: dir}, records(nil), "t-1"},
		{"one that begins alike", pty.Process{Dir: dir + "2"}, records(nil), ""},
		{"at a terminal of the person", pty.Process{Dir: dir, Terminal: true}, records(nil), ""},
		{"not known", pty.Process{}, records(nil), ""},
		{"the project's own checkout", pty.Process{Dir: dir}, records(func(r *Record) { r.OwnCheckout = false }), ""},
		{"an archived task's", pty.Process{Dir: dir}, records(func(r *Record) { r.Stage = Archived }), ""},
	} {
		if got, ok := placed(c.process, c.records); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v", c.name, got, ok)
		}
	}
}
