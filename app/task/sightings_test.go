package task

import (
	"fmt"
	"slices"
	"testing"
)

// seenOf returns what is kept of a kind, and how many things are not.
func seenOf(v *sightings, kind string) (what []string, dropped int) {
	list, more := v.list()
	for _, one := range list {
		if one.Kind == kind {
			what = append(what, one.What)
		}
	}
	return what, more[kind]
}

func TestNoKindTakesThePlaceOfAnother(t *testing.T) {
	v := &sightings{keep: []string{"/home/u"}}
	v.note("read", "/srv/models", "a", 1)
	v.note("write", "/srv/results", "a", 1)
	v.note("connect", "192.0.2.7:443", "a", 1)
	for i := range 4 * maxSeen {
		v.note("program", fmt.Sprintf("/opt/p%d/bin/p", i), "a", 1) // each in a directory of its own
	}
	for kind, want := range map[string]string{"read": "/srv/models", "write": "/srv/results", "connect": "192.0.2.7:443"} {
		if got, dropped := seenOf(v, kind); !slices.Equal(got, []string{want}) || dropped != 0 {
			t.Errorf("%s: %v and %d more", kind, got, dropped)
		}
	}
	programs, dropped := seenOf(v, "program")
	if len(programs) != maxSeen || dropped != 3*maxSeen {
		t.Errorf("%d programs, and %d more", len(programs), dropped)
	}
	if last := fmt.Sprintf("/opt/p%d/bin/p", 4*maxSeen-1); !slices.Contains(programs, last) {
		t.Error("the newest is not among them")
	}
}

func TestWhatIsUsedAgainOutlastsNoise(t *testing.T) {
	v := &sightings{}
	for range 2 {
		v.note("read", "/srv/models", "a", 1)
	}
	for i := range 2 * maxSeen {
		v.note("read", fmt.Sprintf("/noise/%d/x/y", i), "a", 1)
	}
	if got, _ := seenOf(v, "read"); !slices.Contains(got, "/srv/models") {
		t.Error("it was lost to what was read once")
	}
}

func TestManyPlacesOfOneDirectoryAreOne(t *testing.T) {
	v := &sightings{keep: []string{"/home/u", "/checkouts/fix"}}
	for i := range 10 * maxBeside {
		v.note("read", fmt.Sprintf("/srv/set/%d", i), "a", 1)
		v.note("connect", fmt.Sprintf("192.0.2.7:%d", 1+i), "a", 1)
	}
	for i := range maxBeside { // as many as stay apart
		v.note("write", fmt.Sprintf("/srv/out/%d", i), "a", 1)
	}
	list, dropped := v.list()
	if len(dropped) != 0 {
		t.Errorf("something was dropped: %v", dropped)
	}
	var folded []Seen
	for _, one := range list {
		if one.Kind != "write" {
			folded = append(folded, one)
		}
	}
	if len(folded) != 2 || len(list) != 2+maxBeside {
		t.Fatalf("%d things: %+v", len(list), folded)
	}
	for _, one := range folded {
		if (one.What != "/srv/set" && one.What != "192.0.2.7") || one.Below != 10*maxBeside || one.Count != 10*maxBeside {
			t.Errorf("%+v", one)
		}
	}
	v.note("read", "/srv/set/9/deep/er", "a", 1)
	if got, _ := seenOf(v, "read"); len(got) != 1 {
		t.Errorf("what is below is noted apart: %v", got)
	}
	v.note("write", "/srv/out/one-more", "a", 1)
	if got, _ := seenOf(v, "write"); !slices.Equal(got, []string{"/srv/out"}) {
		t.Errorf("writes: %v", got)
	}
}

// A home directory, a checkout and what is around them are never what a program asked for because it asked for much in them.
func TestWhatIsAroundTheHomeDirectoryIsNeverMeant(t *testing.T) {
	v := &sightings{keep: []string{"/home/u", "/checkouts/fix"}}
	for i := range 2 * maxBeside {
		for _, dir := range []string{"/home/u", "/home", "/checkouts", ""} {
			v.note("read", fmt.Sprintf("%s/d%d", dir, i), "a", 1)
		}
	}
	if got, _ := seenOf(v, "read"); len(got) != 8*maxBeside {
		t.Errorf("%d: %v", len(got), got)
	}
}
