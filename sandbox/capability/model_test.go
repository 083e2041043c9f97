package capability_test

import (
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"

	"termic/sandbox/capability"
)

// all supports every axis.
var all = capability.Support{Write: true, Read: true, Network: true, Checkout: true, Control: true, Env: true, Bypass: true}

// must returns the list of entries that the test knows to be well formed.
func must[T any](list T, err error) T {
	if err != nil {
		panic(err)
	}
	return list
}

// written is a Set as somebody wrote it, before it is normalised. One entry "all" in a list is everything.
type written struct {
	Write, Read, Network, Env []string
	Live, Bypass              bool
	Control                   string // none, scoped, full
	Projects                  []string
}

// Generate draws from few words, so that sets cover, touch and miss each other often.
func (written) Generate(r *rand.Rand, _ int) reflect.Value {
	w := written{
		Write: draw(r, randomPath), Read: draw(r, randomPath), Network: draw(r, randomHost),
		Env:  draw(r, func(r *rand.Rand) string { return pick(r, "A", "B", "C") }),
		Live: r.Intn(3) == 0, Bypass: r.Intn(2) == 0,
		Control: pick(r, "none", "scoped", "scoped", "full"),
	}
	if w.Control == "scoped" {
		w.Projects = draw(r, func(r *rand.Rand) string { return pick(r, "p", "q") })
		w.Projects = slices.DeleteFunc(w.Projects, func(p string) bool { return p == "all" })
	}
	return reflect.ValueOf(w)
}

func pick(r *rand.Rand, from ...string) string { return from[r.Intn(len(from))] }

func draw(r *rand.Rand, entry func(*rand.Rand) string) []string {
	if r.Intn(8) == 0 {
		return []string{"all"}
	}
	list := make([]string, r.Intn(5))
	for i := range list {
		list[i] = entry(r)
	}
	return list
}

var (
	segments = []string{"a", "b", "ab", "a-b"} // "-" sorts before "/"
	labels   = []string{"a", "b"}
	unnamed  = "zz" // a label that no pattern holds
)

func randomPath(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.Intn(3) {
		b.WriteString(pick(r, "/", "/", "//", "/./") + pick(r, segments...))
	}
	return b.String() + pick(r, "", "", "/")
}

func randomHost(r *rand.Rand) string {
	name := pick(r, "c", "C")
	for range r.Intn(4) {
		name = pick(r, labels...) + "." + name
	}
	return pick(r, "", "*.") + name + pick(r, "", ".") + pick(r, "", ":443", ":8443")
}

func (w written) set() capability.Set {
	var s capability.Set
	lists := func(entries []string) (capability.Paths, bool) {
		if slices.Equal(entries, []string{"all"}) {
			return capability.AllPaths(), true
		}
		return capability.Paths{}, false
	}
	var ok bool
	if s.Write, ok = lists(w.Write); !ok {
		s.Write = must(capability.PathsOf(w.Write...))
	}
	if s.Read, ok = lists(w.Read); !ok {
		s.Read = must(capability.PathsOf(w.Read...))
	}
	if s.Network = capability.AllHosts(); !slices.Equal(w.Network, []string{"all"}) {
		s.Network = must(capability.HostsOf(w.Network...))
	}
	if s.Env = capability.AllNames(); !slices.Equal(w.Env, []string{"all"}) {
		s.Env = must(capability.NamesOf(w.Env...))
	}
	s.Checkout, s.Bypass = capability.Checkout(w.Live), capability.Bypass(w.Bypass)
	switch w.Control {
	case "scoped":
		s.Control = must(capability.ScopedControl(w.Projects...))
	case "full":
		s.Control = capability.FullControl()
	}
	return s
}

// points is what a set allows, one by one, in a small world: a model of coverage that shares nothing with
// the package. Every list of the world has one point that only everything covers.
func (w written) points() map[string]bool {
	points := map[string]bool{}
	fill := func(axis string, entries, world []string, covers func(entry string) func(point string) bool) {
		tests := []func(string) bool{func(string) bool { return true }}
		if !slices.Equal(entries, []string{"all"}) {
			tests = tests[:0]
			for _, e := range entries {
				tests = append(tests, covers(e))
			}
		}
		for _, p := range slices.Concat(world, []string{"unheard-of"}) {
			if slices.ContainsFunc(tests, func(covers func(string) bool) bool { return covers(p) }) {
				points[axis+" "+p] = true
			}
		}
	}
	fill("write", w.Write, worldPaths, pathCovers)
	readable := slices.Concat(w.Read, w.Write) // every cage lets a path be read that may be written
	if slices.Contains(readable, "all") {
		readable = []string{"all"}
	}
	fill("read", readable, worldPaths, pathCovers)
	fill("network", w.Network, worldHosts, hostCovers)
	same := func(entry string) func(string) bool { return func(point string) bool { return entry == point } }
	fill("env", w.Env, []string{"A", "B", "C"}, same)
	projects := w.Projects
	if w.Control == "full" {
		projects = []string{"all"}
	}
	fill("control", projects, []string{"p", "q"}, same)
	points["control"] = w.Control != "none"
	points["checkout"], points["bypass"] = w.Live, w.Bypass
	maps.DeleteFunc(points, func(_ string, in bool) bool { return !in })
	return points
}

var worldPaths = func() []string {
	var world []string
	for _, a := range segments {
		world = append(world, "/"+a)
		for _, b := range segments {
			world = append(world, "/"+a+"/"+b)
			for _, c := range segments {
				world = append(world, "/"+a+"/"+b+"/"+c)
			}
		}
	}
	return world
}()

func pathCovers(entry string) func(point string) bool {
	entry = strings.ReplaceAll(strings.ReplaceAll(entry, "/./", "/"), "//", "/")
	entry = strings.TrimSuffix(entry, "/") + "/"
	return func(point string) bool { return strings.HasPrefix(point+"/", entry) }
}

var worldHosts = func() []string {
	names, longest := []string{"c"}, []string{"c"}
	for range 4 {
		var longer []string
		for _, name := range longest {
			for _, label := range append(labels, unnamed) {
				longer = append(longer, label+"."+name)
			}
		}
		names, longest = append(names, longer...), longer
	}
	var world []string
	for _, name := range names {
		world = append(world, name+":443", name+":8443", name+":22")
	}
	return world
}()

func hostCovers(entry string) func(point string) bool {
	name, port, _ := strings.Cut(strings.ToLower(entry), ":")
	if port == "" {
		port = "443"
	}
	whole := strings.TrimSuffix(name, ".") + ":" + port
	below, wild := strings.CutPrefix(whole, "*")
	return func(point string) bool {
		return point == whole || wild && strings.HasSuffix(point, below)
	}
}

// asWritten reads a Set back through its accessors.
func asWritten(s capability.Set) written {
	or := func(everything bool, items []string) []string {
		if everything {
			return []string{"all"}
		}
		return items
	}
	return written{
		Write: or(s.Write.All(), s.Write.Items()), Read: or(s.Read.All(), s.Read.Items()),
		Network: or(s.Network.All(), s.Network.Items()), Env: or(s.Env.All(), s.Env.Items()),
		Live: bool(s.Checkout), Bypass: bool(s.Bypass),
		Control: s.Control.Level(), Projects: s.Control.Projects(),
	}
}
