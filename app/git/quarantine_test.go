package git

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is written into a quarantine is not in the project, and the project's objects can be read in it.
func TestQuarantineKeepsThingsOut(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	parent := h.path("q")
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, r.CommonDir)
	q, err := r.Quarantine(t.Context(), parent)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(q.Dir()) != parent {
		t.Errorf("it is at %s", q.Dir())
	}
	out, err := q.Run(t.Context(), Sealed{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: strings.NewReader("new\n")})
	if err != nil {
		t.Fatal(err)
	}
	oid := strings.TrimSpace(string(out))
	var got bytes.Buffer
	if _, err := q.Run(t.Context(), Sealed{Args: []string{"cat-file", "blob", oid}, Stdout: &got}); err != nil || got.String() != "new\n" {
		t.Errorf("%q, %v", &got, err)
	}
	if out, err := q.Run(t.Context(), Sealed{Args: []string{"cat-file", "-t", string(h.oid(r.Root, "HEAD"))}}); err != nil || string(out) != "commit\n" {
		t.Errorf("the project's commit: %q, %v", out, err)
	}
	if out, err := h.try(r.Root, "cat-file", "-e", oid); err == nil {
		t.Errorf("the project has it: %s", out)
	}
	same(t, "the project", before, snapshot(t, r.CommonDir))
	q.Remove()
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Nothing that the person or the project configured holds in it.
func TestQuarantineIsSealed(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	h.sh(r.Root, "config", "core.abbrev", "7")
	h.sh(r.Root, "config", "alias.x", "!echo ran")
	h.sh(r.Root, "config", "--global", "core.abbrev", "8")
	if got := h.sh(r.Root, "x"); got != "ran" {
		t.Fatalf("the alias does nothing: %s", got)
	}
	q, err := r.Quarantine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Remove()
	if out, err := q.Run(t.Context(), Sealed{Args: []string{"x"}}); err == nil {
		t.Errorf("an alias ran: %s", out)
	}
	if out, err := q.Run(t.Context(), Sealed{Args: []string{"config", "core.abbrev"}}); err == nil {
		t.Errorf("a setting holds: %s", out)
	}
}

func TestQuarantineBounds(t *testing.T) {
	h := newHome(t)
	r := h.repo("p")
	q, err := r.Quarantine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Remove()
	large := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	out, err := q.Run(t.Context(), Sealed{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: strings.NewReader(large)})
	if err != nil {
		t.Fatal(err)
	}
	oid := strings.TrimSpace(string(out))
	for what, c := range map[string]Sealed{
		"nothing":           {},
		"output":            {Limit: 1000},
		"memory for one":    {Bounds: Bounds{Object: 100_000}, Args: []string{"hash-object", "--stdin"}},
		"time":              {Timeout: time.Nanosecond},
		"enough of it all":  {Limit: 2 << 20, Timeout: time.Minute, Bounds: Bounds{Object: 8 << 20, Memory: 1 << 30, File: 8 << 20, CPU: time.Minute}},
		"output, to a file": {Limit: 1000, Stdout: &bytes.Buffer{}},
	} {
		if c.Args == nil {
			c.Args = []string{"cat-file", "blob", oid}
		} else {
			c.Stdin = strings.NewReader(large)
		}
		_, err := q.Run(t.Context(), c)
		if fails := what != "nothing" && what != "enough of it all"; fails != (err != nil) {
			t.Errorf("bounded by %s: %v", what, err)
		}
		if c.Limit == 1000 && !errors.Is(err, ErrTooLarge) || c.Timeout == time.Nanosecond && !errors.Is(err, ErrNoAnswer) {
			t.Errorf("bounded by %s: %v", what, err)
		}
	}
}

func TestQuarantineOfAShallowClone(t *testing.T) {
	h := newHome(t)
	origin := h.repo("origin")
	h.sh(origin.Root, "commit", "-q", "--allow-empty", "-m", "second")
	h.sh(h.dir, "clone", "-q", "--template=", "--depth=1", "file://"+origin.Root, h.path("shallow"))
	q, err := h.open(h.path("shallow")).Quarantine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Remove()
	if out, err := q.Run(t.Context(), Sealed{Args: []string{"rev-list", "--count", string(h.oid(origin.Root, "HEAD"))}}); err != nil || string(out) != "1\n" {
		t.Errorf("%q, %v", out, err)
	}
}
