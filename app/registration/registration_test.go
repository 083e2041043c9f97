package registration

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"termic/app/store"
	"termic/registry"
)

// tokens notes what it is asked to do.
type tokens struct {
	admitted, expelled []string
}

func (k *tokens) State() (url, why string) { return "http://127.0.0.1:4711/mcp", "" }
func (k *tokens) URL() string              { return "http://127.0.0.1:4711/mcp" }
func (k *tokens) Proof(string) string      { return "00" }
func (k *tokens) Expel(name string)        { k.expelled = append(k.expelled, name) }
func (k *tokens) Admit(name string, _ registry.Class) error {
	k.admitted = append(k.admitted, name)
	return nil
}

func newSet(t *testing.T) (*Set, *tokens, *store.Store) {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "d"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	set, err := Open(s, Options{Environ: []string{"HOME=" + t.TempDir()}, Program: "/opt/termic"})
	if err != nil {
		t.Fatal(err)
	}
	k := &tokens{}
	set.Use(k)
	return set, k, s
}

// I14: what takes power away needs no disk.
func TestATokenEndsAlsoWhenNothingCanBeSaved(t *testing.T) {
	set, k, s := newSet(t)
	if _, err := set.Add(context.Background(), Add{Name: "gemini", Ceiling: registry.Read}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Remove(context.Background(), Remove{Name: "gemini"}); err == nil {
		t.Error("removed although nothing can be saved")
	}
	if !slices.Contains(k.expelled, "gemini") {
		t.Error("its token lives on")
	}
}

func TestAClientThatCannotBeSavedGetsNoTokenAndNoEntry(t *testing.T) {
	set, k, s := newSet(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Add(context.Background(), Add{Name: "gemini", Ceiling: registry.Read}); err == nil {
		t.Error("added although nothing can be saved")
	}
	if status, err := set.Find("gemini"); err != nil || status.Registered || status.State != "none" || len(k.admitted) > 0 {
		t.Errorf("%+v, %v, admitted %v", status, err, k.admitted)
	}
}

func TestADryRunOfARemovalTakesNothingAway(t *testing.T) {
	set, k, _ := newSet(t)
	if _, err := set.Add(context.Background(), Add{Name: "gemini", Ceiling: registry.Read}); err != nil {
		t.Fatal(err)
	}
	change, err := set.Remove(context.Background(), Remove{Name: "gemini", DryRun: true})
	if err != nil || change.Diff == "" || len(k.expelled) > 0 {
		t.Errorf("%+v, %v, expelled %v", change, err, k.expelled)
	}
	change, err = set.Remove(context.Background(), Remove{Name: "gemini"})
	if err != nil || change.Diff == "" || !slices.Contains(k.expelled, "gemini") {
		t.Errorf("the twin: %+v, %v, expelled %v", change, err, k.expelled)
	}
}

func TestARegistrationThatIsRepeatedChangesNothingAndKeepsItsToken(t *testing.T) {
	set, k, _ := newSet(t)
	for range 2 {
		change, err := set.Add(context.Background(), Add{Name: "codex", Ceiling: registry.Write, Extra: true})
		if err != nil || change.Status.State != "current" {
			t.Fatalf("%+v, %v", change, err)
		}
	}
	if len(k.admitted) != 1 {
		t.Errorf("admitted %v", k.admitted)
	}
	if _, err := set.Add(context.Background(), Add{Name: "codex", Ceiling: registry.Read}); err != nil || len(k.admitted) != 2 {
		t.Errorf("another ceiling: %v, admitted %v", err, k.admitted)
	}
	// What was put in at first is remembered, so that it goes at the end.
	change, err := set.Remove(context.Background(), Remove{Name: "codex"})
	if err != nil || change.Status.State != "none" {
		t.Errorf("%+v, %v", change, err)
	}
}
