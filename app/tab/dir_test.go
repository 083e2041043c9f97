package tab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryCountsOnlyBelowTheCheckout(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, report, want string }{
		{"the checkout", "file:///w/fix", "."},
		{"a directory in it", "file://localhost/w/fix/src/a", "src/a"},
		{"with this machine's name", "file://" + host + "/w/fix/src", "src"},
		{"with blanks and letters", "file:///w/fix/a%20b/%C3%BC", "a b/ü"},
		{"one whose name begins alike", "file:///w/fixed", ""},
		{"the directory above", "file:///w", ""},
		{"out of it again", "file:///w/fix/../other", ""},
		{"in it after all", "file:///w/fix/../fix/src", "src"},
		{"a name that begins with dots", "file:///w/fix/..src", "..src"},
		{"out by an escape", "file:///w/fix/%2e%2e/other", ""},
		{"somewhere else", "file:///etc", ""},
		{"another machine", "file://elsewhere.example/w/fix/src", ""},
		{"no file", "http:///w/fix/src", ""},
		{"relative", "file:src", ""},
		{"with a control character", "file:///w/fix/a%0ab", ""},
		{"with a user", "file://me@localhost/w/fix", ""},
		{"with a query", "file:///w/fix?x", ""},
		{"too long to be shown", "file:///w/fix/" + strings.Repeat("a", maxDir+1), ""},
		{"as long as can be shown", "file:///w/fix/" + strings.Repeat("a", maxDir), strings.Repeat("a", maxDir)},
		{"nothing", "", ""},
	} {
		if got := below("/w/fix", c.report); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzBelow(f *testing.F) {
	f.Add("file:///w/fix/%2e%2e/a")
	f.Add("file:///w/fix//a/./b/../../../x")
	f.Fuzz(func(t *testing.T, report string) {
		got := below("/w/fix", report)
		if path := filepath.Join("/w/fix", got); got != "" && path != "/w/fix" && !strings.HasPrefix(path, "/w/fix/") || strings.ContainsAny(got, "\x00\n\x1b") {
			t.Errorf("%q became %q", report, got)
		}
	})
}

func TestWhereATabIsFollowsItsReports(t *testing.T) {
	tab := shell(t)
	for _, c := range []struct{ name, report, want string }{
		{"a directory of the checkout", `\033]7;file://$PWD/sub\a`, "sub"},
		{"one outside", `\033]7;file:///etc\a`, ""},
		{"the checkout", `\033]7;file://localhost$PWD\033\\`, "."},
	} {
		wait(t, tab, map[bool]Outcome{true: Idle, false: Done}[c.want == "sub"])
		send(t, tab, `printf "`+c.report+`"; echo reported-$((40+2))`)
		see(t, tab, "reported-42")
		wait(t, tab, Done)
		if got := tab.Info().Dir; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
