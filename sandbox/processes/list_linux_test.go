package processes_test

import (
	"testing"

	"termic/sandbox/processes"
)

func TestParseStat(t *testing.T) {
	for name, row := range map[string]struct {
		stat     string
		sid      int
		living   bool
		terminal bool
	}{
		"a shell":                         {"12 (sh) S 1 12 12 34816 12 4194304", 12, true, true},
		"a name with blanks and brackets": {"7 (a) Z 9 (b) R 1 7 5 0 -1 0", 5, true, false},
		"an uncollected process":          {"12 (sh) Z 1 12 12 34816 12", 12, false, true},
		"a dead process":                  {"12 (sh) X 1 12 12 34816 12", 12, false, true},
		"nothing":                         {"", 0, false, false},
		"cut off after the name":          {"12 (sh)", 0, false, false},
		"a parent that is not a number":   {"12 (sh) S x 12 12 0", 0, false, false},
		"cut off before the session":      {"12 (sh) S 1 12", 0, false, false},
		"a session that is not a number":  {"12 (sh) S 1 12 x 0", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if p, living := processes.Parse([]byte(row.stat)); p.Session != row.sid || living != row.living || p.Terminal != row.terminal {
				t.Errorf("%+v %v, want %d %v %v", p, living, row.sid, row.living, row.terminal)
			}
		})
	}
}
