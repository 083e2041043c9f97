package settings

import (
	"path/filepath"
	"testing"

	"termic/app/store"
	"termic/registry/refusal"
)

func open(t *testing.T, dir string) (*Settings, *store.Store) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return set, s
}

func TestSettingsAreKeptAndChecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	set, s := open(t, dir)
	for name, c := range map[string]struct {
		key, value string
		code       refusal.Code
	}{
		"a switch":                  {MCPEnabled, "true", ""},
		"a switch that is neither":  {MCPEnabled, "yes", refusal.BadInput},
		"the lowest port":           {MCPPort, "1024", ""},
		"a port below":              {MCPPort, "1023", refusal.BadInput},
		"the highest port":          {MCPPort, "65535", ""},
		"a port above":              {MCPPort, "65536", refusal.BadInput},
		"any port":                  {MCPPort, "0", ""},
		"no number":                 {MCPPort, "x", refusal.BadInput},
		"no agent":                  {DefaultAgent, "", refusal.BadInput},
		"no directory":              {CheckoutsDir, "", ""},
		"a relative directory":      {CheckoutsDir, "x", refusal.BadInput},
		"an unclean directory":      {CheckoutsDir, "/x/../y", refusal.BadInput},
		"a directory":               {CheckoutsDir, "/x", ""},
		"the most lines":            {Scrollback, "100000", ""},
		"more lines":                {Scrollback, "100001", refusal.BadInput},
		"fewer lines than none":     {Scrollback, "-1", refusal.BadInput},
		"a setting that is not one": {"mcp.colour", "red", refusal.NotFound},
	} {
		err := set.Set(c.key, c.value)
		no, _ := refusal.From(err)
		switch {
		case c.code == "" && (err != nil || set.Get(c.key) != c.value):
			t.Errorf("%s: %v, then %q", name, err, set.Get(c.key))
		case c.code != "" && (no == nil || no.Code != c.code):
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := set.Set(Scrollback, "5000"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, s := open(t, dir)
	defer s.Close()
	if !again.Bool(MCPEnabled) || again.Int(Scrollback) != 5000 {
		t.Errorf("kept: %v, %d", again.Bool(MCPEnabled), again.Int(Scrollback))
	}
}

func TestAValueThatIsNoLongerAllowedIsTheDefault(t *testing.T) {
	set, s := open(t, filepath.Join(t.TempDir(), "data"))
	defer s.Close()
	set.values[MCPPort] = "99"
	if got := set.Get(MCPPort); got != "0" {
		t.Errorf("%q", got)
	}
}

func TestDefaultsPassTheirOwnChecks(t *testing.T) {
	for _, setting := range All() {
		if err := Check(setting.Key, setting.Default); err != nil {
			t.Errorf("%s: %v", setting.Key, err)
		}
		if setting.Doc == "" {
			t.Errorf("%s has no text", setting.Key)
		}
	}
}
