package settings

import (
	"path/filepath"
	"testing"
	"time"
)

func TestWhenTheDesktopIsTold(t *testing.T) {
	set, s := open(t, filepath.Join(t.TempDir(), "data"))
	defer s.Close()
	at := func(clock string) time.Time {
		now, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for name, c := range map[string]struct {
		on, quiet, now string
		want           bool
	}{
		"by default":                   {"true", "", "03:00", true},
		"switched off":                 {"false", "", "12:00", false},
		"over midnight, late":          {"true", "22:00-07:00", "22:00", false},
		"over midnight, early":         {"true", "22:00-07:00", "06:59", false},
		"over midnight, its end":       {"true", "22:00-07:00", "07:00", true},
		"over midnight, before":        {"true", "22:00-07:00", "21:59", true},
		"within a day, its beginning":  {"true", "12:00 - 13:30", "12:00", false},
		"within a day, its end":        {"true", "12:00 - 13:30", "13:30", true},
		"within a day, the other side": {"true", "12:00 - 13:30", "00:00", true},
	} {
		if err := set.Set(Notify, c.on); err != nil {
			t.Fatal(err)
		}
		if err := set.Set(NotifyQuiet, c.quiet); err != nil {
			t.Fatal(err)
		}
		if got := set.Notifies(at(c.now)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, bad := range []string{"22", "22:00", "25:00-07:00", "22:00-07:60", "07:00-07:00", "a-b", "22:00-07:00-08:00"} {
		if set.Set(NotifyQuiet, bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestOfWhichProjectsTheDesktopIsTold(t *testing.T) {
	set, s := open(t, filepath.Join(t.TempDir(), "data"))
	defer s.Close()
	if !set.NotifiesOf("shop") {
		t.Error("not by default")
	}
	if err := set.Set(NotifyNever, "site, shop"); err != nil {
		t.Fatal(err)
	}
	if set.NotifiesOf("shop") || set.NotifiesOf("site") || !set.NotifiesOf("sho") {
		t.Error("the wrong projects")
	}
	if set.Set(NotifyNever, "a\x1bb") == nil {
		t.Error("a control character is taken")
	}
}
