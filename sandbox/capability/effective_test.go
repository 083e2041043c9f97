package capability_test

import (
	"errors"
	"math/rand"
	"reflect"
	"testing"

	"termic/sandbox/capability"
)

func TestEffective(t *testing.T) {
	stored := capability.Set{
		Write:   must(capability.PathsOf("/w")),
		Read:    must(capability.PathsOf("/r")),
		Network: must(capability.HostsOf("example.com")),
		Control: must(capability.ScopedControl("web")),
		Env:     must(capability.NamesOf("LANG")),
	}
	with := func(change func(*capability.Set)) capability.Set {
		s := stored
		change(&s)
		return s
	}
	without := func(change func(*capability.Support)) capability.Support {
		s := all
		change(&s)
		return s
	}
	tests := []struct {
		name    string
		mode    capability.Mode
		support capability.Support
		want    capability.Set
	}{
		{"off is unbounded whatever is stored", capability.Off, all, capability.Unbounded()},
		{"monitor is unbounded whatever is stored", capability.Monitor, all, capability.Unbounded()},
		{"enforce is what is stored", capability.Enforce, all, stored},
		{"enforce-fs reaches every host", capability.EnforceFS, all, with(func(s *capability.Set) { s.Network = capability.AllHosts() })},
		{"a machine that enforces nothing holds nobody", capability.Enforce, capability.Support{}, capability.Unbounded()},
		{"no network cage", capability.Enforce, without(func(s *capability.Support) { s.Network = false }),
			with(func(s *capability.Set) { s.Network = capability.AllHosts() })},
		{"no checkout of its own", capability.Enforce, without(func(s *capability.Support) { s.Checkout = false }),
			with(func(s *capability.Set) { s.Checkout = capability.LiveCheckout })},
		{"tokens do not hold", capability.Enforce, without(func(s *capability.Support) { s.Control = false }),
			with(func(s *capability.Set) { s.Control = capability.FullControl() })},
		{"the environment is readable", capability.Enforce, without(func(s *capability.Support) { s.Env = false }),
			with(func(s *capability.Set) { s.Env = capability.AllNames() })},
		{"prompts can be turned off", capability.Enforce, without(func(s *capability.Support) { s.Bypass = false }),
			with(func(s *capability.Set) { s.Bypass = true })},
		{"who reads every file reads tokens and secrets", capability.Enforce, without(func(s *capability.Support) { s.Read = false }),
			with(func(s *capability.Set) {
				s.Read, s.Env, s.Control = capability.AllPaths(), capability.AllNames(), capability.FullControl()
			})},
		{"who writes every file does everything", capability.Enforce, without(func(s *capability.Support) { s.Write = false }), capability.Unbounded()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := capability.Effective(capability.Declared{Mode: tt.mode, Set: stored}, tt.support)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q, %v\nwant %q", got.Words(), err, tt.want.Words())
			}
		})
	}
}

func TestDeclarationsThatNoCageKeeps(t *testing.T) {
	live := capability.Set{Checkout: capability.LiveCheckout}
	full := capability.Set{Control: capability.FullControl()}
	tests := []struct {
		name     string
		declared capability.Declared
		want     error
	}{
		{"the zero value", capability.Declared{}, capability.ErrNoMode},
		{"a mode beyond the last", capability.Declared{Mode: capability.Enforce + 1}, capability.ErrNoMode},
		{"a live checkout in enforce", capability.Declared{Mode: capability.Enforce, Set: live}, capability.ErrLiveCaged},
		{"a live checkout in enforce-fs", capability.Declared{Mode: capability.EnforceFS, Set: live}, capability.ErrLiveCaged},
		{"a live checkout in monitor", capability.Declared{Mode: capability.Monitor, Set: live}, nil},
		{"full control in enforce-fs", capability.Declared{Mode: capability.EnforceFS, Set: full}, capability.ErrFullCaged},
		{"full control in off", capability.Declared{Mode: capability.Off, Set: full}, nil},
		{"nothing in enforce", capability.Declared{Mode: capability.Enforce}, nil},
	}
	for _, tt := range tests {
		set, err := capability.Effective(tt.declared, all)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err != nil && !set.Equal(capability.Set{}) {
			t.Errorf("%s: an error comes with a set that allows something", tt.name)
		}
	}
}

// TestEffectiveOnlyWidens: never below what is declared, and never narrower for less support.
func TestEffectiveOnlyWidens(t *testing.T) {
	check(t, func(w written, mode uint8, more, less capability.Support) bool {
		d := capability.Declared{Mode: capability.Off + capability.Mode(mode)%4, Set: w.set()}
		weak, strong := reflect.ValueOf(&less).Elem(), reflect.ValueOf(more)
		for i := range weak.NumField() {
			weak.Field(i).SetBool(weak.Field(i).Bool() && strong.Field(i).Bool())
		}
		wide, err := capability.Effective(d, less)
		narrow, err2 := capability.Effective(d, more)
		if err != nil || err2 != nil {
			return d.Check() != nil
		}
		_, monotone := narrow.Within(wide)
		_, kept := d.Set.Within(narrow)
		return monotone && kept
	})
}

func TestChildOf(t *testing.T) {
	hosts := func(entries ...string) capability.Hosts { return must(capability.HostsOf(entries...)) }
	scoped := func(ids ...string) capability.Control { return must(capability.ScopedControl(ids...)) }
	declared := func(m capability.Mode, s capability.Set) capability.Declared {
		return capability.Declared{Mode: m, Set: s}
	}
	parent := declared(capability.Enforce, capability.Set{Network: hosts("*.example.com"), Control: scoped("web", "api"), Bypass: true})
	monitor := declared(capability.Monitor, capability.Set{Control: scoped("web")})
	open := declared(capability.EnforceFS, capability.Set{Network: hosts("example.com"), Control: scoped("web")})
	off := declared(capability.Off, capability.Set{Control: capability.FullControl()})
	tests := []struct {
		name          string
		parent, child capability.Declared
		support       capability.Support
		want          capability.Axis // "" if it may
	}{
		{"the same again", parent, parent, all, ""},
		{"less on every axis", parent, declared(capability.Enforce, capability.Set{}), all, ""},
		{"a host below the wildcard", parent, declared(capability.Enforce, capability.Set{Network: hosts("a.example.com")}), all, ""},
		{"a host beside the wildcard", parent, declared(capability.Enforce, capability.Set{Network: hosts("example.com")}), all, capability.AxisNetwork},
		{"a weaker mode with the same list", parent, declared(capability.EnforceFS, parent.Set), all, capability.AxisMode},
		{"no mode", parent, declared(0, capability.Set{}), all, capability.AxisMode},
		{"a mode beyond the last", parent, declared(capability.Enforce+1, capability.Set{}), all, capability.AxisMode},
		{"a stricter mode", open, declared(capability.Enforce, capability.Set{Network: hosts("example.org")}), all, ""},
		{"another list that enforce-fs does not keep", open, declared(capability.EnforceFS, capability.Set{Network: hosts("example.org")}), all, ""},
		{"a project less", parent, declared(capability.Enforce, capability.Set{Control: scoped("web")}), all, ""},
		{"another project", parent, declared(capability.Enforce, capability.Set{Control: scoped("db")}), all, capability.AxisControl},
		{"another project under monitor, which is unbounded", monitor, declared(capability.Monitor, capability.Set{Control: scoped("db")}), all, capability.AxisControl},
		{"the same project under monitor", monitor, monitor, all, ""},
		{"full control under full control", off, declared(capability.Off, off.Set), all, capability.AxisControl},
		{"scoped control under full control", off, declared(capability.Off, capability.Set{Control: scoped("web")}), all, ""},
		{"full control in a cage", parent, declared(capability.Enforce, capability.Set{Control: capability.FullControl()}), all, capability.AxisControl},
		{"bypass without a cage", monitor, declared(capability.Monitor, capability.Set{Bypass: true}), all, capability.AxisBypass},
		{"bypass in a cage", monitor, declared(capability.EnforceFS, capability.Set{Bypass: true}), all, ""},
		{"bypass where the parent's agent asks", open, declared(capability.EnforceFS, capability.Set{Bypass: true}), all, capability.AxisBypass},
		{"the live checkout", monitor, declared(capability.Monitor, capability.Set{Checkout: capability.LiveCheckout}), all, capability.AxisCheckout},
		{"wider lists on a machine that keeps neither", parent,
			declared(capability.Enforce, capability.Set{Network: hosts("example.org")}), capability.Support{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.child.ChildOf(tt.parent, tt.support)
			var excess capability.Excess
			if errors.As(err, &excess); excess.Axis != tt.want || (err == nil) != (tt.want == "") {
				t.Errorf("got %v, want axis %q", err, tt.want)
			}
		})
	}
	err := declared(capability.Monitor, capability.Set{}).ChildOf(parent, all)
	if want := `mode would weaken to "monitor"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := parent.ChildOf(capability.Declared{}, all); !errors.Is(err, capability.ErrNoMode) {
		t.Errorf("a parent without a mode: %v", err)
	}
}

// TestChildrenNeverExceed: whatever a chain of children declares, the last is within the first.
func TestChildrenNeverExceed(t *testing.T) {
	born := 0
	r := rand.New(rand.NewSource(2))
	check(t, func(a, b, c written, support capability.Support) bool {
		chain := []capability.Declared{{Mode: capability.Enforce, Set: a.set()}, {Mode: capability.Enforce, Set: b.set()}, {Mode: capability.Enforce, Set: c.set()}}
		for i := range chain {
			chain[i].Set.Checkout = capability.OwnCheckout
			chain[i].Mode = capability.Off + capability.Mode(r.Intn(4))
			if i > 0 && r.Intn(2) == 0 {
				chain[i].Set = capability.Meet(chain[i].Set, chain[i-1].Set)
			}
			if i > 0 && chain[i].ChildOf(chain[i-1], support) != nil {
				return true
			}
		}
		limit, err := capability.Effective(chain[0], support)
		reach, err2 := capability.Effective(chain[2], support)
		_, ok := reach.Within(limit)
		born++
		return err == nil && err2 == nil && ok && chain[2].ChildOf(chain[0], support) == nil
	})
	if born < 5 {
		t.Errorf("%d chains of 400 came about", born)
	}
}

func TestModes(t *testing.T) {
	modes := []struct {
		mode  capability.Mode
		text  string
		caged bool
	}{{capability.Off, "off", false}, {capability.Monitor, "monitor", false}, {capability.EnforceFS, "enforce-fs", true}, {capability.Enforce, "enforce", true}}
	for i, m := range modes {
		parsed, err := capability.ParseMode(m.text)
		if err != nil || parsed != m.mode || m.mode.String() != m.text || m.mode.Caged() != m.caged || !m.mode.Valid() {
			t.Errorf("%s: parsed %v, %v; caged %v", m.text, parsed, err, m.mode.Caged())
		}
		for j, other := range modes {
			if got := m.mode.AtLeast(other.mode); got != (i >= j) {
				t.Errorf("%s at least %s = %v", m.text, other.text, got)
			}
		}
	}
	for _, none := range []capability.Mode{0, capability.Enforce + 1, 255} {
		if _, err := none.MarshalText(); none.Valid() || none.Caged() || none.String() != "none" || !errors.Is(err, capability.ErrNoMode) {
			t.Errorf("mode %d passes for one", none)
		}
		if none.AtLeast(capability.Off) || capability.Enforce.AtLeast(none) || none.AtLeast(none) {
			t.Errorf("mode %d compares", none)
		}
	}
	for _, text := range []string{"", "none", "Off", "enforce ", "enforce_fs"} {
		var invalid *capability.InvalidError
		if _, err := capability.ParseMode(text); !errors.As(err, &invalid) {
			t.Errorf("ParseMode(%q): %v", text, err)
		}
	}
}
