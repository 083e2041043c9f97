package cagetest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"termic/sandbox/cagetest"
	"termic/sandbox/cagetest/probes"
	"termic/sandbox/capability"
	"termic/sandbox/launch"
)

func TestMain(m *testing.M) { cagetest.Main(m) }

// TestHostile runs every probe outside and in a cage of each mode, as root and as an ordinary user.
func TestHostile(t *testing.T) {
	if !cagetest.Inner() {
		cagetest.AgainAsUsers(t)
		return
	}
	m := cagetest.New(t)
	world := newWorld(t, m)
	outside := byID(runOutside(t, m, world))
	before := inventory(t, m) // the probes have done outside what is forbidden
	for _, mode := range []capability.Mode{capability.Enforce, capability.EnforceFS} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == capability.EnforceFS {
				requireScopes(t, m)
			}
			cage := m.Start(t, mode, capability.Set{Network: must(capability.HostsOf("example.com"))})
			judge(t, world, mode, outside, byID(runInside(t, m, world, cage)))
		})
	}
	if after := inventory(t, m); !slices.Equal(before, after) {
		for _, line := range slices.Concat(before, after) {
			if !slices.Contains(before, line) || !slices.Contains(after, line) {
				t.Errorf("changed: %s", line)
			}
		}
	}
}

func byID(results []probes.Result) map[string]probes.Result {
	all := map[string]probes.Result{}
	for _, r := range results {
		all[r.ID] = r
	}
	return all
}

// runOutside runs the probes on a terminal, as the cage does.
func runOutside(t *testing.T, m *cagetest.Machine, w *probes.World) []probes.Result {
	t.Helper()
	file := filepath.Join(m.Checkout, "results")
	cmd := exec.Command(filepath.Join(cagetest.Bin(t), "hostile"), "run", file)
	cmd.Dir, cmd.Env = m.Checkout, append(m.Env(), "TERMIC_WORLD="+w.Encode(), cagetest.MarkerVar+"=yes")
	master, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	said := drain(master)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, <-said)
	}
	return readResults(t, file)
}

func runInside(t *testing.T, m *cagetest.Machine, w *probes.World, cage *launch.Cage) []probes.Result {
	t.Helper()
	file := filepath.Join(m.Checkout, "results")
	p, err := cage.Spawn(t.Context(), launch.Command{Argv: []string{filepath.Join(cagetest.Bin(t), "hostile"), "run", file},
		Env: append(m.Env(), "TERMIC_WORLD="+w.Encode()), Dir: m.Checkout, Terminal: true, Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Master.Close()
	said := drain(p.Master)
	if exit := p.Wait(); exit.Code != 0 {
		t.Fatalf("%+v: %s", exit, <-said)
	}
	return readResults(t, file)
}

// drain reads a terminal until its end.
func drain(master *os.File) <-chan string {
	said := make(chan string, 1)
	go func() {
		var all strings.Builder
		_, _ = master.WriteTo(&all) // EIO is a terminal's end
		said <- all.String()
	}()
	return said
}

func readResults(t *testing.T, file string) []probes.Result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var results []probes.Result
	if err := json.Unmarshal(data, &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != len(probes.All()) {
		t.Fatalf("%d results of %d probes", len(results), len(probes.All()))
	}
	return results
}

// inventory describes everything on the machine but what the cage may write.
func inventory(t *testing.T, m *cagetest.Machine) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(m.Root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == m.Root+"/data/tasks/1/git" {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", data)
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
