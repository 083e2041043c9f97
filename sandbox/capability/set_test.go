package capability_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"termic/sandbox/capability"
)

func subset(a, b map[string]bool) bool {
	for p := range a {
		if !b[p] {
			return false
		}
	}
	return true
}

func check(t *testing.T, property any) {
	t.Helper()
	if err := quick.Check(property, &quick.Config{MaxCount: 400, Rand: rand.New(rand.NewSource(1))}); err != nil {
		t.Error(err)
	}
}

func TestNormalFormAllowsWhatWasWritten(t *testing.T) {
	check(t, func(w written) bool { return maps.Equal(asWritten(w.set()).points(), w.points()) })
}

// TestWithinIsInclusion compares with the model; related pairs are made by adding to a set.
func TestWithinIsInclusion(t *testing.T) {
	within, beyond := 0, 0
	check(t, func(a, b written) bool {
		wide := written{
			Write: slices.Concat(a.Write, b.Write), Read: slices.Concat(a.Read, b.Read),
			Network: slices.Concat(a.Network, b.Network), Env: slices.Concat(a.Env, b.Env),
			Live: a.Live || b.Live, Bypass: a.Bypass || b.Bypass, Control: "scoped", Projects: []string{"p", "q"},
		}
		for _, list := range []*[]string{&wide.Write, &wide.Read, &wide.Network, &wide.Env} {
			if slices.Contains(*list, "all") {
				*list = []string{"all"}
			}
		}
		for _, limit := range []written{b, wide} {
			_, got := a.set().Within(limit.set())
			want := subset(a.points(), limit.points())
			if want {
				within++
			} else {
				beyond++
			}
			if got != want {
				t.Logf("%+v\nwithin %+v\n= %v, want %v", a, limit, got, want)
				return false
			}
		}
		return true
	})
	if within < 100 || beyond < 100 {
		t.Errorf("%d pairs within, %d beyond: the generator proves one side only", within, beyond)
	}
}

func TestMeetIsIntersection(t *testing.T) {
	check(t, func(a, b written) bool {
		both, other := a.points(), b.points()
		maps.DeleteFunc(both, func(p string, _ bool) bool { return !other[p] })
		return maps.Equal(asWritten(capability.Meet(a.set(), b.set())).points(), both)
	})
}

func TestSetsAreALattice(t *testing.T) {
	within := func(a, b capability.Set) bool { _, ok := a.Within(b); return ok }
	var zero capability.Set
	t.Run("within is reflexive, and antisymmetric", func(t *testing.T) {
		check(t, func(a, b written) bool {
			x, y := a.set(), b.set()
			same := within(x, y) && within(y, x)
			return within(x, x) && same == maps.Equal(a.points(), b.points()) && same == x.Equal(y)
		})
	})
	t.Run("two ways to write the same are one set", func(t *testing.T) {
		check(t, func(a written) bool {
			b := a
			for _, list := range []*[]string{&b.Write, &b.Read} {
				if !slices.Contains(*list, "all") {
					for _, entry := range *list {
						*list = append([]string{entry + "/below", entry + "//."}, *list...)
					}
				}
			}
			if !slices.Contains(b.Network, "all") {
				for _, entry := range b.Network {
					if below, ok := strings.CutPrefix(entry, "*"); ok {
						b.Network = append([]string{"X.y" + below, "*.x" + below, entry}, b.Network...)
					}
				}
			}
			x, y := a.set(), b.set()
			return within(x, y) && within(y, x) && reflect.DeepEqual(x, y)
		})
	})
	t.Run("within is transitive", func(t *testing.T) {
		check(t, func(a, b, c written) bool {
			x := a.set()
			y, z := capability.Meet(x, b.set()), capability.Meet(x, capability.Meet(b.set(), c.set()))
			return within(z, y) && within(y, x) && within(z, x)
		})
	})
	t.Run("meet is the greatest lower bound", func(t *testing.T) {
		check(t, func(a, b, c written) bool {
			x, y, z := a.set(), b.set(), c.set()
			meet, low := capability.Meet(x, y), capability.Meet(capability.Meet(x, z), y)
			greatest := !(within(z, x) && within(z, y)) || within(z, meet)
			return within(meet, x) && within(meet, y) && within(low, meet) && greatest
		})
	})
	t.Run("meet is commutative, associative and idempotent", func(t *testing.T) {
		check(t, func(a, b, c written) bool {
			x, y, z, meet := a.set(), b.set(), c.set(), capability.Meet
			return reflect.DeepEqual(meet(x, y), meet(y, x)) && meet(x, x).Equal(x) &&
				reflect.DeepEqual(meet(meet(x, y), z), meet(x, meet(y, z)))
		})
	})
	t.Run("zero is the bottom and unbounded the top", func(t *testing.T) {
		check(t, func(a written) bool {
			x := a.set()
			return within(zero, x) && within(x, capability.Unbounded()) && reflect.DeepEqual(capability.Meet(x, zero), zero) &&
				capability.Meet(capability.Unbounded(), x).Equal(x)
		})
		if within(capability.Unbounded(), zero) {
			t.Error("unbounded is within nothing")
		}
	})
}

// TestEveryFieldIsInEveryTable widens one field at a time: each table has to notice.
func TestEveryFieldIsInEveryTable(t *testing.T) {
	var zero capability.Set
	top := capability.Unbounded()
	words := zero.Words()
	for i := range reflect.TypeFor[capability.Set]().NumField() {
		field := reflect.TypeFor[capability.Set]().Field(i).Name
		var wide capability.Set
		reflect.ValueOf(&wide).Elem().Field(i).Set(reflect.ValueOf(top).Field(i))
		missing := func(bad bool, table string) {
			if bad {
				t.Errorf("field %s of Set is not in %s: please add it", field, table)
			}
		}

		missing(reflect.DeepEqual(wide, zero), "Unbounded (the axes table)")
		excess, ok := wide.Within(zero)
		missing(ok, "Within")
		missing(!ok && !strings.EqualFold(string(excess.Axis), field), "Axis under its own name")
		missing(strings.HasPrefix(excess.Error(), string(excess.Axis)+" would gain") && excess.Axis != "", "Axis.clause")
		missing(!reflect.DeepEqual(capability.Meet(wide, zero), zero), "Meet")
		missing(reflect.DeepEqual(wide.Words(), words), "Words")
		data, err := json.Marshal(wide)
		var back capability.Set
		missing(err != nil || json.Unmarshal(data, &back) != nil || !reflect.DeepEqual(back, wide), "JSON")

		lacking := all
		flag := reflect.ValueOf(&lacking).Elem().FieldByName(field)
		if !flag.IsValid() {
			t.Errorf("field %s of Set has no field in Support: please add it", field)
			continue
		}
		flag.SetBool(false)
		got, err := capability.Effective(capability.Declared{Mode: capability.Enforce}, lacking)
		_, widened := wide.Within(got)
		missing(err != nil || !widened, "Effective")
		held, err := capability.Effective(capability.Declared{Mode: capability.Enforce}, all)
		missing(err != nil || !held.Equal(zero), "Support: it is widened though it is enforced")
	}
	if fields := reflect.TypeFor[capability.Set]().NumField(); fields != reflect.TypeFor[capability.Support]().NumField() || fields != len(words) {
		t.Errorf("Set has %d fields, Support %d, Words %d sentences", fields, reflect.TypeFor[capability.Support]().NumField(), len(words))
	}
}

func TestExcess(t *testing.T) {
	hosts := func(entries ...string) capability.Set {
		return capability.Set{Network: must(capability.HostsOf(entries...))}
	}
	paths := must(capability.PathsOf("/srv/x"))
	many := make([]string, 9)
	for i := range many {
		many[i] = "h" + strconv.Itoa(i) + ".example.com"
	}
	tests := []struct {
		name     string
		s, limit capability.Set
		want     string // "" if within
	}{
		{"a host that the limit lacks", hosts("*.example.org"), hosts("secret.example.com"), `hosts would gain "*.example.org:443"`},
		{"only the hosts that are lacking", hosts("a.example.com", "b.example.org"), hosts("*.example.com"), `hosts would gain "b.example.org:443"`},
		{"hosts that the limit has", hosts("a.example.com"), hosts("*.example.com"), ""},
		{"as many hosts as are worth naming", hosts(many[:4]...), hosts(),
			`hosts would gain "h0.example.com:443", "h1.example.com:443", "h2.example.com:443", "h3.example.com:443"`},
		{"one host more", hosts(many[:5]...), hosts(),
			`hosts would gain "h0.example.com:443", "h1.example.com:443", "h2.example.com:443", "h3.example.com:443" and 1 more`},
		{"more hosts than are worth naming", hosts(many...), hosts(),
			`hosts would gain "h0.example.com:443", "h1.example.com:443", "h2.example.com:443", "h3.example.com:443" and 5 more`},
		{"every host", capability.Set{Network: capability.AllHosts()}, hosts("*.example.com"), "hosts would gain everything"},
		{"the first axis of two", capability.Set{Write: paths, Network: capability.AllHosts()}, hosts(), `writable paths would gain "/srv/x"`},
		{"reading where the limit writes", capability.Set{Read: paths}, capability.Set{Write: paths}, ""},
		{"reading above where the limit writes", capability.Set{Read: must(capability.PathsOf("/srv"))}, capability.Set{Write: paths}, `readable paths would gain "/srv"`},
		{"writing where the limit reads", capability.Set{Write: paths}, capability.Set{Read: paths}, `writable paths would gain "/srv/x"`},
		{"the live checkout", capability.Set{Checkout: capability.LiveCheckout}, hosts(), "checkout would become the project's live one"},
		{"control where there is none", capability.Set{Control: must(capability.ScopedControl())}, hosts(), "control plane would gain scoped control"},
		{"a project that is not listed", capability.Set{Control: must(capability.ScopedControl("a", "c"))},
			capability.Set{Control: must(capability.ScopedControl("a", "b"))}, `control plane would gain project "c"`},
		{"full control", capability.Set{Control: capability.FullControl()}, capability.Set{Control: must(capability.ScopedControl("a"))}, "control plane would gain full control"},
		{"a variable in another case", capability.Set{Env: must(capability.NamesOf("token"))}, capability.Set{Env: must(capability.NamesOf("TOKEN"))}, `environment would gain "token"`},
		{"permission bypass", capability.Set{Bypass: true}, hosts(), "agent would gain permission bypass"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			excess, ok := tt.s.Within(tt.limit)
			if ok != (tt.want == "") {
				t.Fatalf("within = %v", ok)
			}
			if !ok && excess.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", excess, tt.want)
			}
		})
	}
}

// TestExcessKeepsTheLimitToItself: a caller learns nothing of a limit but that it lacks what was asked for.
func TestExcessKeepsTheLimitToItself(t *testing.T) {
	told := 0
	check(t, func(a, b written) bool {
		excess, ok := a.set().Within(b.set())
		if ok {
			return true
		}
		own, limit := asWritten(a.set()), asWritten(b.set())
		asked := slices.Concat(own.Write, own.Read, own.Network, own.Env, own.Projects)
		for _, item := range slices.Concat(limit.Write, limit.Read, limit.Network, limit.Env, limit.Projects) {
			if !slices.Contains(asked, item) && strings.Contains(excess.Error(), strconv.Quote(item)) {
				return false
			}
		}
		told++
		return true
	})
	if told == 0 {
		t.Error("no pair exceeded")
	}
}

func TestWords(t *testing.T) {
	scoped := capability.Set{
		Write:   must(capability.PathsOf("/b", "/a/")),
		Network: must(capability.HostsOf("*.Example.com")),
		Control: must(capability.ScopedControl("web")),
		Env:     must(capability.NamesOf("LANG")),
	}
	tests := []struct {
		name string
		set  capability.Set
		want []string
	}{
		{"nothing", capability.Set{}, []string{
			"Writes no files beyond its own checkout.", "Reads no files beyond what every cage has.", "Reaches no host.",
			"Works in a checkout of its own.", "Drives no tasks.", "Is passed no variables of the environment.", "Its agent asks before it acts.",
		}},
		{"control of no project", capability.Set{Control: must(capability.ScopedControl())}, []string{
			"Writes no files beyond its own checkout.", "Reads no files beyond what every cage has.", "Reaches no host.",
			"Works in a checkout of its own.", "Drives tasks of no project.", "Is passed no variables of the environment.", "Its agent asks before it acts.",
		}},
		{"some", scoped, []string{
			`Also writes "/a", "/b".`, "Reads no files beyond what it writes and what every cage has.", `Reaches "*.example.com:443".`,
			"Works in a checkout of its own.", `Drives tasks that it made in the projects "web".`, `Is passed the variables "LANG".`, "Its agent asks before it acts.",
		}},
		{"everything", capability.Unbounded(), []string{
			"Writes every file.", "Reads every file.", "Reaches every host.",
			"Works in the project's live checkout.", "Drives every task of every project.", "Is passed the whole environment.", "Its agent acts without asking.",
		}},
	}
	for _, tt := range tests {
		if got := tt.set.Words(); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}
