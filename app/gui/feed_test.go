package gui

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termic/registry"
	"termic/registry/verbs"
)

func task(id, state string) verbs.Task { return verbs.Task{ID: id, State: state, Tabs: []verbs.Tab{}} }

func TestWhatAPictureTellsOfTheNext(t *testing.T) {
	on := verbs.Endpoint{Enabled: true, URL: "http://127.0.0.1:1/mcp"}
	for _, c := range []struct {
		name     string
		from, to verbs.WindowWatchOut
		want     *Change
	}{
		{"nothing changed", verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle")}}, verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle")}}, nil},
		{"a task changed", verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle"), task("b", "idle")}}, verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle"), task("b", "done")}},
			&Change{Tasks: []verbs.Task{task("b", "done")}}},
		{"a task is new", verbs.WindowWatchOut{}, verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle")}}, &Change{Tasks: []verbs.Task{task("a", "idle")}}},
		{"a task is gone", verbs.WindowWatchOut{Tasks: []verbs.Task{task("a", "idle")}}, verbs.WindowWatchOut{}, &Change{Gone: []string{"a"}}},
		{"a project is gone", verbs.WindowWatchOut{Projects: []verbs.Project{{ID: "p"}, {ID: "q"}}}, verbs.WindowWatchOut{Projects: []verbs.Project{{ID: "q"}}},
			&Change{Projects: []verbs.Project{{ID: "q"}}, Forgot: []string{"p"}}},
		{"the last project is gone", verbs.WindowWatchOut{Projects: []verbs.Project{{ID: "p"}}}, verbs.WindowWatchOut{}, &Change{Forgot: []string{"p"}}},
		{"the endpoint changed", verbs.WindowWatchOut{}, verbs.WindowWatchOut{Endpoint: on}, &Change{Endpoint: &on}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := take(c.from).to(take(c.to)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// drawing is what a feed draws; a test changes it.
type drawing struct {
	mu    sync.Mutex
	page  verbs.WindowWatchOut
	drawn int
}

func (d *drawing) draw(context.Context) verbs.WindowWatchOut {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drawn++
	return d.page
}

func (d *drawing) times() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn
}

func (d *drawing) set(tasks ...verbs.Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.page.Tasks = tasks
}

func TestAFeedGathersChangesAndNumbersThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed, d := NewFeed(), &drawing{}
		d.set(task("a", "idle"))
		go feed.Run(t.Context(), d.draw)
		feed.Poke() // nobody watches: nothing is drawn
		time.Sleep(time.Second)
		if n := d.times(); n != 0 {
			t.Errorf("drawn %d times for nobody", n)
		}
		sub, err := feed.open(feed.Watch())
		if err != nil {
			t.Fatal(err)
		}
		if first := <-sub.lines; first.Seq != 1 || len(first.Tasks) != 1 {
			t.Errorf("first %+v, want the whole once", first)
		}
		for range 100 {
			feed.Poke()
		}
		d.set(task("a", "working"))
		if second := <-sub.lines; second.Seq != 2 || second.Tasks[0].State != "working" {
			t.Errorf("second %+v", second)
		}
		time.Sleep(time.Second)
		if n := d.times(); len(sub.lines) > 0 || n > 3 {
			t.Errorf("%d lines wait, drawn %d times for a burst", len(sub.lines), n)
		}
	})
}

func TestAPageThatFallsBehindIsCutOffAndOthersAreNot(t *testing.T) {
	feed := NewFeed()
	slow, err := feed.open(feed.Watch())
	if err != nil {
		t.Fatal(err)
	}
	quick, err := feed.open(feed.Watch())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxBehind + 1 {
		feed.tell(Change{Gone: []string{"x"}})
		if got := <-quick.lines; got.Seq != uint64(i+1) {
			t.Fatalf("line %d has number %d", i+1, got.Seq)
		}
	}
	n := 0
	for range slow.lines {
		n++
	}
	if n != maxBehind {
		t.Errorf("the slow page got %d lines, want %d and an end", n, maxBehind)
	}
	feed.tell(Change{}) // a closed page is told nothing more
}

func TestATicketOfTheFeedIsGoodOnceAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := NewFeed()
		ticket, late := feed.Watch(), feed.Watch()
		if _, err := feed.open(ticket); err != nil {
			t.Errorf("a fresh ticket: %v", err)
		}
		if _, err := feed.open(ticket); err == nil {
			t.Error("a ticket was good twice")
		}
		time.Sleep(ticketLife + time.Nanosecond)
		if _, err := feed.open(late); err == nil {
			t.Error("a late ticket was good")
		}
		if _, err := feed.open("made up"); err == nil {
			t.Error("a ticket that was never given was good")
		}
		feed.Watch()
		if len(feed.subs) != 2 {
			t.Errorf("%d subscribers are kept, want the open one and the new one", len(feed.subs))
		}
	})
}

func TestWhichCallsAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		event registry.Event
		told  bool
	}{
		{"a read of the window for itself", registry.Event{Way: registry.Window, Class: registry.Read}, false},
		{"a write of the window", registry.Event{Way: registry.Window, Class: registry.Write}, true},
		{"a read over MCP", registry.Event{Way: registry.MCP, Class: registry.Read}, true},
		{"a read of the command line", registry.Event{Way: registry.CLI, Class: registry.Read}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			feed := NewFeed()
			sub, err := feed.open(feed.Watch())
			if err != nil {
				t.Fatal(err)
			}
			feed.Note(c.event)
			if told := len(sub.lines) == 1; told != c.told {
				t.Errorf("told %v", told)
			}
		})
	}
}

func TestShowSaysWhetherThereIsAWindow(t *testing.T) {
	feed := NewFeed()
	if feed.Show("t1") {
		t.Error("a window was shown where there is none")
	}
	fronted := 0
	feed.AttachWindow(func() { fronted++ })
	sub, err := feed.open(feed.Watch())
	if err != nil {
		t.Fatal(err)
	}
	if !feed.Show("t1") || fronted != 1 {
		t.Errorf("window to the front %d times", fronted)
	}
	if line := <-sub.lines; line.Show == nil || *line.Show != "t1" {
		t.Errorf("the page was told %+v", line)
	}
}

// A page begins with the newest calls: one that its schema does not know would keep every page from opening.
func TestACallOfEachPhaseFitsWhatAPageIsTold(t *testing.T) {
	field, _ := reflect.TypeFor[verbs.Called]().FieldByName("Phase")
	known := strings.Split(field.Tag.Get("enum"), ",")
	for _, phase := range []registry.Phase{registry.Decided, registry.Held, registry.Finished} {
		if told := CalledOf(registry.Event{Phase: phase}).Phase; !slices.Contains(known, told) {
			t.Errorf("a page is told the phase %q; the schema of window_watch knows %v", told, known)
		}
	}
}
