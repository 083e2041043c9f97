package profile_test

import (
	"errors"
	"fmt"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
)

// counting is a disk that counts how often it is asked.
type counting struct {
	profile.Disk
	looks *int
}

func (c counting) Lstat(name string) (profile.Entry, error) {
	*c.looks++
	return c.Disk.Lstat(name)
}

func (c counting) ReadDir(name string) ([]string, error) {
	*c.looks++
	return c.Disk.ReadDir(name)
}

// Sift says of each path what Compile says of it alone, as long as no two have to do with each other.
func TestSiftSaysWhatCompileSays(t *testing.T) {
	disk := machine("/srv/data/", "/srv/link -> /srv/data", "/srv/a\tb/", checkout+"/sub/", checkout+"/.vscode/settings.json")
	asks := []profile.Ask{
		{"/srv/data", false}, {"/srv/data", true}, {"/srv/link", false}, {"/home/u/docs", false}, {"/home/u/docs", true}, {"/home/u", false}, {"/home/u/.ssh", false}, {"/", false},
		{"/home/u/.ssh/id_ed25519", false}, {"/home/u/src/web", false}, {"/home/u/src/lib", true}, {"/home/u/.bashrc", false}, {"/home/u/.bashrc", true}, {data, false}, {"/usr/bin", false},
		{"/usr/bin", true}, {"/gone", false}, {"/tmp", false}, {checkout, true}, {checkout + "/sub", false}, {checkout + "/.vscode", true}, {"/home/u/.pyenv/bin", false}, {"/srv/a\tb", false}, {"relative", true},
	}
	refused, err := profile.Sift(asks, dirs(), disk)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range asks {
		paths, want := capability.PathsOf(one.Path)
		if want == nil {
			set := capability.Set{Read: paths}
			if one.Write {
				set = capability.Set{Write: paths}
			}
			_, want = profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set}, dirs(), disk)
		}
		if fmt.Sprint(refused[one]) != fmt.Sprint(want) {
			t.Errorf("%+v: %v, want %v", one, refused[one], want)
		}
	}
	if len(refused) < 8 || len(refused) > len(asks)-5 {
		t.Errorf("%d of %d are refused: the table says little", len(refused), len(asks))
	}
}

// A path can make impossible what the cage needs besides: then it is left out, and the others stay.
func TestSiftFindsThePathsThatSpoilTheCage(t *testing.T) {
	// A link in a protected directory leads to where, with this path, the cage could make what it names.
	disk := machine("/srv/hooks/", "/srv/other/", "/srv/more/", checkout+"/.husky/run -> /srv/hooks/made-later")
	asks := []profile.Ask{{"/srv/more", true}, {"/srv/hooks", true}, {"/srv/other", true}}
	refused, err := profile.Sift(asks, dirs(), disk)
	var link *profile.LinkError
	if err != nil || len(refused) != 1 || !errors.As(refused[asks[1]], &link) {
		t.Fatalf("%v, %v", refused, err)
	}
	set := writes("/srv/more", "/srv/other")
	if _, err := profile.Compile(capability.Declared{Mode: capability.Enforce, Set: set}, dirs(), disk); err != nil {
		t.Errorf("the others together: %v", err)
	}
	// The cage itself cannot be made: that is no path's fault.
	if refused, err := profile.Sift(asks, dirs(), machine(checkout+"/.envrc -> /elsewhere")); err == nil {
		t.Errorf("%v", refused)
	}
}

// As many paths as are ever kept: each is looked at once for itself and once for all, and nothing is looked at once for each.
func TestSiftLooksAtEachPathOnce(t *testing.T) {
	looks := func(n int) int {
		var names []string
		var asks []profile.Ask
		for i := range n {
			names = append(names, fmt.Sprintf("/srv/d%d/x/", i))
			asks = append(asks, profile.Ask{Path: fmt.Sprintf("/srv/d%d/x", i), Write: i%2 == 0})
		}
		count := 0
		refused, err := profile.Sift(asks, dirs(), counting{machine(names...), &count})
		if err != nil || len(refused) != 0 {
			t.Fatalf("%v, %v", refused, err)
		}
		return count
	}
	none, some, many := looks(0), looks(100), looks(1600)
	// Depth 3, and the path itself, twice.
	if each := (many - none) / 1600; each > 8 || (some-none)/100 != each {
		t.Errorf("%d looks for none, %d for 100 paths, %d for 1600", none, some, many)
	}
}
