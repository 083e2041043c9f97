package seatbelt_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"termic/sandbox/capability"
	"termic/sandbox/profile"
	"termic/sandbox/seatbelt"
	evaluator "termic/sandbox/seatbelt/judge"
)

// hostile are names that could end a string, a line or a word.
var hostile = []string{"x", `a"b`, `a\`, `a\"`, `")(allow default)("`, "a)(allow default)", "a;b", "a#\"b", "ünï", "a\nb", "a\rb", "a\x00b", "..", ".", "", "\xff", "\xed\xa0\x80", " ", "'", "$(x)", "`x`", "-", "*", "a\u2028b", "a/b"}

// FuzzPlaces: no place of a cage can end its string either. A policy with the name has the forms of one with a plain name, and the
// strings of that with the name in their place.
func FuzzPlaces(f *testing.F) {
	for i, name := range hostile {
		f.Add(name, uint8(i))
	}
	f.Fuzz(func(t *testing.T, name string, which uint8) {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") || strings.Contains(name, "placeholder") {
			t.Skip("another path, and not another name")
		}
		render := func(name string) (string, error) {
			p, at := compile(t, capability.Enforce, set(t, true, true)), places()
			places := []*string{&at.Home, &at.Temp, &at.Programs}
			n := int(which) % (len(places) + 1)
			if n == len(places) {
				p.Absent = append(slices.Clone(p.Absent), data+"/"+name)
			} else {
				*places[n] = data + "/" + name
			}
			return seatbelt.Render(p, at)
		}
		text, err := render(name)
		if err != nil {
			return
		}
		want, err := render("placeholder")
		if err != nil {
			t.Fatal(err)
		}
		forms := func(text string) (words []string) {
			judge(t, text)
			tokens, err := evaluator.Tokens(text)
			if err != nil {
				t.Fatal(err)
			}
			return tokens
		}
		got, plain := forms(text), forms(want)
		for i, token := range plain {
			plain[i] = strings.ReplaceAll(token, "placeholder", name)
		}
		slices.Sort(got) // names are sorted, so their order is another
		slices.Sort(plain)
		if !slices.Equal(got, plain) {
			t.Errorf("%q makes\n%s", name, text)
		}
	})
}

// FuzzGit: whatever a checkout is called, the program git takes it for that, and runs nothing of it.
func FuzzGit(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		where := path.Clean("/nonexistent/" + name)
		text, err := seatbelt.Git(profile.Profile{Checkout: where}, seatbelt.Places{Programs: where}, "gitdir: "+where+"\n")
		if err != nil {
			return
		}
		line, rest, _ := strings.Cut(text[strings.Index(text, "checkout="):], "\nprivate=")
		if !strings.HasPrefix(rest, strings.TrimPrefix(line, "checkout=")+"\nprograms=") {
			t.Fatalf("%q makes\n%.300s", where, text)
		}
		out, err := exec.Command("/bin/sh", "-c", line+"\n"+`printf %s "$checkout"`).CombinedOutput()
		if err != nil || string(out) != where {
			t.Errorf("%q is %q to sh: %v", where, out, err)
		}
	})
}

// FuzzArgv: what is started is what was asked for, word by word, or nothing.
func FuzzArgv(f *testing.F) {
	for _, name := range hostile {
		f.Add("(version 1)", name, name)
	}
	f.Fuzz(func(t *testing.T, policy, a, b string) {
		got, err := seatbelt.Argv(policy, []string{a, b}, []string{b})
		bad := policy == "" || a == "" || strings.Contains(policy+a+b, "\x00")
		if bad != (err != nil) && len(policy)+len(a)+len(b) < 1<<19 {
			t.Fatalf("%q, %v", got, err)
		}
		if err == nil && !slices.Equal(got, []string{seatbelt.Program, "-p", policy, "--", a, b}) {
			t.Errorf("%q", got)
		}
	})
}
