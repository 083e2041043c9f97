package capability_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"termic/sandbox/capability"
)

// TestJSONForms pins the text that is stored.
func TestJSONForms(t *testing.T) {
	tests := []struct {
		name string
		set  capability.Set
		want string
	}{
		{"nothing", capability.Set{}, `{"write":[],"read":[],"network":[],"checkout":"own","control":"none","env":[],"bypass":false}`},
		{"everything", capability.Unbounded(), `{"write":"all","read":"all","network":"all","checkout":"live","control":"full","env":"all","bypass":true}`},
		{"lists", capability.Set{
			Write:   must(capability.PathsOf("/b/", "/a/x", "/a")),
			Network: must(capability.HostsOf("b.Example.com:8443", "a.example.com", "*.example.com.")),
			Control: must(capability.ScopedControl("web", "api", "web")),
			Env:     must(capability.NamesOf("LANG")),
		}, `{"write":["/a","/b"],"read":[],"network":["*.example.com:443","b.example.com:8443"],"checkout":"own",` +
			`"control":{"scoped":["api","web"]},"env":["LANG"],"bypass":false}`},
		{"scoped to no project", capability.Set{Control: must(capability.ScopedControl())},
			`{"write":[],"read":[],"network":[],"checkout":"own","control":{"scoped":[]},"env":[],"bypass":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := json.Marshal(tt.set)
			if err != nil || string(data) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", data, err, tt.want)
			}
			back := capability.Unbounded()
			if err := json.Unmarshal([]byte(tt.want), &back); err != nil || !reflect.DeepEqual(back, tt.set) {
				t.Errorf("read back as %q, %v", back.Words(), err)
			}
		})
	}
	data, err := json.Marshal(capability.Declared{Mode: capability.EnforceFS})
	if want := `{"mode":"enforce-fs","set":` + tests[0].want + `}`; err != nil || string(data) != want {
		t.Errorf("declared: %s, %v", data, err)
	}
	var back capability.Declared
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, capability.Declared{Mode: capability.EnforceFS}) {
		t.Errorf("declared, read back: %v, %v", back.Mode, err)
	}
	if _, err := json.Marshal(capability.Declared{}); err == nil {
		t.Error("a declaration without a mode is stored")
	}
}

func TestJSONRoundTrip(t *testing.T) {
	check(t, func(w written) bool {
		set := w.set()
		data, err := json.Marshal(set)
		var back capability.Set
		return err == nil && json.Unmarshal(data, &back) == nil && reflect.DeepEqual(back, set)
	})
}

func TestJSONThatIsNoSet(t *testing.T) {
	tests := []struct{ name, bad, good string }{
		{"null", `null`, `{}`},
		{"an array", `[]`, `{}`},
		{"an unknown axis", `{"devices":[]}`, `{"env":[]}`},
		{"a null list", `{"write":null}`, `{"write":[]}`},
		{"a null entry", `{"write":[null]}`, `{"write":["/a"]}`},
		{"another word than all", `{"network":"none"}`, `{"network":"all"}`},
		{"all as an entry of paths", `{"write":["all"]}`, `{"write":"all"}`},
		{"an entry that is none", `{"network":["127.0.0.1"]}`, `{"network":["a.test"]}`},
		{"a number", `{"env":[1]}`, `{"env":["A"]}`},
		{"an object for a list", `{"read":{}}`, `{"read":[]}`},
		{"a checkout of neither kind", `{"checkout":"shared"}`, `{"checkout":"live"}`},
		{"null control", `{"control":null}`, `{"control":"none"}`},
		{"scoped control as a word", `{"control":"scoped"}`, `{"control":{"scoped":[]}}`},
		{"scoped control of nobody knows what", `{"control":{"scoped":null}}`, `{"control":{"scoped":["a"]}}`},
		{"control with another key", `{"control":{"scoped":[],"full":true}}`, `{"control":"full"}`},
		{"a project that is none", `{"control":{"scoped":[""]}}`, `{"control":{"scoped":["a"]}}`},
		{"a word for bypass", `{"bypass":"yes"}`, `{"bypass":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := capability.Set{Bypass: true}
			if set := before; json.Unmarshal([]byte(tt.bad), &set) == nil || !set.Equal(before) {
				t.Errorf("%s is read as %q", tt.bad, set.Words())
			}
			var set capability.Set
			if err := json.Unmarshal([]byte(tt.good), &set); err != nil {
				t.Errorf("twin %s: %v", tt.good, err)
			}
		})
	}
	for _, mode := range []string{`"none"`, `""`, `1`} {
		var d capability.Declared
		if err := json.Unmarshal([]byte(`{"mode":`+mode+`}`), &d); err == nil {
			t.Errorf("mode %s is read as %v", mode, d.Mode)
		}
	}
	var d capability.Declared
	if err := json.Unmarshal([]byte(`{"set":{}}`), &d); err != nil || d.Check() != capability.ErrNoMode {
		t.Errorf("a declaration without a mode passes: %v, %v", err, d.Check())
	}
}

// FuzzSetJSON: what is read is written in a form that reads back as the same set.
func FuzzSetJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"write":["/a","/a/b"],"network":["*.a.test:1"]}`, `{"control":{"scoped":["p"]},"env":"all"}`, `{"bypass":true,"checkout":"live"}`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var set, back capability.Set
		if set.UnmarshalJSON(data) != nil {
			return
		}
		text, err := json.Marshal(set)
		if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(back, set) || !back.Equal(set) {
			t.Fatalf("%s → %s → %q, %v", data, text, back.Words(), err)
		}
		if _, ok := set.Within(capability.Unbounded()); !ok {
			t.Fatalf("%s is beyond everything", text)
		}
	})
}
