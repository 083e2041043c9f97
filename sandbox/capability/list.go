package capability

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Paths is a list of directories and files, or every path. An entry covers itself and all below it.
type Paths = List[path]

// Hosts is a list of host patterns, or every host. See HostsOf for what a pattern covers.
type Hosts = List[host]

// Names is a list of names of environment variables, or every name.
type Names = List[variable]

// PathsOf returns the list of the given absolute paths, cleaned.
//
// The caller has resolved symbolic links. An entry with a ".." element is therefore an error: cleaning it
// by its text could name another directory than the kernel would open. So is "/", since everything is
// asked for by name (AllPaths). Paths are compared byte by byte; on a file system that ignores case this
// can only find less covered than is.
func PathsOf(entries ...string) (Paths, error) { return listOf[path](entries) }

// AllPaths is every path.
func AllPaths() Paths { return Paths{all: true} }

// HostsOf returns the list of the given host patterns.
//
// A pattern is `name`, `name:port`, `*.name` or `*.name:port`. The wildcard covers every name below, at any
// depth, and not the name itself. A pattern covers one port, and 443 if it names none: the egress proxy
// tunnels TLS only, and a list that meant every port would open whatever else a host serves (SSH, SMTP).
// There is no pattern for all ports.
//
// Letter case and one trailing dot do not matter. Addresses are an error, also in forms that some
// resolvers read as one (last label begins with a digit): the proxy dials none, so a list must not promise
// one. So are names outside ASCII: a pattern holds what the proxy sees in CONNECT and in the TLS server
// name, which is the "xn--" form, and mapping to it needs Unicode tables that both ends would have to share.
func HostsOf(entries ...string) (Hosts, error) { return listOf[host](entries) }

// AllHosts is every host, name or address, on every port.
func AllHosts() Hosts { return Hosts{all: true} }

// NamesOf returns the list of the given variable names: ASCII letters, digits and "_", no digit first.
// Case matters. Other names (bash's exported functions) are an error: programs execute what is in them.
func NamesOf(entries ...string) (Names, error) { return listOf[variable](entries) }

// AllNames is every environment variable.
func AllNames() Names { return Names{all: true} }

// kind is how the entries of a list are written and what covers what. Entries form a forest: wider returns
// the next entry that covers this one, if there is one. So two entries are nested or have nothing in
// common, and no number of narrower entries together covers a wider one.
type kind interface {
	normalise(entry string) (string, error)
	wider(entry string) (string, bool)
}

// List is a list of entries of one kind, or everything. The zero List is nothing. A List is never changed
// once made; it is always sorted, without duplicates and without entries that another one covers.
type List[K kind] struct {
	all   bool
	items []string // nil if empty
}

// listOf returns the normal form of entries, or an *InvalidError for the first that is not of the kind.
func listOf[K kind](entries []string) (List[K], error) {
	var k K
	items := make([]string, 0, len(entries))
	for _, entry := range entries {
		item, err := k.normalise(entry)
		if err != nil {
			return List[K]{}, err
		}
		items = append(items, item)
	}
	return antichain[K](items), nil
}

// antichain makes a List of entries that are normalised but may repeat or cover each other.
func antichain[K kind](items []string) List[K] {
	slices.Sort(items)
	whole := List[K]{items: slices.Compact(items)}
	var kept []string
	for _, item := range whole.items {
		var k K
		if next, ok := k.wider(item); !ok || !whole.holds(next) {
			kept = append(kept, item)
		}
	}
	return List[K]{items: kept}
}

// All reports whether the list is everything.
func (l List[K]) All() bool { return l.all }

// Items returns the entries in normal form, sorted; none if the list is everything.
func (l List[K]) Items() []string { return slices.Clone(l.items) }

// Covers reports whether the list allows what the entry does. An entry that is not of the kind is covered
// by everything only.
func (l List[K]) Covers(entry string) bool {
	var k K
	item, err := k.normalise(entry)
	return l.all || err == nil && l.holds(item)
}

// holds reports whether item, which is normalised, or an entry that covers it is in the list.
func (l List[K]) holds(item string) bool {
	if l.all {
		return true
	}
	var k K
	for next, ok := item, true; ok; next, ok = k.wider(next) {
		if _, found := slices.BinarySearch(l.items, next); found {
			return true
		}
	}
	return false
}

func (l List[K]) gains(limit List[K]) []string {
	if l.all && !limit.all {
		return []string{"everything"}
	}
	var gains []string
	for _, item := range l.items {
		if !limit.holds(item) {
			gains = append(gains, quote(item))
		}
	}
	return gains
}

func (l List[K]) meet(other List[K]) List[K] {
	if l.all && other.all {
		return l
	}
	var both []string
	for _, item := range l.items {
		if other.holds(item) {
			both = append(both, item)
		}
	}
	for _, item := range other.items {
		if l.holds(item) {
			both = append(both, item)
		}
	}
	return antichain[K](both)
}

// join returns the list of what l or other covers.
func (l List[K]) join(other List[K]) List[K] {
	if l.all || other.all {
		return List[K]{all: true}
	}
	return antichain[K](slices.Concat(l.items, other.items))
}

// without returns the list without the entries that other covers.
func (l List[K]) without(other List[K]) List[K] {
	if l.all && !other.all {
		return l
	}
	var rest []string
	for _, item := range l.items {
		if !other.holds(item) {
			rest = append(rest, item)
		}
	}
	return List[K]{items: rest}
}

// MarshalJSON writes "all" or an array of the entries.
func (l List[K]) MarshalJSON() ([]byte, error) {
	if l.all {
		return []byte(`"all"`), nil
	}
	if l.items == nil {
		return []byte(`[]`), nil
	}
	return json.Marshal(l.items)
}

// UnmarshalJSON replaces l by what MarshalJSON wrote; entries need not be in normal form. Null is an error:
// it could be read as nothing and as everything.
func (l *List[K]) UnmarshalJSON(data []byte) error {
	if string(data) == `"all"` {
		*l = List[K]{all: true}
		return nil
	}
	if len(data) == 0 || data[0] != '[' {
		return fmt.Errorf(`capability list %s: want "all" or an array of strings`, quote(string(data)))
	}
	var entries []string
	if err := json.Unmarshal(data, &entries); err != nil {
		return err
	}
	list, err := listOf[K](entries)
	if err != nil {
		return err
	}
	*l = list
	return nil
}
